#include <leat/base/histogram.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace leat {
namespace {

TEST(Histogram, OfNothingAnswersZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  EXPECT_EQ(histogram.mean(), 0.0);
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (std::uint64_t i = 1; i <= 100; ++i) histogram.record(i);
  EXPECT_EQ(histogram.quantile(0.5), 50U);
  EXPECT_EQ(histogram.quantile(0.99), 99U);
  EXPECT_EQ(histogram.quantile(0), 1U);
  EXPECT_EQ(histogram.quantile(1), 100U);
  EXPECT_DOUBLE_EQ(histogram.mean(), 50.5);
}

TEST(Histogram, IsWithinOneHundredTwentyEighthForAnyValue) {
  Rng rng(7);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t value = rng.next() >> rng.below(64);
    Histogram histogram;
    histogram.record(value);
    histogram.record(UINT64_MAX);  // so that the maximum does not clamp the answer
    const std::uint64_t answer = histogram.quantile(0.5);
    ASSERT_GE(answer, value);
    ASSERT_LE(answer - value, value / 128);
  }
}

TEST(Histogram, AgreesWithSortingOnEveryQuantile) {
  Rng rng(8);
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(rng.next() >> (20 + rng.below(40)));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * 5000)) - 1;
    const std::uint64_t exact = values[rank];
    EXPECT_GE(histogram.quantile(q), exact);
    EXPECT_LE(histogram.quantile(q), exact + exact / 128);
  }
}

TEST(Histogram, CountsFromAValueOnWithItsWholeBucket) {
  Histogram histogram;
  EXPECT_EQ(histogram.count_from(0), 0U);
  histogram.record(100, 2);
  histogram.record(1024);
  histogram.record(5000);
  EXPECT_EQ(histogram.count_from(0), 4U);
  EXPECT_EQ(histogram.count_from(100), 4U);
  EXPECT_EQ(histogram.count_from(101), 2U);
  EXPECT_EQ(histogram.count_from(1024), 2U);
  EXPECT_EQ(histogram.count_from(1031), 2U);  // [1024, 1032) is one bucket
  EXPECT_EQ(histogram.count_from(1032), 1U);
  EXPECT_EQ(histogram.count_from(UINT64_MAX), 0U);
}

TEST(Histogram, TakesTheLargestValue) {
  Histogram histogram;
  histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.quantile(0.5), UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
}

TEST(Histogram, MergedIsAsIfOneHadRecordedAll) {
  Histogram a;
  Histogram b;
  a.record(10, 3);
  b.record(1000);
  b.record(2);
  a.merge(b);
  EXPECT_EQ(a.count(), 5U);
  EXPECT_EQ(a.min(), 2U);
  EXPECT_EQ(a.max(), 1000U);
  EXPECT_EQ(a.quantile(0.5), 10U);
}

TEST(Histogram, ForgetsEverythingWhenCleared) {
  Histogram histogram;
  histogram.record(5);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  histogram.record(7);
  EXPECT_EQ(histogram.min(), 7U);
  EXPECT_EQ(histogram.quantile(0.5), 7U);
}

}  // namespace
}  // namespace leat
