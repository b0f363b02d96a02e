#include <leat/comm/seat.hpp>

#include <leat/comm/channel.hpp>
#include <leat/comm/fabric.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace leat::comm {
namespace {

void publish(Seat& seat, int number) {
  const std::array<int, 1> records{number};
  seat.log().append(7, std::span<const int>(records));
  seat.announce_log();
}
std::vector<int> read(Seat& seat) {
  std::vector<int> numbers;
  seat.read_logs([&](const queue::EntryHeader& entry) {
    EXPECT_EQ(entry.tag, 7U);
    for (const int number : entry.records<int>()) numbers.push_back(number);
  });
  return numbers;
}

TEST(Seat, KnowsItsPlace) {
  Fabric fabric(3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(fabric.seat(i).index(), i);
    EXPECT_EQ(fabric.seat(i).peers(), 3U);
    EXPECT_EQ(&fabric.seat(i).fabric(), &fabric);
  }
}

TEST(Seat, ReadsEachPeersLogInOrderOnceAndNotItsOwn) {
  Fabric fabric(3);
  publish(fabric.seat(0), 1);
  publish(fabric.seat(1), 10);
  publish(fabric.seat(0), 2);
  publish(fabric.seat(2), 100);
  EXPECT_EQ(read(fabric.seat(2)), (std::vector<int>{1, 2, 10}));
  EXPECT_EQ(read(fabric.seat(2)), (std::vector<int>{}));
  publish(fabric.seat(0), 3);
  EXPECT_EQ(read(fabric.seat(2)), (std::vector<int>{3}));
  EXPECT_EQ(fabric.seat(2).counters().batches_read, 4U);
  EXPECT_EQ(read(fabric.seat(0)), (std::vector<int>{10, 100}));
}

TEST(Seat, AnnouncingToPeersThatRunCostsNoSystemCall) {
  Fabric fabric(2);
  for (int i = 0; i < 10; ++i) publish(fabric.seat(0), i);
  EXPECT_EQ(fabric.seat(0).counters().wakes_sent, 0U);
}

TEST(Seat, HasAnnouncementsWhenAPeerPublishedOrSentOrStopped) {
  Fabric fabric(2);
  Seat& seat = fabric.seat(1);
  EXPECT_FALSE(seat.has_announcements());
  publish(fabric.seat(0), 1);
  EXPECT_TRUE(seat.has_announcements());
  read(seat);
  EXPECT_FALSE(seat.has_announcements());

  auto peer = fabric.channel<int>(fabric.seat(0), 0, {}, {});
  auto own = fabric.channel<int>(seat, 0, {}, {});
  int message = 5;
  peer.sender.send(1, message);
  EXPECT_TRUE(seat.has_announcements());
  seat.ready().surface([](core::Doorbell&) {});
  EXPECT_FALSE(seat.has_announcements());

  fabric.fail({"worker 0", "it failed", nullptr});
  EXPECT_TRUE(seat.has_announcements());
}

TEST(Seat, DoesNotSleepWhenSomethingWasAnnounced) {
  Fabric fabric(2);
  Seat& seat = fabric.seat(1);
  seat.enter();
  publish(fabric.seat(0), 1);
  seat.park(std::nullopt);
  read(seat);

  auto peer = fabric.channel<int>(fabric.seat(0), 0, {}, {});
  auto own = fabric.channel<int>(seat, 0, {}, {});
  int message = 5;
  peer.sender.send(1, message);
  seat.park(std::nullopt);
  seat.ready().surface([](core::Doorbell&) {});

  fabric.stop().request({"a caller", "enough", nullptr});
  seat.park(std::nullopt);
  seat.park(std::nullopt);  // and again: a stop stays
  seat.leave();
}

TEST(Seat, CountsAsRunnableButForItsSleep) {
  Fabric fabric(2);
  Seat& seat = fabric.seat(0);
  EXPECT_EQ(fabric.crowd().runnable_approx(), 0U);
  seat.enter();
  EXPECT_EQ(fabric.crowd().runnable_approx(), 1U);
  seat.park(Nanos{1});
  EXPECT_EQ(fabric.crowd().runnable_approx(), 1U);
  EXPECT_EQ(fabric.park_mask().for_each_parked([](std::size_t) {}), 0U);
  seat.leave();
  EXPECT_EQ(fabric.crowd().runnable_approx(), 0U);
}

// A peer sleeps without a timeout: if it is not woken, the test does not end.
TEST(Seat, AMessageWakesASleeper) {
  Fabric fabric(2);
  auto peer = fabric.channel<int>(fabric.seat(0), 0, {}, {});
  auto own = fabric.channel<int>(fabric.seat(1), 0, {}, {});
  std::thread sleeper([&] {
    Seat& seat = fabric.seat(1);
    seat.enter();
    int message = 0;
    while (!own.receiver.receive(message)) {
      seat.park(std::nullopt);
      seat.ready().surface([](core::Doorbell&) {});
    }
    EXPECT_EQ(message, 5);
    seat.leave();
  });
  while (!fabric.seat(1).parker().was_parked()) std::this_thread::yield();
  int message = 5;
  peer.sender.send(1, message);
  sleeper.join();
  EXPECT_EQ(fabric.seat(0).counters().notices, 1U);
  EXPECT_EQ(fabric.seat(0).counters().wakes_sent, 1U);
}

TEST(Seat, ABatchInTheLogWakesEverySleeperAndNobodyElse) {
  Fabric fabric(4);  // the last one stays awake
  std::vector<std::thread> sleepers;
  for (const std::size_t index : {1U, 2U}) {
    sleepers.emplace_back([&fabric, index] {
      Seat& seat = fabric.seat(index);
      seat.enter();
      std::vector<int> numbers;
      while ((numbers = read(seat)).empty()) seat.park(std::nullopt);
      EXPECT_EQ(numbers, (std::vector<int>{1}));
      seat.leave();
    });
  }
  for (const std::size_t index : {1U, 2U}) {
    while (!fabric.seat(index).parker().was_parked()) std::this_thread::yield();
  }
  publish(fabric.seat(0), 1);
  for (auto& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(fabric.seat(0).counters().wakes_sent, 2U);
}

TEST(Seat, AStopThatAnybodyRequestsWakesASleeper) {
  Fabric fabric(2);
  std::thread sleeper([&] {
    Seat& seat = fabric.seat(1);
    seat.enter();
    while (!fabric.stop().requested()) seat.park(std::nullopt);
    seat.leave();
  });
  while (!fabric.seat(1).parker().was_parked()) std::this_thread::yield();
  fabric.stop().request({"a caller", "enough", nullptr});
  sleeper.join();
}

TEST(Seat, OneThatHasLeftHoldsNobodysLogUp) {
  Fabric fabric(3);
  publish(fabric.seat(0), 1);
  EXPECT_EQ(read(fabric.seat(1)), (std::vector<int>{1}));
  fabric.seat(1).enter();
  fabric.seat(1).leave();  // seat 2 reads on
  queue::AppendLog& log = fabric.seat(0).log();
  std::uint64_t chunks = 0;
  for (int i = 0; i < 20'000; ++i) {
    publish(fabric.seat(0), i);
    read(fabric.seat(2));
    if (i == 10'000) chunks = log.chunks_allocated();
  }
  EXPECT_EQ(log.chunks_allocated(), chunks);
  EXPECT_EQ(read(fabric.seat(1)), (std::vector<int>{}));
}

TEST(Seat, OneThatSleepsHasSaidHowFarItHasRead) {
  Fabric fabric(2);
  Seat& reader = fabric.seat(1);
  reader.enter();
  queue::AppendLog& log = fabric.seat(0).log();
  while (log.chunks_in_use() < 3) publish(fabric.seat(0), 1);
  read(reader);
  reader.park(Nanos{1});
  log.collect();
  EXPECT_EQ(log.chunks_in_use(), 1U);
  reader.leave();
}

}  // namespace
}  // namespace leat::comm
