#include <leat/progress/order.hpp>

#include <chrono>
#include <cstdint>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include <leat/progress/print.hpp>
#include <leat/progress/product.hpp>

namespace leat::progress {
namespace {

using Grid = Product<std::uint64_t, std::uint64_t>;

static_assert(PartiallyOrdered<std::uint64_t> && PartiallyOrdered<Unit> && PartiallyOrdered<Grid>);
static_assert(PartiallyOrdered<std::pair<int, Grid>>);
static_assert(!PartiallyOrdered<double>);
static_assert(Order<int>::is_total && Order<Unit>::is_total);
static_assert(Order<std::pair<int, int>>::is_total && !Order<std::pair<int, Grid>>::is_total);
static_assert(!Order<Grid>::is_total);
static_assert(Order<Product<Unit, int>>::is_total && Order<Product<int, Unit>>::is_total);
static_assert(!Order<Product<Unit, Grid>>::is_total);

template <class T>
std::string text(const T& time) {
  std::ostringstream out;
  print_time(out, time);
  return out.str();
}

TEST(Order, IntegersAndDurationsCompareAsNumbers) {
  EXPECT_TRUE(less_equal(-3, 2));
  EXPECT_TRUE(less_equal(2, 2));
  EXPECT_FALSE(less_equal(3, 2));
  EXPECT_TRUE(less_than(1, 2));
  EXPECT_FALSE(less_than(2, 2));
  EXPECT_TRUE(less_equal(std::chrono::seconds(1), std::chrono::seconds(2)));
}

TEST(Order, UnitIsLessOrEqualToItselfOnly) {
  EXPECT_TRUE(less_equal(Unit{}, Unit{}));
  EXPECT_FALSE(less_than(Unit{}, Unit{}));
}

TEST(Order, PairsAreLexicographic) {
  using Pair = std::pair<int, int>;
  EXPECT_TRUE(less_equal(Pair{1, 9}, Pair{2, 0}));
  EXPECT_TRUE(less_equal(Pair{1, 9}, Pair{1, 9}));
  EXPECT_FALSE(less_equal(Pair{1, 9}, Pair{1, 8}));
}

TEST(Order, PairsOfPartialPartsLeaveIncomparableFirstsIncomparable) {
  using Pair = std::pair<Grid, int>;
  const Pair a{{0, 1}, 5};
  const Pair b{{1, 0}, 7};
  EXPECT_FALSE(less_equal(a, b));
  EXPECT_FALSE(less_equal(b, a));
  EXPECT_TRUE(less_equal(a, Pair{{0, 2}, 0}));
}

TEST(Order, ProductsGoByComponentAndSortLexicographically) {
  const Grid a{0, 1};
  const Grid b{1, 0};
  EXPECT_FALSE(less_equal(a, b));
  EXPECT_FALSE(less_equal(b, a));
  EXPECT_LT(a, b);
  EXPECT_TRUE(less_equal(a, Grid{1, 1}));
  EXPECT_TRUE(less_than(a, Grid{0, 2}));
  EXPECT_FALSE(less_than(a, a));
}

TEST(Product, EqualTimesHashEqualAndOrderOfPartsMatters) {
  const std::hash<Grid> hash;
  EXPECT_EQ(hash(Grid{1, 2}), hash(Grid{1, 2}));
  EXPECT_NE(hash(Grid{1, 2}), hash(Grid{2, 1}));
}

TEST(Product, PrintsAsATuple) {
  std::ostringstream out;
  out << Product{Product{std::uint64_t{3}, Unit{}}, std::uint8_t{7}};
  EXPECT_EQ(out.str(), "((3, ()), 7)");
}

TEST(PrintTime, NamesUnitsOfDurationsAndWritesSmallIntegersAsNumbers) {
  using namespace std::chrono;
  EXPECT_EQ(text(nanoseconds(250)), "250ns");
  EXPECT_EQ(text(microseconds(250)), "250us");
  EXPECT_EQ(text(milliseconds(250)), "250ms");
  EXPECT_EQ(text(seconds(250)), "250s");
  EXPECT_EQ(text(minutes(2)), "2*60/1s");
  EXPECT_EQ(text(std::pair<std::int8_t, Grid>(-1, {2, 3})), "(-1, (2, 3))");
  EXPECT_EQ(text(Unit{}), "()");
}

}  // namespace
}  // namespace leat::progress
