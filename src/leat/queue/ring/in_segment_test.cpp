// Rings in segments: several handles of one process stand for several processes; tests/crash has real ones.
#include <leat/queue/ring/in_segment.hpp>

#include <leat/base/fields.hpp>
#include <leat/core/segment/test_segments.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace leat::queue {
namespace {

struct Quote {
  std::uint64_t instrument = 0;
  double price = 0;
};
LEAT_FIELDS(Quote, instrument, price);

struct Trade {
  std::uint64_t instrument = 0;
  double volume = 0;
};
LEAT_FIELDS(Trade, instrument, volume);

class RingInSegment : public testing::Test {
 protected:
  [[nodiscard]] core::SegmentName name() const {
    return {.name = "quotes", .base = folder_.path()};
  }

 private:
  core::TestFolder folder_;
};

TEST_F(RingInSegment, CarriesMessagesBetweenThoseWhoJoined) {
  auto maker = create_ring<Quote>(name(), {.slots = 8, .reliable = true}).value();
  auto joiner = join_ring<Quote>(name()).value();
  EXPECT_EQ(joiner.shape(), maker.shape());
  auto consumer = joiner.consumer({.label = "book", .reliable = true}).value();
  auto producer = maker.single_producer("feed").value();
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_EQ(producer.try_push({i, 0.5 * static_cast<double>(i)}), Push::ok);
  }
  EXPECT_EQ(producer.try_push({}), Push::full);
  Quote got;
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got.instrument, i);
  }
  EXPECT_FALSE(joiner.single_producer());  // the maker has that place, and lives
  EXPECT_EQ(maker.report().seats.size(), 2U);
}

TEST_F(RingInSegment, IsMadeByTheFirstAndJoinedByTheOthers) {
  auto first = create_or_join_ring<Quote>(name(), {.slots = 64}).value();
  auto second = create_or_join_ring<Quote>(name(), {.slots = 16}).value();  // more is there: fine
  EXPECT_EQ(second.shape().slots, 64U);
  EXPECT_FALSE(create_ring<Quote>(name(), {}));
}

TEST_F(RingInSegment, NamesWhatDiffers) {
  auto ring = create_ring<Quote>(name(), {.slots = 8}).value();
  const auto type = join_ring<Trade>(name());
  ASSERT_FALSE(type);
  EXPECT_NE(type.error().message.find("Trade"), std::string::npos) << type.error().message;
  EXPECT_NE(type.error().message.find("Quote"), std::string::npos) << type.error().message;
  const auto kind =
      create_or_join_ring<Quote>(name(), {.kind = RingKind::many_producers, .slots = 8});
  ASSERT_FALSE(kind);
  EXPECT_NE(kind.error().message.find("mpmc"), std::string::npos) << kind.error().message;
  EXPECT_NE(kind.error().message.find("spmc"), std::string::npos) << kind.error().message;
  EXPECT_FALSE(create_or_join_ring<Quote>(name(), {.slots = 8, .reliable = true}));
  EXPECT_FALSE(create_or_join_ring<Quote>(name(), {.slots = 16}));
  EXPECT_FALSE(join_spsc<Quote>(name()));
}

TEST_F(RingInSegment, MayBeLookedAtByWhoWritesNothing) {
  auto ring = create_ring<Quote>(name(), {.slots = 8}).value();
  auto producer = ring.single_producer().value();
  ASSERT_EQ(producer.try_push({1, 1}), Push::ok);
  auto observer = observe_ring<Quote>(name()).value();
  auto consumer = observer.consumer({.start = StartAt::oldest()}).value();
  Quote got;
  ASSERT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got.instrument, 1U);
  EXPECT_EQ(consumer.try_pop(got), Pull::empty);
  for (std::uint64_t i = 0; i < 30; ++i) ASSERT_EQ(producer.try_push({i, 1}), Push::ok);
  EXPECT_EQ(consumer.try_pop(got), Pull::lost);
  EXPECT_EQ(ring.report().seats.size(), 1U);
  EXPECT_EQ(observer.report().frontier, 31U);
  EXPECT_FALSE(observer.single_producer());
  EXPECT_FALSE(observer.consumer({.reliable = true}));
  EXPECT_FALSE(observer.member("work"));
  EXPECT_EQ(observer.repair(), 0U);
}

TEST_F(RingInSegment, WhoLeavesTheSegmentGivesUpItsSeats) {
  auto ring = create_ring<Quote>(name(), {}).value();
  {
    auto other = join_ring<Quote>(name()).value();
    auto producer = other.single_producer().value();
    EXPECT_FALSE(ring.single_producer());
  }
  EXPECT_TRUE(ring.single_producer());
}

TEST_F(RingInSegment, IsReplacedWithoutDisturbingWhoUsesTheOldOne) {
  auto old = create_ring<Quote>(name(), {.slots = 8}).value();
  auto producer = old.single_producer().value();
  auto consumer = old.consumer().value();
  auto next = replace_ring<Trade>(name(), {.slots = 16}).value();
  EXPECT_EQ(next.shape().slots, 16U);
  ASSERT_EQ(producer.try_push({7, 7}), Push::ok);
  Quote got;
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_FALSE(join_ring<Quote>(name()));
}

TEST_F(RingInSegment, CanBeInspectedWithoutKnowingItsType) {
  auto ring = create_ring<Quote>(name(), {.slots = 8}).value();
  auto producer = ring.single_producer("feed").value();
  ASSERT_EQ(producer.try_push({}), Push::ok);
  auto core = inspect_ring(core::Segment::observe(name()).value()).value();
  const RingReport report = core->report();
  EXPECT_EQ(report.frontier, 1U);
  ASSERT_EQ(report.seats.size(), 1U);
  EXPECT_EQ(report.seats[0].label, "feed");
}

TEST_F(RingInSegment, OfOneProducerAndOneConsumer) {
  auto first = create_or_join_spsc<Quote>(name(), {.slots = 4}).value();
  auto second = join_spsc<Quote>(name()).value();
  EXPECT_EQ(second.shape().slots, 4U);
  auto producer = first.producer().value();
  auto consumer = second.consumer().value();
  EXPECT_FALSE(second.producer());
  ASSERT_EQ(producer.try_push({3, 3}), Push::ok);
  Quote got;
  ASSERT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got.instrument, 3U);
  EXPECT_FALSE(join_ring<Quote>(name()));
}

}  // namespace
}  // namespace leat::queue
