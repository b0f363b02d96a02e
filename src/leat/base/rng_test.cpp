#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace leat {
namespace {

static_assert(std::uniform_random_bit_generator<Rng>);

TEST(Rng, GivesTheSameWordsForTheSameSeed) {
  Rng a(42);
  Rng b(42);
  Rng c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t word = a();
    EXPECT_EQ(word, b());
    differs |= word != c();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, StartsWellFromSeedZero) {
  Rng rng(0);
  EXPECT_NE(rng.next(), 0U);
  EXPECT_NE(rng.next(), rng.next());
}

TEST(Rng, BelowStaysBelowAndReachesEveryResult) {
  Rng rng(1);
  std::array<int, 7> hits{};
  for (int i = 0; i < 7000; ++i) {
    const std::uint64_t n = rng.below(7);
    ASSERT_LT(n, 7U);
    ++hits[n];
  }
  for (const int n : hits) EXPECT_NEAR(n, 1000, 200);
  EXPECT_EQ(rng.below(1), 0U);
}

TEST(Rng, BelowIsEvenWhereNIsNearTheWholeRange) {
  // Three quarters of 2^64: without rejection the low third would come up twice as often.
  const std::uint64_t n = 0xc000000000000000U;
  Rng rng(2);
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.below(n) < n / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 400);
}

TEST(Rng, UnitIsInTheHalfOpenIntervalWithMeanOneHalf) {
  Rng rng(3);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double u = rng.unit();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Rng, ShufflesForTheStandardLibrary) {
  std::vector<int> values(20);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> shuffled = values;
  std::shuffle(shuffled.begin(), shuffled.end(), Rng(4));
  EXPECT_NE(shuffled, values);
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), values.begin()));
}

TEST(RngDeathTest, RefusesToDrawBelowZero) {
  Rng rng(5);
  EXPECT_DEATH(rng.below(0), "below zero");
}

}  // namespace
}  // namespace leat
