#include <leat/comm/channel.hpp>

#include <leat/comm/fabric.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leat::comm {
namespace {

using Batch = std::vector<int>;

/// Workers that are stepped by hand, all on one thread.
struct World {
  explicit World(std::size_t workers) : fabric(workers), active(workers) {}

  template <class M>
  Fabric::Ends<M> channel(std::size_t worker, std::uint64_t id = 0) {
    return fabric.channel<M>(fabric.seat(worker), id, {1, "a channel"}, activation(worker));
  }
  core::Activation activation(std::size_t worker) { return {active[worker], 0}; }
  bool is_active(std::size_t worker) { return active[worker].is_set(0); }
  std::size_t surface(std::size_t worker) {
    return fabric.seat(worker).ready().surface(
        [](core::Doorbell& bell) { static_cast<core::Bell&>(bell).activate_listener(); });
  }
  const SeatCounters& counters(std::size_t worker) { return fabric.seat(worker).counters(); }

  Fabric fabric;
  std::vector<core::ActivationSet> active;
};

template <class M>
void send(Sender<M>& sender, std::size_t to, M message) {
  sender.send(to, message);
}
template <class M>
std::optional<M> receive(Receiver<M>& receiver) {
  M message{};
  if (!receiver.receive(message)) return std::nullopt;
  return message;
}
Batch receive_all(Receiver<Batch>& receiver) {
  Batch all;
  while (const auto batch = receive(receiver)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}

TEST(Channel, SaysWhichWorkerSentAMessageIfAsked) {
  World world(3);
  std::vector<Fabric::Ends<Batch>> ends;
  for (std::size_t worker = 0; worker < 3; ++worker) ends.push_back(world.channel<Batch>(worker));
  for (const std::size_t from : {2U, 0U, 1U}) {
    send(ends[from].sender, 1, Batch{static_cast<int>(from)});
    Batch message;
    std::size_t said = 7;
    ASSERT_TRUE(ends[1].receiver.receive(message, said));
    EXPECT_EQ(said, from);
    EXPECT_EQ(message, Batch{static_cast<int>(from)});
    EXPECT_FALSE(ends[1].receiver.receive(message, said));
  }
}

TEST(Channel, MessagesOfOneSenderArriveInOrder) {
  World world(2);
  auto [sender, unused] = world.channel<Batch>(0);
  auto [other, receiver] = world.channel<Batch>(1);
  Batch sent;
  for (int i = 0; i < 100; ++i) {
    send(sender, 1, Batch{i});
    sent.push_back(i);
  }
  EXPECT_EQ(receive_all(receiver), sent);
  EXPECT_FALSE(receive(receiver));
}

TEST(Channel, EachSendersMessagesArriveInItsOrder) {
  World world(3);
  auto first = world.channel<Batch>(0);
  auto second = world.channel<Batch>(1);
  auto third = world.channel<Batch>(2);
  for (int i = 0; i < 50; ++i) {
    send(first.sender, 2, Batch{i});
    send(second.sender, 2, Batch{1000 + i});
    send(third.sender, 2, Batch{2000 + i});
  }
  std::vector<int> next{0, 1000, 2000};
  for (const int got : receive_all(third.receiver)) {
    EXPECT_EQ(got, next[static_cast<std::size_t>(got / 1000)]++);
  }
  EXPECT_EQ(next, (std::vector<int>{50, 1050, 2050}));
}

TEST(Channel, OwnMessagesAreDrainedFirst) {
  World world(2);
  auto [sender, unused] = world.channel<Batch>(0);
  auto [own, receiver] = world.channel<Batch>(1);
  send(sender, 1, Batch{1});
  send(own, 1, Batch{2});
  send(own, 1, Batch{3});
  EXPECT_EQ(receive(receiver), Batch{2});
  EXPECT_EQ(receive(receiver), Batch{3});
  EXPECT_EQ(receive(receiver), Batch{1});
}

TEST(Channel, AMessageToOneselfTouchesNothingShared) {
  World world(2);
  auto [own, receiver] = world.channel<Batch>(0);
  auto [other, unused] = world.channel<Batch>(1);
  for (int i = 0; i < 10; ++i) send(own, 0, Batch{i});
  EXPECT_EQ(world.counters(0).notices, 0U);
  EXPECT_EQ(world.counters(0).wakes_sent, 0U);
  EXPECT_FALSE(world.fabric.seat(0).ready().has_ready());
  EXPECT_EQ(world.surface(0), 0U);
  EXPECT_EQ(world.fabric.seat(0).ready().taken(), 0U);
  EXPECT_EQ(receive_all(receiver).size(), 10U);
}

TEST(Channel, AMessageToOneselfActivatesTheReceiverAtOnce) {
  World world(2);
  auto [own, receiver] = world.channel<Batch>(0);
  EXPECT_FALSE(world.is_active(0));
  send(own, 0, Batch{1});
  EXPECT_TRUE(world.is_active(0));
}

TEST(Channel, ABurstIsOneNoticeAndActivatesTheReceiverWhenItSurfaces) {
  World world(2);
  auto [sender, unused] = world.channel<Batch>(0);
  auto [other, receiver] = world.channel<Batch>(1);
  for (int i = 0; i < 10; ++i) send(sender, 1, Batch{i});
  EXPECT_EQ(world.counters(0).notices, 1U);
  EXPECT_EQ(world.counters(0).wakes_sent, 0U);  // nobody sleeps
  EXPECT_FALSE(world.is_active(1));
  EXPECT_EQ(world.surface(1), 1U);
  EXPECT_TRUE(world.is_active(1));
  send(sender, 1, Batch{10});
  EXPECT_EQ(world.counters(0).notices, 2U);
  EXPECT_EQ(receive_all(receiver).size(), 11U);
}

TEST(Channel, SaysWhetherSomethingWaits) {
  World world(2);
  auto [sender, unused] = world.channel<Batch>(0);
  auto [own, receiver] = world.channel<Batch>(1);
  EXPECT_FALSE(receiver.was_pending());
  send(sender, 1, Batch{1});
  EXPECT_TRUE(receiver.was_pending());
  EXPECT_TRUE(receive(receiver));
  EXPECT_FALSE(receiver.was_pending());
  send(own, 1, Batch{2});
  EXPECT_TRUE(receiver.was_pending());
}

TEST(Channel, ChannelsDoNotMix) {
  World world(2);
  auto first = world.channel<Batch>(0, 1);
  auto second = world.channel<Batch>(0, 2);
  auto first_end = world.channel<Batch>(1, 1);
  auto second_end = world.channel<Batch>(1, 2);
  send(first.sender, 1, Batch{1});
  EXPECT_FALSE(receive(second_end.receiver));
  EXPECT_EQ(receive(first_end.receiver), Batch{1});
}

TEST(Channel, MessagesThatCanOnlyBeMovedArrive) {
  World world(2);
  auto [sender, unused] = world.channel<std::unique_ptr<int>>(0);
  auto [own, receiver] = world.channel<std::unique_ptr<int>>(1);
  send(sender, 1, std::make_unique<int>(1));
  send(own, 1, std::make_unique<int>(2));
  EXPECT_EQ(**receive(receiver), 2);
  EXPECT_EQ(**receive(receiver), 1);
}

TEST(Channel, AWorkerWithoutPeersTalksToItself) {
  World world(1);
  auto [sender, receiver] = world.channel<Batch>(0);
  EXPECT_EQ(sender.peers(), 1U);
  EXPECT_FALSE(receive(receiver));
  send(sender, 0, Batch{1});
  EXPECT_EQ(receive(receiver), Batch{1});
}

TEST(Channel, WhatIsSentToAReceiverThatIsNotBuiltYetWaitsForIt) {
  World world(2);
  auto [sender, unused] = world.channel<Batch>(0);
  send(sender, 1, Batch{1});
  EXPECT_EQ(world.surface(1), 1U);  // for nobody
  EXPECT_FALSE(world.is_active(1));
  auto [other, receiver] = world.channel<Batch>(1);
  EXPECT_TRUE(receiver.was_pending());
  send(sender, 1, Batch{2});
  EXPECT_EQ(world.surface(1), 1U);
  EXPECT_TRUE(world.is_active(1));
  EXPECT_EQ(receive_all(receiver), (Batch{1, 2}));
}

// -- The memory of messages ----------------------------------------------------------------------

/// An allocator that counts, and a message that owns memory from it and counts itself.
struct Account {
  static inline int allocations = 0;
  static inline int messages = 0;
};
template <class T>
struct CountingAllocator {
  using value_type = T;
  CountingAllocator() = default;
  template <class U>
  explicit CountingAllocator(const CountingAllocator<U>&) {}
  T* allocate(std::size_t n) {
    ++Account::allocations;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) { std::allocator<T>().deallocate(memory, n); }
  friend bool operator==(CountingAllocator, CountingAllocator) { return true; }
};
struct Parcel {
  Parcel() { ++Account::messages; }
  Parcel(Parcel&& other) noexcept : records(std::move(other.records)) { ++Account::messages; }
  Parcel& operator=(Parcel&&) = default;
  ~Parcel() { --Account::messages; }
  std::vector<int, CountingAllocator<int>> records;
};

// One round: `sender` fills its parcel and sends it, `receiver` empties what it gets.
void pass(Sender<Parcel>& sender, std::size_t to, Parcel& out, Receiver<Parcel>& receiver,
          Parcel& in) {
  for (int i = 0; i < 16; ++i) out.records.push_back(i);
  sender.send(to, out);
  EXPECT_TRUE(out.records.empty());
  ASSERT_TRUE(receiver.receive(in));
  EXPECT_EQ(in.records.size(), 16U);
  in.records.clear();
}

TEST(Channel, ASteadyStreamAllocatesNothing) {
  World world(2);
  auto [sender, unused] = world.channel<Parcel>(0);
  auto [own, receiver] = world.channel<Parcel>(1);
  for (const bool to_self : {false, true}) {
    Parcel out;
    Parcel in;
    auto& from = to_self ? own : sender;
    for (int round = 0; round < 8; ++round) pass(from, 1, out, receiver, in);
    const int allocations = Account::allocations;
    const int messages = Account::messages;
    for (int round = 0; round < 100; ++round) pass(from, 1, out, receiver, in);
    EXPECT_EQ(Account::allocations, allocations) << "to self: " << to_self;
    EXPECT_EQ(Account::messages, messages) << "to self: " << to_self;
  }
}

// -- The end --------------------------------------------------------------------------------------

class ChannelEnd : public ::testing::Test {
 protected:
  void SetUp() override { Account::messages = 0; }
  void TearDown() override { EXPECT_EQ(Account::messages, 0); }

  // The channel keeps an empty envelope from now on: it shows that the channel is there.
  static void leave_a_spare(Sender<Parcel>& sender, Receiver<Parcel>& receiver) {
    fill(sender, 1);
    fill(sender, 1);
    Parcel in;
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(receiver.receive(in));
      in.records.clear();
    }
  }
  static void fill(Sender<Parcel>& sender, std::size_t to) {
    Parcel parcel;
    parcel.records.push_back(1);
    sender.send(to, parcel);
    EXPECT_TRUE(parcel.records.empty());
  }
};

TEST_F(ChannelEnd, WhatIsSentToAReceiverThatIsGoneIsDropped) {
  World world(2);
  auto [sender, unused] = world.channel<Parcel>(0);
  {
    auto gone = world.channel<Parcel>(1);
  }
  fill(sender, 1);
  fill(sender, 1);
  EXPECT_EQ(Account::messages, 0);
  EXPECT_EQ(world.counters(0).notices, 0U);
  EXPECT_EQ(world.surface(1), 0U);
}

TEST_F(ChannelEnd, WhatIsSentToOneselfIsDroppedWhenTheReceiverIsGone) {
  World world(2);
  auto ends = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(0));
  Sender<Parcel> sender = std::move(ends->sender);
  fill(sender, 0);
  world.active[0].clear(0);
  ends.reset();
  EXPECT_EQ(Account::messages, 0);
  fill(sender, 0);
  EXPECT_EQ(Account::messages, 0);
  EXPECT_FALSE(world.is_active(0));  // whoever it was may be gone, too
}

TEST_F(ChannelEnd, UnreadMessagesEndWithTheLastEnd) {
  World world(2);
  auto first = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(0));
  auto second = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(1));
  fill(first->sender, 1);
  fill(second->sender, 0);
  world.surface(0);
  world.surface(1);
  second.reset();
  EXPECT_GT(Account::messages, 0);
  first.reset();
  EXPECT_EQ(Account::messages, 0);
}

TEST_F(ChannelEnd, WhatAReceiverThatGoesHadNotReadEndsWithIt) {
  World world(2);
  auto first = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(0));
  auto second = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(1));
  fill(first->sender, 1);
  world.surface(1);
  second.reset();
  EXPECT_EQ(Account::messages, 0);
  fill(first->sender, 1);  // late
  EXPECT_EQ(Account::messages, 0);
}

TEST_F(ChannelEnd, AReceiverThatGoesWhileItIsAnnouncedIsReleasedBySurfacing) {
  World world(2);
  auto first = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(0));
  auto second = std::make_unique<Fabric::Ends<Parcel>>(world.channel<Parcel>(1));
  leave_a_spare(first->sender, second->receiver);
  fill(first->sender, 1);
  second.reset();
  first.reset();
  EXPECT_GT(Account::messages, 0);  // the ready list holds the channel
  EXPECT_EQ(world.surface(1), 0U);
  EXPECT_FALSE(world.is_active(1));
  EXPECT_EQ(Account::messages, 0);
}

TEST_F(ChannelEnd, AReceiverThatGoesWhileItIsAnnouncedIsReleasedWithTheFabric) {
  auto world = std::make_unique<World>(2);
  {
    auto first = world->channel<Parcel>(0);
    auto second = world->channel<Parcel>(1);
    leave_a_spare(first.sender, second.receiver);
    fill(first.sender, 1);
  }
  EXPECT_GT(Account::messages, 0);
  world.reset();
}

TEST_F(ChannelEnd, MessagesToAWorkerThatNeverBuiltTheChannelEndWithTheFabric) {
  auto world = std::make_unique<World>(3);
  {
    auto first = world->channel<Parcel>(0);
    auto second = world->channel<Parcel>(1);
    fill(first.sender, 2);
    fill(second.sender, 2);
    fill(second.sender, 2);
  }
  EXPECT_GT(Account::messages, 0);
  world.reset();
}

TEST_F(ChannelEnd, SurfacingFindsNobodyBehindABellWhoseChannelWasNeverBuilt) {
  World world(2);
  {
    auto first = world.channel<Parcel>(0);
    fill(first.sender, 1);
  }
  EXPECT_EQ(world.surface(1), 1U);
  EXPECT_FALSE(world.is_active(1));
}

TEST_F(ChannelEnd, AReceiverThatWasMovedFromHoldsNothing) {
  World world(2);
  auto first = world.channel<Parcel>(0);
  auto second = world.channel<Parcel>(1);
  {
    auto moved = std::make_unique<Receiver<Parcel>>(std::move(second.receiver));
    fill(first.sender, 1);
    Parcel in;
    EXPECT_TRUE(moved->receive(in));
  }
  fill(first.sender, 1);  // closed with the one that it was moved to
}

}  // namespace
}  // namespace leat::comm
