#include <leat/queue/ring/spsc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace leat::queue {
namespace {

TEST(SpscRing, RefusesWhenFullAndAcceptsAfterOnePop) {
  auto ring = SpscRing<int>::make({.slots = 4}).value();
  auto producer = ring.producer().value();
  auto consumer = ring.consumer().value();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(producer.try_push(i), Push::ok);
  EXPECT_EQ(producer.try_push(4), Push::full);
  EXPECT_EQ(ring.size_approx(), 4U);
  int got = -1;
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(producer.try_push(4), Push::ok);
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, i);
  }
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
}

TEST(SpscRing, WorksWithOneSlot) {
  auto ring = SpscRing<int>::make({.slots = 1}).value();
  auto producer = ring.producer().value();
  auto consumer = ring.consumer().value();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(producer.try_push(i), Push::ok);
    EXPECT_EQ(producer.try_push(i), Push::full);
    int got = -1;
    EXPECT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, i);
  }
}

TEST(SpscRing, MovesBatchesAroundTheEnd) {
  auto ring = SpscRing<int>::make({.slots = 8}).value();
  auto producer = ring.producer().value();
  auto consumer = ring.consumer().value();
  std::vector<int> in(5);
  int sent = 0;
  int received = 0;
  for (int round = 0; round < 10; ++round) {
    std::iota(in.begin(), in.end(), sent);
    sent += static_cast<int>(producer.try_push_batch(in));
    std::array<int, 3> out{};
    const std::size_t count = consumer.try_pop_batch(out);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(out[i], received++);
  }
  EXPECT_EQ(producer.credit() + ring.size_approx(), 8U);
  EXPECT_LE(received, sent);
  EXPECT_EQ(producer.try_push_batch({}), 0U);
}

TEST(SpscRing, ShowsARecordInItsPlaceUntilItIsDropped) {
  auto ring = SpscRing<int>::make({.slots = 2}).value();
  auto producer = ring.producer().value();
  auto consumer = ring.consumer().value();
  EXPECT_EQ(consumer.peek(), nullptr);
  EXPECT_EQ(producer.try_push(7), Push::ok);
  ASSERT_NE(consumer.peek(), nullptr);
  EXPECT_EQ(*consumer.peek(), 7);
  consumer.drop();
  EXPECT_EQ(consumer.peek(), nullptr);
}

TEST(SpscRing, EachEndIsOnesUntilHeLeavesAndGoesOnWhereHeWas) {
  auto ring = SpscRing<int>::make({.slots = 4}).value();
  {
    auto producer = ring.producer().value();
    EXPECT_NE(ring.producer().error().message.find("not proven dead"), std::string::npos);
    EXPECT_EQ(producer.try_push(1), Push::ok);
  }
  auto producer = ring.producer().value();
  EXPECT_EQ(producer.try_push(2), Push::ok);
  int got = 0;
  {
    auto consumer = ring.consumer().value();
    EXPECT_FALSE(ring.consumer());
    EXPECT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, 1);
  }
  auto consumer = ring.consumer().value();
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 2);
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
}

TEST(SpscRing, WaitsNoLongerThanItIsTold) {
  SettableClock clock;
  auto ring = SpscRing<int>::make({.slots = 4, .wakeable = true}).value();
  auto consumer = ring.consumer().value();
  int got = 0;
  EXPECT_EQ(consumer.pop(got, Nanos{0}, Waiting::sleeping(), clock), Pull::empty);
  auto producer = ring.producer().value();
  EXPECT_EQ(producer.try_push(3), Push::ok);
  EXPECT_EQ(consumer.pop(got, Nanos{0}, Waiting::sleeping(), clock), Pull::ok);
  EXPECT_EQ(got, 3);
}

TEST(SpscRing, SaysWhichSlotsCanBe) {
  EXPECT_NE(SpscRing<int>::make({.slots = 0}).error().message.find("asked 0 slots"),
            std::string::npos);
  EXPECT_EQ(SpscRing<int>::make({.slots = 5}).value().shape().slots, 8U);
}

}  // namespace
}  // namespace leat::queue
