// Orders, path summaries and refinements against their laws.
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <leat/base/rng.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/product.hpp>
#include <leat/progress/timestamp.hpp>

#include "draw_time.hpp"
#include "property.hpp"

namespace leat::progress {
namespace {

using property::draw;

using Grid = Product<std::uint64_t, std::uint64_t>;
using Cube = Product<Grid, std::uint32_t>;
using Pair = std::pair<std::uint64_t, std::uint64_t>;
using GridPair = std::pair<Grid, std::uint32_t>;
using Nanos = std::chrono::nanoseconds;

template <class T>
class TimeLaws : public ::testing::Test {};
using Times = ::testing::Types<std::uint64_t, std::int32_t, Pair, Grid, Cube, GridPair, Nanos, Unit,
                               Product<Unit, std::uint64_t>>;
TYPED_TEST_SUITE(TimeLaws, Times);

TYPED_TEST(TimeLaws, OrderIsPartialAndLessIsALinearExtensionOfIt) {
  using T = TypeParam;
  Rng rng(property::seed());
  for (int round = 0; round < 5000; ++round) {
    const T a = draw<T>(rng, 4);
    const T b = draw<T>(rng, 4);
    const T c = draw<T>(rng, 4);
    LEAT_HOLDS(less_equal(a, a));
    LEAT_HOLDS((less_equal(a, b) && less_equal(b, a)) == (a == b));
    LEAT_HOLDS(!(less_equal(a, b) && less_equal(b, c)) || less_equal(a, c));
    LEAT_HOLDS(less_than(a, b) == (less_equal(a, b) && !(a == b)));
    LEAT_HOLDS(!less_than(a, b) || a < b);
    LEAT_HOLDS((a < b) + (b < a) + (a == b) == 1);
    LEAT_HOLDS(!Order<T>::is_total || less_equal(a, b) || less_equal(b, a));
    LEAT_HOLDS(less_equal(TimestampTraits<T>::minimum(), a));
  }
}

TYPED_TEST(TimeLaws, SummariesAreMonotoneAndCompose) {
  using T = TypeParam;
  using Summary = SummaryOf<T>;
  using Path = PathSummary<T>;
  Rng rng(property::seed());
  for (int round = 0; round < 5000; ++round) {
    const T time = draw<T>(rng, 6);
    const T later = draw<T>(rng, 6);
    const auto s = draw<Summary>(rng, 6);
    const auto r = draw<Summary>(rng, 6);
    LEAT_HOLDS(Path::results_in(Summary{}, time) == time);
    LEAT_HOLDS(Path::followed_by(Summary{}, s) == s);
    LEAT_HOLDS(Path::followed_by(s, Summary{}) == s);
    const auto at = Path::results_in(s, time);
    LEAT_HOLDS(at && less_equal(time, *at));
    LEAT_HOLDS(!less_equal(time, later) || less_equal(*at, *Path::results_in(s, later)));
    LEAT_HOLDS(!less_equal(s, r) || less_equal(*at, *Path::results_in(r, time)));
    const auto both = Path::followed_by(s, r);
    LEAT_HOLDS(both && Path::results_in(*both, time) == Path::results_in(r, *at));
  }
}

/// The sum in wider arithmetic, if it fits.
template <class T>
std::optional<T> wide_sum(T a, T b) {
  const int sum = int{a} + int{b};
  if (sum < std::numeric_limits<T>::min() || sum > std::numeric_limits<T>::max()) return {};
  return static_cast<T>(sum);
}

template <class T>
void expect_no_byte_wraps() {
  using Path = PathSummary<T>;
  for (int a = std::numeric_limits<T>::min(); a <= std::numeric_limits<T>::max(); ++a) {
    for (int b = std::numeric_limits<T>::min(); b <= std::numeric_limits<T>::max(); ++b) {
      const auto x = static_cast<T>(a);
      const auto y = static_cast<T>(b);
      LEAT_HOLDS(Path::results_in(x, y) == wide_sum(x, y));
      LEAT_HOLDS(Path::followed_by(x, y) == wide_sum(x, y));
    }
  }
}

TEST(SummaryLaws, NoSumOfBytesWraps) {
  expect_no_byte_wraps<std::uint8_t>();
  expect_no_byte_wraps<std::int8_t>();
}

TEST(SummaryLaws, ProductsKeepTheirLawsUpToTheEndOfTheRange) {
  using Bytes = Product<std::uint8_t, std::uint8_t>;
  using Path = PathSummary<Bytes>;
  // What cannot be represented is after everything.
  const auto before = [](const auto& a, const auto& b) { return !b || (a && less_equal(*a, *b)); };
  Rng rng(property::seed());
  for (int round = 0; round < 100'000; ++round) {
    const auto s = draw<Bytes>(rng, 256);
    const auto r = draw<Bytes>(rng, 256);
    const auto time = draw<Bytes>(rng, 256);
    const auto later = draw<Bytes>(rng, 256);
    const auto at = Path::results_in(s, time);
    LEAT_HOLDS(!less_equal(time, later) || before(at, Path::results_in(s, later)));
    LEAT_HOLDS(!less_equal(s, r) || before(at, Path::results_in(r, time)));
    const auto steps = at ? Path::results_in(r, *at) : std::nullopt;
    const auto both = Path::followed_by(s, r);
    LEAT_HOLDS((both ? Path::results_in(*both, time) : std::nullopt) == steps);
  }
}

template <class Inner, class Outer>
void expect_refinement() {
  using Nest = Refines<Inner, Outer>;
  static_assert(RefinementOf<Inner, Outer>);
  Rng rng(property::seed());
  for (int round = 0; round < 3000; ++round) {
    const auto outer = draw<Outer>(rng, 5);
    const auto outer_later = draw<Outer>(rng, 5);
    const auto inner = draw<Inner>(rng, 5);
    const auto inner_later = draw<Inner>(rng, 5);
    const auto summary = draw<SummaryOf<Inner>>(rng, 5);
    LEAT_HOLDS(Nest::to_outer(Nest::to_inner(outer)) == outer);
    LEAT_HOLDS(!less_equal(outer, outer_later) ||
               less_equal(Nest::to_inner(outer), Nest::to_inner(outer_later)));
    LEAT_HOLDS(!less_equal(inner, inner_later) ||
               less_equal(Nest::to_outer(inner), Nest::to_outer(inner_later)));
    LEAT_HOLDS(Nest::summarize(SummaryOf<Inner>{}) == SummaryOf<Outer>{});
    const auto claimed = PathSummary<Outer>::results_in(Nest::summarize(summary), outer);
    const auto taken = PathSummary<Inner>::results_in(summary, Nest::to_inner(outer));
    LEAT_HOLDS(claimed && taken);
    LEAT_HOLDS(less_equal(*claimed, Nest::to_outer(*taken)));
  }
}

TEST(RefinesLaws, MapsAreMonotoneAndInverseAndSummariesNeverClaimTooMuch) {
  expect_refinement<std::uint64_t, std::uint64_t>();
  expect_refinement<Cube, Cube>();
  expect_refinement<Grid, std::uint64_t>();
  expect_refinement<Cube, Grid>();
  expect_refinement<Pair, std::uint64_t>();
  expect_refinement<GridPair, Grid>();
  expect_refinement<std::uint64_t, Unit>();
  expect_refinement<std::int64_t, Unit>();
  expect_refinement<Nanos, Unit>();
  expect_refinement<Grid, Unit>();
  expect_refinement<Product<Unit, std::uint64_t>, Unit>();
  expect_refinement<Unit, Unit>();
}

}  // namespace
}  // namespace leat::progress
