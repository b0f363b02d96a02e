// Broadcast over rings of both kinds: delivery, laps and losses, starts, batches, the ways to consume.
#include <leat/queue/ring/consumer.hpp>

#include <leat/queue/ring/test_ring.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace leat::queue {
namespace {

using test::AnyProducer;
using test::produce;

class EitherRing : public testing::TestWithParam<RingKind> {
 protected:
  static RingOptions options(std::uint64_t slots) { return {.kind = GetParam(), .slots = slots}; }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EitherRing, testing::ValuesIn(test::kKinds), test::kind_name);

TEST_P(EitherRing, GivesWhatWasPushedInOrderAndThenIsEmpty) {
  auto ring = Ring<std::uint64_t>::make(options(16)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  std::uint64_t got = 0;
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
  produce(producer, 0, 16);  // exactly as many as fit
  for (std::uint64_t n = 0; n < 16; ++n) {
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
  }
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
  EXPECT_EQ(consumer.lost(), 0U);
}

TEST_P(EitherRing, EveryConsumerSeesEverything) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto first = ring.consumer().value();
  auto second = ring.consumer().value();
  produce(producer, 0, 8);
  std::uint64_t seen = 0;
  EXPECT_EQ(first.consume_all([&](const std::uint64_t& n) { EXPECT_EQ(n, seen++); }).messages, 8U);
  seen = 0;
  EXPECT_EQ(second.consume_all([&](const std::uint64_t& n) { EXPECT_EQ(n, seen++); }).messages, 8U);
}

TEST_P(EitherRing, ALateConsumerBeginsWithTheNextMessageUnlessItAsks) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  produce(producer, 0, 13);
  auto latest = ring.consumer().value();
  auto oldest = ring.consumer({.start = StartAt::oldest()}).value();
  auto seventh = ring.consumer({.start = StartAt::at(7)}).value();
  auto second = ring.consumer({.start = StartAt::at(2)}).value();
  produce(producer, 13, 14);
  std::uint64_t got = 0;
  EXPECT_EQ(latest.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 13U);
  EXPECT_EQ(oldest.try_pop(got), Pull::lost);  // 5 was the oldest, and is gone since
  EXPECT_EQ(oldest.loss().first, 5U);
  EXPECT_EQ(seventh.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 7U);
  EXPECT_EQ(second.try_pop(got), Pull::lost);
  EXPECT_EQ(second.loss().first, 2U);
  EXPECT_EQ(second.loss().count, second.next_sequence() - 2);
}

TEST_P(EitherRing, ALappedConsumerIsToldExactlyWhatItLost) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  produce(producer, 0, 7);
  std::uint64_t got = 0;
  ASSERT_EQ(consumer.try_pop(got), Pull::lost);
  EXPECT_EQ(consumer.loss(), (MessageRange{0, 3}));
  for (std::uint64_t n = 3; n < 7; ++n) {
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
  }
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
  EXPECT_EQ(consumer.lost(), 3U);
  EXPECT_EQ(ring.report().seats.back().lost, 3U);
}

TEST_P(EitherRing, RecoversAsThePolicySays) {
  auto ring = Ring<std::uint64_t>::make(options(16)).value();
  AnyProducer producer(ring);
  auto latest = ring.consumer({.recovery = Recovery::latest}).value();
  auto oldest = ring.consumer({.recovery = Recovery::oldest}).value();
  auto fails = ring.consumer({.recovery = Recovery::fail}).value();
  produce(producer, 0, 40);
  std::uint64_t got = 0;
  ASSERT_EQ(latest.try_pop(got), Pull::lost);
  EXPECT_EQ(latest.loss(), (MessageRange{0, 40}));
  EXPECT_EQ(latest.try_pop(got), Pull::empty);
  ASSERT_EQ(oldest.try_pop(got), Pull::lost);
  EXPECT_EQ(oldest.loss(), (MessageRange{0, 26}));  // 24, and an eighth of the ring for safety
  ASSERT_EQ(oldest.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 26U);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(fails.try_pop(got), Pull::lost);
  EXPECT_EQ(fails.loss(), (MessageRange{0, 24}));
  EXPECT_EQ(fails.lost(), 0U);
  fails.recover(Recovery::oldest);
  EXPECT_EQ(fails.lost(), fails.next_sequence());
  ASSERT_EQ(fails.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 26U);
}

TEST_P(EitherRing, StampsEverySequenceOfThreeLaps) {
  constexpr std::uint64_t kSlots = 8;
  auto ring = Ring<std::uint64_t>::make(options(kSlots)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  for (std::uint64_t n = 0; n < 3 * kSlots; ++n) {
    EXPECT_LT(ring.core().stamp(n).look(), stamp::busy(n)) << n;
    produce(producer, n, n + 1);
    EXPECT_EQ(ring.core().stamp(n).look(), stamp::published(n));
    EXPECT_EQ(stamp::sequence(ring.core().stamp(n).look()), n);
    EXPECT_EQ(ring.core().frontier(), n + 1);
    std::uint64_t got = 0;
    EXPECT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
  }
}

// A consumer that took any published stamp for its own would read n + slots as n.
TEST_P(EitherRing, AMessageOfAnotherLapIsNeverTakenForThisOne) {
  for (const std::uint64_t slots : {1U, 2U, 8U}) {
    for (const std::uint64_t ahead : {slots - 1, slots, 2 * slots, 3 * slots + 1}) {
      auto ring = Ring<std::uint64_t>::make(options(slots)).value();
      AnyProducer producer(ring);
      auto consumer = ring.consumer().value();
      produce(producer, 0, ahead + 1);
      std::uint64_t got = 0;
      std::uint64_t next = 0;
      for (int looks = 0; looks < 100; ++looks) {
        const Pull pulled = consumer.try_pop(got);
        if (pulled == Pull::empty) break;
        if (pulled == Pull::lost) {
          EXPECT_EQ(consumer.loss().first, next);
          next += consumer.loss().count;
        } else {
          ASSERT_EQ(pulled, Pull::ok);
          EXPECT_EQ(got, next++);
        }
      }
      EXPECT_EQ(next, ahead + 1) << slots << " slots";
    }
  }
}

TEST_P(EitherRing, ABusySlotReadsAsInFlight) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  std::uint64_t got = 0;
  producer.with_batch(2, [&](auto& batch) {
    ASSERT_EQ(batch.size(), 2U);
    EXPECT_EQ(consumer.try_pop(got), Pull::in_flight);
    batch.set(0, 10);
    batch.set(1, 11);
    EXPECT_EQ(consumer.try_pop(got), Pull::in_flight);
    batch.publish();
  });
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 10U);
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 11U);
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
}

TEST_P(EitherRing, WhatABatchLeavesOutIsPassedOver) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  producer.with_batch(3, [](auto& batch) {
    batch.set(2, 12);
    batch.publish();
  });
  producer.with_batch(2, [](auto&) {});  // never published
  produce(producer, 5, 6);
  std::vector<std::uint64_t> got;
  consumer.consume_all([&](const std::uint64_t& n) { got.push_back(n); });
  EXPECT_EQ(got, (std::vector<std::uint64_t>{12, 5}));
  EXPECT_EQ(consumer.passed_over(), 4U);
  EXPECT_EQ(consumer.lost(), 0U);
}

TEST_P(EitherRing, ABatchIsNeverLargerThanTheRing) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  producer.with_batch(100, [](auto& batch) { EXPECT_EQ(batch.size(), 4U); });
  producer.with_batch(0, [](auto& batch) { EXPECT_EQ(batch.size(), 0U); });
}

TEST_P(EitherRing, ConsumesSomeFilteredTheLastAndInBatches) {
  auto ring = Ring<std::uint64_t>::make(options(32)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  produce(producer, 0, 20);
  std::uint64_t sum = 0;
  Consumed consumed = consumer.consume(3, [&](const std::uint64_t& n) { sum += n; });
  EXPECT_EQ(consumed.messages, 3U);
  EXPECT_EQ(consumed.last, Pull::ok);
  EXPECT_EQ(sum, 3U);
  std::vector<std::uint64_t> even;
  consumed = consumer.consume_if(
      2, [](const std::uint64_t& n) { return n % 2 == 0; },
      [&](const std::uint64_t& n) { even.push_back(n); });
  EXPECT_EQ(even, (std::vector<std::uint64_t>{4, 6}));
  std::array<std::uint64_t, 5> batch{};
  EXPECT_EQ(consumer.pop_batch(batch).messages, 5U);
  EXPECT_EQ(batch.front(), 7U);
  EXPECT_EQ(batch.back(), 11U);
  std::uint64_t last = 0;
  EXPECT_EQ(consumer.pop_last(last), Pull::ok);
  EXPECT_EQ(last, 19U);
  EXPECT_EQ(consumer.passed_over(), 7U);
  EXPECT_EQ(consumer.pop_last(last), Pull::empty);
  EXPECT_EQ(consumer.pop_batch(batch).messages, 0U);
  EXPECT_EQ(consumer.pop_batch(batch).last, Pull::empty);
}

TEST_P(EitherRing, ABatchTellsALossBeforeItReadsOn) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  produce(producer, 0, 9);
  std::array<std::uint64_t, 8> batch{};
  const Consumed lost = consumer.pop_batch(batch);
  EXPECT_EQ(lost.last, Pull::lost);
  EXPECT_EQ(lost.lost, 5U);
  EXPECT_EQ(consumer.pop_batch(batch).messages, 4U);
  EXPECT_EQ(batch[0], 5U);
}

TEST_P(EitherRing, TheLastIsTheNewestThatIsWholeNotTheOneBeingWritten) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer().value();
  produce(producer, 0, 6);
  producer.with_batch(1, [&](auto& batch) {
    std::uint64_t last = 0;
    EXPECT_EQ(consumer.pop_last(last), Pull::ok);
    EXPECT_EQ(last, 5U);
    EXPECT_EQ(consumer.pop_last(last), Pull::empty);
    batch.set(0, 6);
    batch.publish();
    EXPECT_EQ(consumer.pop_last(last), Pull::ok);
    EXPECT_EQ(last, 6U);
  });
}

TEST_P(EitherRing, AConsumerGoesOnFromATimeThatRecordsCarry) {
  auto ring = Ring<std::uint64_t>::make(options(16)).value();
  AnyProducer producer(ring);
  const auto time_of = [](std::uint64_t n) { return 100 + n / 3 * 10; };  // three a moment
  for (std::uint64_t n = 0; n < 30; ++n) {
    if (n == 20) {
      producer.with_batch(1, [](auto&) {});  // nothing stands there
    } else {
      ASSERT_EQ(producer.try_push(time_of(n)), Push::ok);
    }
  }
  for (std::uint64_t time = 90; time < 210; time += 5) {
    auto consumer = ring.consumer({.start = StartAt::oldest()}).value();
    const bool found = consumer.seek([&](const std::uint64_t& at) { return at >= time; });
    EXPECT_EQ(found, time <= time_of(29)) << time;
    std::uint64_t got = 0;
    EXPECT_EQ(consumer.try_pop(got), found ? Pull::ok : Pull::empty) << time;
    if (found) {
      EXPECT_GE(got, time);
      const std::uint64_t taken = consumer.next_sequence() - 1;
      EXPECT_TRUE(taken == 14 || time_of(taken - 1) < time || taken == 21) << time;
    }
    EXPECT_EQ(consumer.lost(), 0U);
  }
  auto consumer = ring.consumer({.start = StartAt::at(25)}).value();
  EXPECT_TRUE(consumer.seek([](const std::uint64_t&) { return true; }));
  EXPECT_EQ(consumer.next_sequence(), 25U);  // never back
}

TEST_P(EitherRing, TellsHowFarBehindAConsumerIs) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer({.label = "slow"}).value();
  produce(producer, 0, 5);
  EXPECT_EQ(consumer.lag(), 5U);
  EXPECT_EQ(producer.headroom(), 3U);
  std::uint64_t got = 0;
  while (consumer.try_pop(got) == Pull::ok) {
  }
  EXPECT_EQ(producer.headroom(), 8U);
  produce(producer, 5, 30);
  EXPECT_EQ(producer.headroom(), 0U);
  const RingReport report = ring.report();
  EXPECT_EQ(report.frontier, 30U);
  EXPECT_EQ(report.published, 30U);
  ASSERT_EQ(report.seats.size(), 2U);
  EXPECT_EQ(report.seats[1].label, "slow");
  EXPECT_EQ(report.seats[1].lag, 25U);
}

template <std::size_t kBytes>
struct Bytes {
  std::array<unsigned char, kBytes> bytes;

  static Bytes of(std::uint64_t n) {
    Bytes value;
    for (std::size_t i = 0; i < kBytes; ++i) {
      value.bytes[i] = static_cast<unsigned char>(n * 31 + i * 7 + i / 256);
    }
    return value;
  }
};

template <std::size_t kBytes>
void carries(RingKind kind) {
  auto ring = Ring<Bytes<kBytes>>::make({.kind = kind, .slots = 4}).value();
  AnyProducer<Bytes<kBytes>> producer(ring);
  auto consumer = ring.consumer().value();
  for (std::uint64_t n = 0; n < 9; ++n) {
    ASSERT_EQ(producer.try_push(Bytes<kBytes>::of(n)), Push::ok);
    Bytes<kBytes> got;
    ASSERT_EQ(consumer.try_pop(got), Pull::ok) << kBytes;
    ASSERT_EQ(std::memcmp(&got, Bytes<kBytes>::of(n).bytes.data(), kBytes), 0) << kBytes;
  }
}

template <std::size_t... kSizes>
void carry_all(RingKind kind, std::index_sequence<kSizes...>) {
  (carries<kSizes>(kind), ...);
}

// The bytes of every size are copied in base/word_copy_test.cpp; here, where they lie.
static_assert([] {
  for (std::size_t bytes = 1; bytes <= 4096; ++bytes) {
    const std::size_t align = internal::slot_align(bytes);
    const std::size_t slot = (8 + words_for(bytes) * 8 + align - 1) / align * align;
    if (slot < bytes + 8 || slot % 8 != 0) return false;
    // Up to a line less its stamp a slot never lies across two.
    if (bytes <= 56 && (slot > 64 || 64 % slot != 0)) return false;
    if (bytes > 56 && slot >= bytes + 16) return false;
  }
  return true;
}());

TEST_P(EitherRing, CarriesRecordsOfTheSizesWhereItsCodeDiffers) {
  carry_all(GetParam(), std::index_sequence<1, 7, 8, 9, 24, 55, 56, 57, 64, 65, 127, 128, 129, 136,
                                            137, 255, 1000, 4095, 4096>{});
}

TEST(RingKinds, AreAskedForByName) {
  auto single = Ring<int>::make({.kind = RingKind::single_producer}).value();
  auto many = Ring<int>::make({.kind = RingKind::many_producers}).value();
  EXPECT_NE(single.shared_producer().error().message.find("take single_producer"),
            std::string::npos);
  EXPECT_NE(many.single_producer().error().message.find("take shared_producer"), std::string::npos);
}

TEST(RingKinds, ASingleProducerIsAloneUntilItLeaves) {
  auto ring = Ring<int>::make({}).value();
  {
    const auto first = ring.single_producer().value();
    const auto second = ring.single_producer();
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("not proven dead"), std::string::npos);
  }
  EXPECT_TRUE(ring.single_producer());
}

TEST(SharedProducers, TakeTurnsWithoutGapsOrDoubles) {
  auto ring = Ring<std::uint64_t>::make({.kind = RingKind::many_producers, .slots = 16}).value();
  auto first = ring.shared_producer().value();
  auto second = ring.shared_producer().value();
  auto consumer = ring.consumer().value();
  for (std::uint64_t n = 0; n < 40; n += 2) {
    ASSERT_EQ(first.try_push(n), Push::ok);
    ASSERT_EQ(second.try_push(n + 1), Push::ok);
    std::uint64_t got = 0;
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n + 1);
  }
}

TEST(SharedProducers, PassOverASlotThatIsStillBusyALapBehind) {
  auto ring = Ring<std::uint64_t>::make({.kind = RingKind::many_producers, .slots = 4}).value();
  auto slow = ring.shared_producer().value();
  auto quick = ring.shared_producer().value();
  auto consumer = ring.consumer({.start = StartAt::at(4)}).value();
  auto batch = slow.reserve(1);
  EXPECT_EQ(batch.first(), 0U);
  for (std::uint64_t n = 1; n <= 6; ++n) ASSERT_EQ(quick.try_push(n), Push::ok);  // 1..3, 5..7
  std::uint64_t got = 0;
  EXPECT_EQ(consumer.try_pop(got), Pull::lost);  // 4 was never anybody's
  EXPECT_EQ(consumer.loss(), (MessageRange{4, 1}));
  for (std::uint64_t n = 4; n <= 6; ++n) {
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
  }
  batch.set(0, 0);
  batch.publish();  // too late for anybody, and no harm
  ASSERT_EQ(slow.try_push(100), Push::ok);
  ASSERT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 100U);
}

}  // namespace
}  // namespace leat::queue
