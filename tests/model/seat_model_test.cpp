// Seat: whatever a peer announces, by a bell, in its log or by a stop, a worker that goes to sleep at
// that moment is woken or does not sleep.
#include <leat/base/plain.hpp>
#include <leat/comm/channel.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/seat.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace leat::comm {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

/// Two workers; the second one sleeps whenever it knows of nothing.
struct Workers {
  Fabric fabric{2};
  Fabric::Ends<int> first = fabric.channel<int>(fabric.seat(0), 0, {}, {});
  Fabric::Ends<int> second = fabric.channel<int>(fabric.seat(1), 0, {}, {});

  void send(int message) { first.sender.send(1, message); }

  void publish(int number) {
    const std::array<int, 1> records{number};
    Seat& seat = fabric.seat(0);
    seat.log().append(0, std::span<const int>(records));
    seat.announce_log();
  }

  /// As a worker's loop does, until it has heard of `news` things or of a stop.
  void hear(int news) {
    Seat& seat = fabric.seat(1);
    seat.enter();
    while (news > 0 && !fabric.stop().requested()) {
      const int before = news;
      int message = 0;
      seat.ready().surface([&](core::Doorbell&) {
        while (second.receiver.receive(message)) --news;
      });
      seat.read_logs([&](const queue::EntryHeader& entry) {
        model::require(entry.records<int>()[0] == 7, "the batch is whole");
        --news;
      });
      if (news == before) seat.park(std::nullopt);
    }
    seat.leave();
  }
};

template <class Announce>
model::Body hears(int news, Announce announce) {
  return [=](model::Run& run) {
    auto workers = std::make_shared<Workers>();
    run.thread([=] { announce(*workers); });
    run.thread([=] { workers->hear(news); });
    run.join();
  };
}

const model::Body kMessage = hears(1, [](Workers& workers) { workers.send(7); });
const model::Body kBatch = hears(1, [](Workers& workers) { workers.publish(7); });
const model::Body kBoth = hears(2, [](Workers& workers) {
  workers.send(7);
  workers.publish(7);
});
const model::Body kStop = hears(
    1, [](Workers& workers) { workers.fabric.stop().request({"worker 0", "it failed", nullptr}); });
const model::Body kDeparture = [](model::Run& run) {
  auto workers = std::make_shared<Workers>();
  run.thread([=] { workers->fabric.left(3); });
  run.thread([=] {
    Seat& seat = workers->fabric.seat(1);
    while (workers->fabric.lowest_id_left_at() > 3) seat.park(std::nullopt);
  });
  run.join();
};

TEST(SeatModel, AMessageReachesAWorkerThatGoesToSleep) {
  expect_holds(kMessage, {.preemptions = 2});
}

TEST(SeatModel, ABatchInTheLogReachesAWorkerThatGoesToSleep) {
  expect_holds(kBatch, {.preemptions = 2});
}

TEST(SeatModel, AMessageAndABatchReachAWorkerThatGoesToSleep) {
  expect_holds(kBoth, {.preemptions = 1});
}

TEST(SeatModel, AStopReachesAWorkerThatGoesToSleep) { expect_holds(kStop, {.preemptions = 2}); }

TEST(SeatModel, ADepartureReachesAWorkerThatGoesToSleep) {
  expect_holds(kDeparture, {.preemptions = 2});
}

TEST(SeatModel, SleepingNeedsTheOrderOnBothSides) {
  expect_needs_edges(kMessage, {"ReadyList::doze", "Parker::doze"}, model::kStuck);
  expect_needs_edges(kBatch, {"ParkMask::doze"}, model::kStuck);
}

TEST(SeatModel, AWorkerThatDoesNotLookAgainBeforeItSleepsIsNotWoken) {
  expect_catches(kMessage, {"parker.no_recheck"}, model::kStuck);
  expect_catches(kBatch, {"parker.no_recheck", "seat.looks_at_bells_only"}, model::kStuck);
}

TEST(SeatModel, APublisherThatAsksForSleepersFirstMissesOne) {
  expect_catches(hears(1,
                       [](Workers& workers) {
                         workers.fabric.seat(0).announce_log();
                         const std::array<int, 1> records{7};
                         workers.fabric.seat(0).log().append(0, std::span<const int>(records));
                         if (!LEAT_MUTANT("test.announced_before")) workers.publish(7);
                       }),
                 {"test.announced_before"}, model::kStuck);
}

}  // namespace
}  // namespace leat::comm
