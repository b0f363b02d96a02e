#include <leat/progress/timestamp.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace leat::progress {
namespace {

using Loop = Product<std::uint64_t, std::uint32_t>;

static_assert(Timestamp<std::uint64_t> && Timestamp<std::int32_t> && Timestamp<Unit>);
static_assert(Timestamp<std::chrono::nanoseconds>);
static_assert(Timestamp<Loop> && Timestamp<Product<Loop, std::uint32_t>>);
static_assert(Timestamp<std::pair<std::uint64_t, Loop>>);
static_assert(!Timestamp<bool> && !Timestamp<double>);
static_assert(RefinementOf<Loop, std::uint64_t> && RefinementOf<Loop, Loop>);
static_assert(RefinementOf<Product<Loop, int>, Loop> && RefinementOf<Loop, Unit>);
static_assert(RefinementOf<Product<Unit, int>, Unit> && RefinementOf<std::pair<Unit, int>, Unit>);
static_assert(RefinementOf<std::pair<int, int>, int> && RefinementOf<Unit, Unit>);
static_assert(!RefinementOf<std::uint64_t, std::uint32_t>);

template <class T>
std::optional<T> after(const SummaryOf<T>& summary, const T& time) {
  return PathSummary<T>::results_in(summary, time);
}

TEST(Timestamp, MinimumIsTheLeastOfTheRangeExceptThatDurationsBeginAtZero) {
  EXPECT_EQ(TimestampTraits<std::uint64_t>::minimum(), 0U);
  EXPECT_EQ(TimestampTraits<std::int64_t>::minimum(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(TimestampTraits<std::chrono::nanoseconds>::minimum().count(), 0);
  EXPECT_EQ(TimestampTraits<Loop>::minimum(), (Loop{0, 0}));
  EXPECT_EQ((TimestampTraits<std::pair<std::int8_t, std::uint8_t>>::minimum()),
            (std::pair<std::int8_t, std::uint8_t>{-128, 0}));
}

TEST(PathSummary, DefaultIsTheIdentity) {
  EXPECT_EQ(after<std::uint64_t>({}, 7), 7U);
  EXPECT_EQ(after<Loop>({}, {7, 2}), (Loop{7, 2}));
  EXPECT_EQ(after<Unit>({}, {}), Unit{});
  EXPECT_EQ(after<std::chrono::seconds>({}, std::chrono::seconds(7)), std::chrono::seconds(7));
}

TEST(PathSummary, OverflowIsNoTimeAndNeverWraps) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(after<std::uint64_t>(1, kMost), std::nullopt);
  EXPECT_EQ(after<std::int8_t>(1, 127), std::nullopt);
  EXPECT_EQ(after<std::int8_t>(-1, -128), std::nullopt);
  EXPECT_EQ(after<std::uint8_t>(200, 100), std::nullopt);
  EXPECT_EQ(after<Loop>({0, 1}, {0, std::numeric_limits<std::uint32_t>::max()}), std::nullopt);
  EXPECT_EQ(after<Loop>({1, 0}, {kMost, 0}), std::nullopt);
  EXPECT_EQ((after<std::pair<int, std::uint8_t>>({0, 1}, {0, 255})), std::nullopt);
  EXPECT_EQ(
      after<std::chrono::nanoseconds>(std::chrono::nanoseconds(1), std::chrono::nanoseconds::max()),
      std::nullopt);
  EXPECT_EQ(PathSummary<std::uint64_t>::followed_by(kMost, 1), std::nullopt);
  EXPECT_EQ(PathSummary<Loop>::followed_by({kMost, 0}, {1, 0}), std::nullopt);
}

TEST(PathSummary, SignedSummariesMayMoveTimesBack) { EXPECT_EQ(after<int>(-3, 2), -1); }

TEST(Refines, ALoopIsEnteredAtItsFirstRoundAndLeftAtTheOuterTime) {
  using Nest = Refines<Loop, std::uint64_t>;
  EXPECT_EQ(Nest::to_inner(4), (Loop{4, 0}));
  EXPECT_EQ(Nest::to_outer({4, 9}), 4U);
  EXPECT_EQ(Nest::summarize({2, 9}), 2U);
  using Lexicographic = Refines<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
  EXPECT_EQ(Lexicographic::to_inner(4), (std::pair<std::uint64_t, std::uint32_t>{4, 0}));
  EXPECT_EQ(Lexicographic::summarize({2, 9}), 2U);
}

TEST(Refines, WhatEntersASignedScopeFromNoTimeArrivesAtZeroAlthoughItsMinimumIsLess) {
  EXPECT_EQ((Refines<std::int64_t, Unit>::to_inner({})), 0);
  EXPECT_LT(TimestampTraits<std::int64_t>::minimum(), 0);
  EXPECT_EQ((Refines<std::uint64_t, Unit>::to_inner({})), 0U);
  EXPECT_EQ((Refines<Product<Unit, int>, Unit>::to_inner({}).inner),
            std::numeric_limits<int>::min());
}

}  // namespace
}  // namespace leat::progress
