// Rings whose producers wait: credit, deadlines, eviction; who joins is not overtaken.
#include <leat/queue/ring/producer.hpp>

#include <leat/queue/ring/test_ring.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace leat::queue {
namespace {

using test::AnyProducer;
using test::Mortals;
using test::SharedMemory;

class ReliableRing : public testing::TestWithParam<RingKind> {
 protected:
  static RingOptions options(std::uint64_t slots) {
    return {.kind = GetParam(), .slots = slots, .reliable = true};
  }
};
std::string kind_name(const testing::TestParamInfo<RingKind>& kind) {
  return kind.param == RingKind::single_producer ? "Single" : "Many";
}
INSTANTIATE_TEST_SUITE_P(Kinds, ReliableRing, testing::ValuesIn(test::kKinds), kind_name);

template <class Producer>
void produce(Producer& producer, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t n = from; n < to; ++n) ASSERT_EQ(producer.try_push(n), Push::ok);
}

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

TEST(Reliable, IsOfRingsThatWereMadeSo) {
  auto ring = Ring<int>::make({}).value();
  const auto consumer = ring.consumer({.reliable = true});
  ASSERT_FALSE(consumer);
  EXPECT_NE(consumer.error().message.find("make it with reliable = true"), std::string::npos);
}

}  // namespace
}  // namespace leat::queue
