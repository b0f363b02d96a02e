// Rings whose producers wait: credit, deadlines, eviction; who joins is not overtaken.
#include <leat/queue/ring/producer.hpp>

#include <leat/queue/ring/test_ring.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

namespace leat::queue {
namespace {

using test::AnyProducer;
using test::Mortals;
using test::produce;
using test::SharedMemory;

class ReliableRing : public testing::TestWithParam<RingKind> {
 protected:
  static RingOptions options(std::uint64_t slots) {
    return {.kind = GetParam(), .slots = slots, .reliable = true};
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, ReliableRing, testing::ValuesIn(test::kKinds), test::kind_name);

TEST_P(ReliableRing, IsFullUntilTheSlowestHasRead) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto quick = ring.consumer({.reliable = true}).value();
  auto slow = ring.consumer({.reliable = true}).value();
  produce(producer, 0, 4);
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_EQ(producer.credit(), 0U);
  EXPECT_EQ(quick.consume_all([](const std::uint64_t&) {}).messages, 4U);
  EXPECT_EQ(producer.try_push(4), Push::full);
  std::uint64_t got = 0;
  ASSERT_EQ(slow.try_pop(got), Pull::ok);
  EXPECT_EQ(producer.credit(), 1U);
  EXPECT_EQ(producer.try_push(4), Push::ok);
  EXPECT_EQ(producer.try_push(5), Push::full);
  for (std::uint64_t n = 1; n < 5; ++n) {
    ASSERT_EQ(slow.try_pop(got), Pull::ok);
    EXPECT_EQ(got, n);
  }
  EXPECT_EQ(slow.lost(), 0U);
}

TEST_P(ReliableRing, WaitsForNobodyWhoDidNotAsk) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto lossy = ring.consumer().value();
  produce(producer, 0, 50);
  std::uint64_t got = 0;
  EXPECT_EQ(lossy.try_pop(got), Pull::lost);
}

TEST_P(ReliableRing, WhoJoinsIsNotOvertakenByCreditFromBefore) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  for (std::uint64_t already = 0; already < 20; ++already) {
    produce(producer, already, already + 1);
    auto consumer = ring.consumer({.reliable = true}).value();
    std::uint64_t sent = already + 1;
    while (producer.try_push(sent) == Push::ok) ++sent;
    EXPECT_EQ(sent, already + 9);
    std::uint64_t got = 0;
    for (std::uint64_t n = already + 1; n < sent; ++n) {
      ASSERT_EQ(consumer.try_pop(got), Pull::ok);
      EXPECT_EQ(got, n);
    }
    already = sent - 1;
  }
}

TEST_P(ReliableRing, AGroupGatesByTheLowestThatIsNotDone) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work", {.reliable = true, .ack = Ack::explicitly}).value();
  produce(producer, 0, 4);
  std::uint64_t got = 0;
  for (int i = 0; i < 4; ++i) ASSERT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_TRUE(member.ack(1));
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_TRUE(member.ack(0));
  produce(producer, 4, 6);
  EXPECT_EQ(producer.try_push(6), Push::full);
}

TEST_P(ReliableRing, ABatchIsAsLargeAsTheCredit) {
  auto ring = Ring<std::uint64_t>::make(options(8)).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer({.reliable = true}).value();
  produce(producer, 0, 5);
  producer.with_batch(8, [](auto& batch) {
    ASSERT_EQ(batch.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) batch.set(i, 5 + i);
    batch.publish();
  });
  producer.with_batch(8, [](auto& batch) { EXPECT_EQ(batch.size(), 0U); });
  std::uint64_t next = 0;
  EXPECT_EQ(consumer.consume_all([&](const std::uint64_t& n) { EXPECT_EQ(n, next++); }).messages,
            8U);
}

TEST_P(ReliableRing, GivesUpAtTheDeadlineOrSendsTheSlowestAway) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  SettableClock clock;
  auto slow = ring.consumer({.label = "slow", .reliable = true}).value();
  produce(producer, 0, 4);
  EXPECT_EQ(producer.push(4, Nanos{0}, OnSlow::give_up, clock), Push::full);
  EXPECT_FALSE(slow.is_evicted());
  EXPECT_EQ(producer.push(4, Nanos{0}, OnSlow::evict, clock), Push::ok);
  EXPECT_TRUE(slow.is_evicted());
  EXPECT_EQ(slow.eviction(), Eviction::too_slow);
  std::uint64_t got = 0;
  EXPECT_EQ(slow.try_pop(got), Pull::evicted);
  EXPECT_EQ(slow.try_pop(got), Pull::evicted);
  EXPECT_EQ(ring.report().evicted, 1U);
  produce(producer, 5, 20);
}

TEST_P(ReliableRing, AnEvictedGroupGoesOnAndMayLose) {
  auto ring = Ring<std::uint64_t>::make(options(4)).value();
  AnyProducer producer(ring);
  auto member = ring.member("work", {.reliable = true}).value();
  produce(producer, 0, 4);
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_TRUE(ring.core().evict_group(0, Eviction::asked));
  EXPECT_FALSE(ring.core().evict_group(0, Eviction::asked));
  produce(producer, 4, 10);
  std::uint64_t got = 0;
  EXPECT_EQ(member.try_pop(got), Pull::lost);
  EXPECT_EQ(member.loss(), (MessageRange{0, 6}));
  EXPECT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 6U);
  EXPECT_TRUE(ring.member("work", {.reliable = true}));
}

TEST_P(ReliableRing, TheDeadGateNobodyOnceTheyAreFound) {
  const Mortals mortals;
  auto peers = mortals;
  const SharedMemory<std::uint64_t> memory(options(4));
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  AnyProducer producer(living);
  auto dies = doomed.consumer({.reliable = true}).value();
  produce(producer, 0, 4);
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_EQ(living.repair(), 0U);
  peers.kill(2);
  EXPECT_EQ(living.repair(), 1U);
  EXPECT_EQ(producer.try_push(4), Push::ok);
}

// Nobody calls repair here.
TEST_P(ReliableRing, WhoFindsItFullForLongLooksForTheDead) {
  const Mortals mortals;
  auto peers = mortals;
  const SharedMemory<std::uint64_t> memory(options(4));
  auto living = memory.as(1, mortals);
  auto doomed = memory.as(2, mortals);
  AnyProducer producer(living);
  auto dies = doomed.consumer({.reliable = true}).value();
  produce(producer, 0, 4);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(producer.try_push(4), Push::full);  // it may be slow
  peers.kill(2);
  int refusals = 0;
  while (producer.try_push(4) != Push::ok && refusals < 3000) ++refusals;
  EXPECT_LT(refusals, 3000);
}

TEST_P(ReliableRing, AProducerSleepsUntilThereIsRoom) {
  RingOptions wakeable = options(4);
  wakeable.wakeable = true;
  auto ring = Ring<std::uint64_t>::make(wakeable).value();
  auto consumer = ring.consumer({.reliable = true}).value();
  constexpr std::uint64_t kMessages = 500;
  const Waiting at_once{.looks = 0, .yields = 0, .sleeps = true};
  std::thread produces([&] {
    const auto push_all = [&](auto producer) {
      for (std::uint64_t n = 0; n < kMessages; ++n) {
        ASSERT_EQ(producer.push(n, std::chrono::hours(1), OnSlow::give_up, at_once), Push::ok);
      }
    };
    if (GetParam() == RingKind::single_producer) {
      push_all(ring.single_producer().value());
    } else {
      push_all(ring.shared_producer().value());
    }
  });
  for (std::uint64_t n = 0; n < kMessages; ++n) {
    std::uint64_t got = 0;
    ASSERT_EQ(consumer.pop(got, std::chrono::hours(1), at_once), Pull::ok);
    ASSERT_EQ(got, n);
  }
  produces.join();
}

TEST_P(ReliableRing, AProducerDoesNotSleepWhereThereIsRoom) {
  RingOptions wakeable = options(4);
  wakeable.wakeable = true;
  auto ring = Ring<std::uint64_t>::make(wakeable).value();
  const auto sleep = [](auto producer, bool fill) {
    while (fill && producer.try_push(1) == Push::ok) {
    }
    return producer.sleep(fill ? Nanos{1} : Nanos{std::chrono::hours(1)});
  };
  auto consumer = ring.consumer({.reliable = true}).value();
  for (const bool fill : {false, true}) {
    if (GetParam() == RingKind::single_producer) {
      EXPECT_EQ(sleep(ring.single_producer().value(), fill), fill);
    } else {
      EXPECT_EQ(sleep(ring.shared_producer().value(), fill), fill);
    }
  }
}

TEST_P(ReliableRing, WhoLeavesOrIsSentAwayWakesProducers) {
  RingOptions wakeable = options(2);
  wakeable.wakeable = true;
  auto ring = Ring<std::uint64_t>::make(wakeable).value();
  const Waiting at_once{.looks = 0, .yields = 0, .sleeps = true, .sleep_at_most = Nanos::max()};
  for (int how = 0; how < 3; ++how) {
    auto consumer = std::make_optional(ring.consumer({.reliable = true}).value());
    auto member = std::make_optional(ring.member("work", {.reliable = true}).value());
    std::thread produces([&] {
      const auto push_some = [&](auto producer) {
        for (std::uint64_t n = 0; n < 3; ++n) {
          ASSERT_EQ(producer.push(n, std::chrono::hours(1), OnSlow::give_up, at_once), Push::ok);
        }
      };
      if (GetParam() == RingKind::single_producer) {
        push_some(ring.single_producer().value());
      } else {
        push_some(ring.shared_producer().value());
      }
    });
    std::uint64_t got = 0;
    while (ring.core().frontier() % 3 < 2) std::this_thread::yield();
    if (how == 0) {
      consumer.reset();
    } else if (how == 1) {
      EXPECT_TRUE(ring.core().evict_seat(0, Eviction::asked));
    } else {
      while (consumer->try_pop(got) == Pull::ok) {
      }
    }
    for (int taken = 0; taken < 2;) {
      if (member->try_pop(got) == Pull::ok) ++taken;
    }
    member.reset();
    EXPECT_TRUE(ring.remove_group("work"));
    produces.join();
  }
}

TEST_P(ReliableRing, AStopEndsAWait) {
  RingOptions wakeable = options(2);
  wakeable.wakeable = true;
  auto ring = Ring<std::uint64_t>::make(wakeable).value();
  AnyProducer producer(ring);
  auto consumer = ring.consumer({.reliable = true}).value();
  core::StopToken stop;
  const auto waker = stop.add_waker([&] { ring.wake_all(); });
  Waiting waits{.looks = 0, .yields = 0, .sleeps = true, .sleep_at_most = Nanos::max()};
  waits.stop = &stop;
  std::thread asks([&] { stop.request({"the test", "it is over", nullptr}); });
  std::uint64_t got = 0;
  EXPECT_EQ(consumer.pop(got, std::chrono::hours(1), waits), Pull::empty);
  asks.join();
  produce(producer, 0, 2);
  EXPECT_EQ(producer.push(2, std::chrono::hours(1), OnSlow::evict, RealClock(), waits), Push::full);
  EXPECT_FALSE(consumer.is_evicted());
  stop.remove_waker(waker);
}

TEST(Reliable, IsOfRingsThatWereMadeSo) {
  auto ring = Ring<int>::make({}).value();
  const auto consumer = ring.consumer({.reliable = true});
  ASSERT_FALSE(consumer);
  EXPECT_NE(consumer.error().message.find("make it with reliable = true"), std::string::npos);
}

}  // namespace
}  // namespace leat::queue
