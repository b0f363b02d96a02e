// Shapes, seats, and what is repaired after a death at each step.
#include <leat/queue/ring/core.hpp>

#include <leat/queue/ring/test_ring.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace leat::queue {
namespace {

using test::Mortals;
using test::SharedMemory;

TEST(RingShape, RoundsUpAndRefusesWhatCannotBe) {
  EXPECT_EQ(ring_shape({.slots = 100}, 8, 16).value().slots, 128U);
  EXPECT_EQ(ring_shape({.slots = 1}, 8, 16).value().slots, 1U);
  EXPECT_EQ(ring_shape({.window = 3}, 8, 16).value().window, 4U);
  const struct {
    RingOptions options;
    const char* words;
  } wrong[] = {
      {{.slots = 0}, "asked 0 slots"},
      {{.slots = kRingSlotsMax + 1}, "slots"},
      {{.seats = 0}, "asked 0 seats"},
      {{.seats = 2000}, "seats"},
      {{.groups = 5000}, "groups"},
      {{.window = 1U << 30}, "window"},
      {{.kind = static_cast<RingKind>(7)}, "found kind 7"},
  };
  for (const auto& each : wrong) {
    const auto shape = ring_shape(each.options, 8, 16);
    ASSERT_FALSE(shape) << each.words;
    EXPECT_NE(shape.error().message.find(each.words), std::string::npos) << shape.error().message;
  }
}

TEST(RingShape, ThatIsDamagedIsRefused) {
  const RingShape right = ring_shape({}, 8, 16).value();
  EXPECT_TRUE(check_ring_shape(right));
  RingShape wrong = right;
  wrong.slots = 1000;
  EXPECT_FALSE(check_ring_shape(wrong));
  wrong = right;
  wrong.stride = 12;
  EXPECT_FALSE(check_ring_shape(wrong));
  wrong = right;
  wrong.stride = 8;  // no room for the payload
  EXPECT_FALSE(check_ring_shape(wrong));
  wrong = right;
  wrong.window = 3;
  EXPECT_FALSE(check_ring_shape(wrong));
}

TEST(RingLayout, PartsFollowEachOtherAndSlotsBeginAPage) {
  const RingLayout layout = ring_layout(ring_shape({.slots = 512}, 8, 16).value());
  EXPECT_EQ(layout.words, 0U);
  EXPECT_LE(layout.seats + 32 * sizeof(RingSeat), layout.groups);
  EXPECT_LE(layout.groups + 4 * sizeof(RingGroup), layout.claims);
  EXPECT_LE(layout.claims + 4 * 256 * 8, layout.slots);
  EXPECT_EQ(layout.slots % 4096, 0U);
  EXPECT_EQ(layout.total, layout.slots + 512 * 16);
}

TEST(RingSeats, AreGivenOutGivenBackAndRunOut) {
  auto ring = Ring<int>::make({.seats = 2}).value();
  auto first = ring.consumer().value();
  {
    auto second = ring.consumer({.label = "second"}).value();
    const auto third = ring.consumer();
    ASSERT_FALSE(third);
    EXPECT_NE(third.error().message.find("all 2 seats taken"), std::string::npos);
    EXPECT_EQ(ring.report().seats.size(), 2U);
  }
  EXPECT_EQ(ring.report().seats.size(), 1U);
  EXPECT_TRUE(ring.consumer());
  EXPECT_NE(ring.consumer({.label = std::string(33, 'x')}).error().message.find("32 bytes"),
            std::string::npos);
}

TEST(RingSeats, OfTheDeadAreGivenOutWhenNoneIsFree) {
  Mortals mortals;
  const SharedMemory<int> memory({.seats = 1});
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  auto dies = doomed.consumer().value();
  EXPECT_FALSE(living.consumer());
  mortals.kill(2);
  auto consumer = living.consumer();
  ASSERT_TRUE(consumer);
  // What died does not come back and free what is another's.
  {
    const auto gone = std::move(dies);
  }
  EXPECT_EQ(living.report().seats.size(), 1U);
}

TEST(RingLock, OfTheDeadIsTakenAndWhatTheyLeftHalfMadeIsFree) {
  Mortals mortals;
  const SharedMemory<int> memory({.groups = 1});
  auto ring = memory.as(1, mortals);
  mortals.kill(2);
  RingWords& words = memory.core().words();
  words.lock.store_relaxed(2);
  memory.core().group(0).state.store_relaxed(
      SeatState{.status = SeatStatus::making, .generation = 5}.word());
  EXPECT_TRUE(ring.member("whole"));
  EXPECT_EQ(ring.report().groups.size(), 1U);
  EXPECT_EQ(words.lock.load_relaxed(), 0U);
}

// A single producer that died after publishing, and before it said so in the head.
TEST(SingleProducerTakesOver, CountsWhatWasPublishedAndBuriesWhatWasBegun) {
  Mortals mortals;
  const SharedMemory<int> memory({.slots = 4});
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  auto consumer = living.consumer().value();
  auto dies = doomed.single_producer().value();
  ASSERT_EQ(dies.try_push(10), Push::ok);
  ASSERT_EQ(dies.try_push(11), Push::ok);
  memory.core().words().head.set(1);  // as if it died before the second
  memory.core().stamp(2).begin(2);    // and had begun a third
  EXPECT_FALSE(living.single_producer());
  mortals.kill(2);
  auto next = living.single_producer().value();
  EXPECT_EQ(next.next_sequence(), 3U);
  ASSERT_EQ(next.try_push(12), Push::ok);
  std::vector<int> got;
  consumer.consume_all([&](const int& n) { got.push_back(n); });
  EXPECT_EQ(got, (std::vector<int>{10, 11, 12}));
  EXPECT_EQ(consumer.passed_over(), 1U);
  EXPECT_EQ(living.report().buried, 1U);
}

TEST(ManyProducers, WhatADeadOneBeganIsBuriedByWhoWaitsForIt) {
  Mortals mortals;
  const SharedMemory<int> memory({.kind = RingKind::many_producers, .slots = 8});
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  auto consumer = living.consumer().value();
  auto lives = living.shared_producer().value();
  auto dies = doomed.shared_producer().value();
  auto batch = dies.reserve(2);
  ASSERT_EQ(lives.try_push(12), Push::ok);
  int got = 0;
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(consumer.try_pop(got), Pull::in_flight);  // slow?
  mortals.kill(2);
  int looks = 0;
  while (consumer.try_pop(got) != Pull::ok && looks < 3000) ++looks;
  EXPECT_LT(looks, 3000);
  EXPECT_EQ(got, 12);
  EXPECT_EQ(consumer.passed_over(), 2U);
  EXPECT_EQ(consumer.lost(), 0U);
  EXPECT_EQ(living.report().buried, 2U);
}

// Both tried for sequence 0, and the one that lost died with it noted in its seat.
TEST(ManyProducers, TheWinnerIsNotBuriedForTheLosersDeath) {
  Mortals mortals;
  const SharedMemory<int> memory({.kind = RingKind::many_producers, .slots = 8});
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  auto loses = doomed.shared_producer().value();
  auto wins = living.shared_producer().value();
  auto batch = wins.reserve(1);
  ASSERT_EQ(batch.first(), 0U);
  memory.core().seat(0).cursor.note_relaxed(0);
  mortals.kill(2);
  EXPECT_EQ(living.repair(), 0U);  // not settled: the seat stays
  EXPECT_EQ(memory.core().stamp(0).look(), stamp::busy(0));
  batch.set(0, 5);
  batch.publish();
  EXPECT_EQ(living.repair(), 1U);
  auto consumer = living.consumer({.start = StartAt::oldest()}).value();
  int got = 0;
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 5);
}

TEST(ManyProducers, ALossyConsumerPassesOverWhatIsNotFinishedWithinItsGrace) {
  SettableClock clock;
  auto ring = Ring<int>::make({.kind = RingKind::many_producers, .slots = 8}).value();
  auto consumer = ring.consumer({.grace = Nanos{1000}, .clock = &clock}).value();
  auto stopped = ring.shared_producer().value();
  auto goes_on = ring.shared_producer().value();
  auto batch = stopped.reserve(1);
  int got = 0;
  const auto poll = [&] {
    Pull pulled = Pull::in_flight;
    for (int i = 0; i < 3000 && pulled == Pull::in_flight; ++i) pulled = consumer.try_pop(got);
    return pulled;
  };
  EXPECT_EQ(poll(), Pull::in_flight);
  clock.advance(Nanos{2000});
  EXPECT_EQ(poll(), Pull::in_flight);  // nothing later is there
  ASSERT_EQ(goes_on.try_push(1), Push::ok);
  EXPECT_EQ(poll(), Pull::lost);
  EXPECT_EQ(consumer.loss(), (MessageRange{0, 1}));
  EXPECT_EQ(poll(), Pull::ok);
  EXPECT_EQ(got, 1);
}

TEST(RingReports, SayHowFarAllIsPublished) {
  auto ring = Ring<int>::make({.kind = RingKind::many_producers, .slots = 8}).value();
  auto first = ring.shared_producer("first").value();
  auto second = ring.shared_producer("second").value();
  ASSERT_EQ(first.try_push(0), Push::ok);
  auto batch = first.reserve(1);
  ASSERT_EQ(second.try_push(2), Push::ok);
  const RingReport report = ring.report();
  EXPECT_EQ(report.frontier, 3U);
  EXPECT_EQ(report.published, 1U);
  ASSERT_EQ(report.seats.size(), 2U);
  EXPECT_EQ(report.seats[0].label, "first");
  EXPECT_EQ(report.seats[0].state.role, SeatRole::producer);
}

TEST(RingReports, SayWhoIsWritingWhat) {
  for (const RingKind kind : test::kKinds) {
    Mortals mortals;
    const SharedMemory<int> memory({.kind = kind, .slots = 8});
    auto ring = memory.as(1, mortals);
    test::AnyProducer<int> producer(ring);
    ASSERT_EQ(producer.try_push(0), Push::ok);
    EXPECT_EQ(ring.report().seats.at(0).writing, MessageRange{});
    producer.with_batch(2, [&](auto&) {
      EXPECT_EQ(ring.report().seats.at(0).writing, (MessageRange{1, 2}));
      EXPECT_EQ(ring.report().seats.at(0).owner, 1U);
    });
    EXPECT_EQ(ring.report().seats.at(0).writing, MessageRange{});
  }
}

// Everything before the slots is taken away: who polls and consumes does not look there.
TEST(RingConsumers, TouchNothingButSlotsWhileTheyPollAndConsume) {
  for (const RingKind kind : test::kKinds) {
    const RingShape shape = Ring<std::uint64_t>::shape_of({.kind = kind, .slots = 1024}).value();
    const RingLayout layout = ring_layout(shape);
    ASSERT_EQ(layout.slots % 4096, 0U);
    void* const memory =
        ::mmap(nullptr, layout.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    {
      Ring<std::uint64_t> ring(std::make_shared<RingCore>(static_cast<std::byte*>(memory), shape,
                                                          private_ring_peers(), nullptr));
      auto consumer = ring.consumer().value();
      test::AnyProducer<std::uint64_t> producer(ring);
      for (std::uint64_t n = 0; n < 130; ++n) ASSERT_EQ(producer.try_push(n), Push::ok);
      std::uint64_t got = 0;
      std::uint64_t next = 0;
      for (; next < 64; ++next) ASSERT_EQ(consumer.try_pop(got), Pull::ok);
      // Up to the next time that it publishes its cursor, 64 messages later.
      ASSERT_EQ(::mprotect(memory, layout.slots, PROT_NONE), 0);
      for (; next < 127; ++next) {
        ASSERT_EQ(consumer.try_pop(got), Pull::ok);
        ASSERT_EQ(got, next);
      }
      ASSERT_EQ(::mprotect(memory, layout.slots, PROT_READ | PROT_WRITE), 0);
      for (; next < 130; ++next) ASSERT_EQ(consumer.try_pop(got), Pull::ok);
      ASSERT_EQ(consumer.try_pop(got), Pull::empty);  // the first look in vain publishes the cursor
      ASSERT_EQ(::mprotect(memory, layout.slots, PROT_NONE), 0);
      for (int looks = 0; looks < 1000; ++looks) ASSERT_EQ(consumer.try_pop(got), Pull::empty);
      ASSERT_EQ(::mprotect(memory, layout.slots, PROT_READ | PROT_WRITE), 0);
    }
    ::munmap(memory, layout.total);
  }
}

// Asleep, each look takes as long as a sleep: the dead must not wait for a thousand of them.
TEST(RingSleep, OfWhoWaitsForADeadOneEndsSoon) {
  Mortals mortals;
  const SharedMemory<int> memory(
      {.kind = RingKind::many_producers, .slots = 8, .reliable = true, .wakeable = true});
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  auto consumer = living.consumer({.reliable = true}).value();
  auto member = living.member("work", {.start = StartAt::at(1)}).value();
  auto dies = doomed.shared_producer().value();
  auto holds = doomed.member("work").value();
  auto batch = dies.reserve(1);
  auto lives = living.shared_producer().value();
  ASSERT_EQ(lives.try_push(1), Push::ok);
  int got = 0;
  ASSERT_EQ(holds.try_pop(got), Pull::ok);
  mortals.kill(2);
  const auto pop_within = [&](auto& end, int sleeps) {
    for (int i = 0; i < sleeps; ++i) {
      if (end.try_pop(got) == Pull::ok) return true;
      end.sleep(Nanos{1});
    }
    return end.try_pop(got) == Pull::ok;
  };
  EXPECT_TRUE(pop_within(consumer, 3));
  EXPECT_EQ(got, 1);
  EXPECT_TRUE(pop_within(member, 3));
  EXPECT_TRUE(member.was_redelivered());
}

TEST(RingSleep, NeedsAWakeableRing) {
  auto ring = Ring<int>::make({}).value();
  auto consumer = ring.consumer().value();
  EXPECT_DEATH(consumer.sleep(Nanos{1}), "not wakeable");
}

TEST(RingSleep, EndsWhenAMessageIsThereOrTheTimeIsOver) {
  SettableClock clock;
  auto ring = Ring<int>::make({.wakeable = true}).value();
  auto producer = ring.single_producer().value();
  auto consumer = ring.consumer({.clock = &clock}).value();
  int got = 0;
  EXPECT_EQ(consumer.pop(got, Nanos{0}, Waiting::sleeping()), Pull::empty);
  ASSERT_EQ(producer.try_push(4), Push::ok);
  consumer.sleep(std::chrono::hours(1));  // does not: something is there
  EXPECT_EQ(consumer.pop(got, Nanos{0}, Waiting::sleeping()), Pull::ok);
  EXPECT_EQ(got, 4);
}

}  // namespace
}  // namespace leat::queue
