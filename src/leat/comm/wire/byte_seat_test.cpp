#include <leat/comm/wire/byte_seat.hpp>

#include <leat/comm/fabric.hpp>
#include <leat/comm/wire/comm_error.hpp>
#include <leat/core/activation.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::comm {
namespace {

using Words = std::vector<std::string>;

/// Workers of one process that exchange bytes, stepped by hand on one thread.
struct ByteWorld {
  explicit ByteWorld(std::size_t workers)
      : fabric(FabricOptions{.workers = workers, .zerocopy = true}), active(workers) {}

  Fabric::Ends<Words> channel(std::size_t worker, std::uint64_t id = 0) {
    return fabric.channel<Words>(fabric.seat(worker), id, {1, "a channel"},
                                 {active[worker], static_cast<std::uint32_t>(id)});
  }
  void surface(std::size_t worker) {
    Seat& seat = fabric.seat(worker);
    seat.ready().surface(
        [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
    seat.bytes()->surface();
  }
  bool takes_activation(std::size_t worker, std::uint32_t id = 0) {
    const bool is_active = active[worker].is_set(id);
    active[worker].clear(id);
    return is_active;
  }
  const ByteCounters& counters(std::size_t worker) {
    return fabric.seat(worker).bytes()->counters();
  }

  Fabric fabric;
  std::vector<core::ActivationSet> active;
};

void send_words(Sender<Words>& sender, std::size_t to, Words words) { sender.send(to, words); }
std::optional<Words> receive_words(Receiver<Words>& receiver) {
  Words words;
  if (!receiver.receive(words)) return std::nullopt;
  return words;
}

TEST(ByteSeat, CarriesMessagesBetweenWorkersInOrderAndActivatesTheReceiver) {
  ByteWorld world(2);
  auto from = world.channel(0);
  auto to = world.channel(1);
  send_words(from.sender, 1, {"one", "two"});
  send_words(from.sender, 1, {"three"});
  EXPECT_FALSE(world.takes_activation(1));
  world.surface(1);
  EXPECT_TRUE(world.takes_activation(1));
  EXPECT_TRUE(to.receiver.was_pending());
  EXPECT_EQ(receive_words(to.receiver), (Words{"one", "two"}));
  EXPECT_EQ(receive_words(to.receiver), Words{"three"});
  EXPECT_EQ(receive_words(to.receiver), std::nullopt);
  EXPECT_EQ(world.counters(0).encoded, 2U);
  EXPECT_EQ(world.counters(1).decoded, 2U);
  EXPECT_EQ(world.fabric.seat(0).counters().notices, 1U);  // one for the burst
}

TEST(ByteSeat, CarriesMessagesToItselfAsBytesToo) {
  ByteWorld world(2);
  auto ends = world.channel(0);
  send_words(ends.sender, 0, {"mine"});
  EXPECT_TRUE(world.takes_activation(0));
  std::size_t sender = 9;
  Words words;
  EXPECT_TRUE(ends.receiver.receive(words, sender));
  EXPECT_EQ(words, Words{"mine"});
  EXPECT_EQ(sender, 0U);
  EXPECT_EQ(world.counters(0).encoded, 1U);
  EXPECT_EQ(world.counters(0).frames_sent, 0U);
}

TEST(ByteSeat, EncodesAMessageToAllWorkersOnceHoweverManyTheyAre) {
  for (const std::size_t workers : {2U, 3U, 5U}) {
    ByteWorld world(workers);
    std::vector<Fabric::Ends<Words>> ends;
    for (std::size_t worker = 0; worker < workers; ++worker) ends.push_back(world.channel(worker));
    Words words{"to", "all"};
    ends[1].sender.send_to_all(words);
    EXPECT_TRUE(words.empty());
    EXPECT_EQ(world.counters(1).encoded, 1U);
    for (std::size_t worker = 0; worker < workers; ++worker) {
      world.surface(worker);
      EXPECT_EQ(receive_words(ends[worker].receiver), (Words{"to", "all"})) << worker;
      EXPECT_EQ(receive_words(ends[worker].receiver), std::nullopt) << worker;
    }
  }
}

TEST(ByteSeat, SendsTypedMessagesToAllWhereBytesAreNotAskedFor) {
  Fabric fabric(3);
  std::vector<Fabric::Ends<Words>> ends;
  for (std::size_t worker = 0; worker < 3; ++worker) {
    ends.push_back(fabric.channel<Words>(fabric.seat(worker), 0, {1, "a channel"}, {}));
  }
  Words words{"to", "all"};
  ends[2].sender.send_to_all(words);
  for (auto& each : ends) EXPECT_EQ(receive_words(each.receiver), (Words{"to", "all"}));
  EXPECT_EQ(fabric.seat(2).bytes(), nullptr);
}

TEST(ByteSeat, KeepsWhatComesBeforeItsChannelIsOpened) {
  ByteWorld world(2);
  auto first = world.channel(0, 0);
  auto second = world.channel(0, 1);
  send_words(second.sender, 1, {"early"});
  send_words(first.sender, 1, {"also early"});
  world.surface(1);
  auto late_first = world.channel(1, 0);
  EXPECT_TRUE(world.takes_activation(1, 0));
  EXPECT_EQ(receive_words(late_first.receiver), Words{"also early"});
  auto late_second = world.channel(1, 1);
  EXPECT_TRUE(world.takes_activation(1, 1));
  EXPECT_EQ(receive_words(late_second.receiver), Words{"early"});
}

TEST(ByteSeat, DropsWhatComesForAChannelThatIsClosedOrAWorkerThatLeft) {
  ByteWorld world(2);
  auto from = world.channel(0);
  {
    auto to = world.channel(1);
    send_words(from.sender, 1, {"dropped"});
  }
  world.surface(1);
  EXPECT_FALSE(world.takes_activation(1));
  world.fabric.seat(1).bytes()->leave();
  send_words(from.sender, 1, {"dropped"});
  EXPECT_EQ(world.fabric.seat(0).counters().notices, 1U);  // the first one's
}

TEST(ByteSeat, SendsAMessageLargerThanItsSlab) {
  ByteWorld world(2);
  auto from = world.channel(0);
  auto to = world.channel(1);
  const Words large{std::string(3'000'000, 'x'), "end"};
  send_words(from.sender, 1, large);
  send_words(from.sender, 1, {"small"});
  world.surface(1);
  EXPECT_EQ(receive_words(to.receiver), large);
  EXPECT_EQ(receive_words(to.receiver), Words{"small"});
}

TEST(ByteSeat, UsesItsMemoryAgainInASteadyStream) {
  ByteWorld world(2);
  auto from = world.channel(0);
  auto to = world.channel(1);
  for (int round = 0; round < 2000; ++round) {
    send_words(from.sender, 1, {std::string(500, 'y')});
    world.surface(1);
    ASSERT_TRUE(receive_words(to.receiver).has_value());
  }
  EXPECT_LE(world.fabric.seat(0).bytes()->slab().made(), 3U);
}

struct Uncodable {
  int* pointer = nullptr;
};

TEST(ByteSeat, RefusesMessagesThatHaveNoCodecWhenTheChannelIsMade) {
  ByteWorld world(2);
  try {
    static_cast<void>(
        world.fabric.channel<Uncodable>(world.fabric.seat(0), 0, {1, "a channel"}, {}));
    ADD_FAILURE() << "it was made";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("LEAT_FIELDS"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("Uncodable"), std::string::npos) << error.what();
  }
}

TEST(ByteSeat, SaysWhoseMessageDoesNotDecode) {
  const std::byte garbage[8] = {std::byte{200}};
  Words words;
  try {
    decode_message<Words>(garbage, 7, 12, words);
    ADD_FAILURE() << "it was decoded";
  } catch (const CommError& error) {
    const std::string_view what = error.what();
    EXPECT_TRUE(what.starts_with("leat communication error: a message of worker 7 on channel 12"))
        << what;
  }
}

}  // namespace
}  // namespace leat::comm
