#include <leat/progress/mutable_antichain.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/progress/product.hpp>

namespace leat::progress {
namespace {

using Grid = Product<std::uint64_t, std::uint64_t>;
using Line = MutableAntichain<std::uint64_t>;

template <class T>
using Reports = std::vector<std::pair<T, int>>;

template <class T>
Reports<T> update(MutableAntichain<T>& counts, std::type_identity_t<T> time, std::int64_t diff) {
  Reports<T> reports;
  counts.update(time, diff, [&](const T& changed, int by) { reports.emplace_back(changed, by); });
  return reports;
}

TEST(MutableAntichain, ReportsWhatJoinsBeforeWhatLeaves) {
  Line line;
  using R = Reports<std::uint64_t>;
  EXPECT_EQ(update(line, 5, 1), (R{{5, 1}}));
  EXPECT_EQ(update(line, 6, 1), R{});
  EXPECT_EQ(update(line, 5, -1), (R{{6, 1}, {5, -1}}));
  EXPECT_EQ(update(line, 3, 2), (R{{3, 1}, {6, -1}}));
  EXPECT_EQ(update(line, 3, -1), R{});
  EXPECT_EQ(update(line, 3, -1), (R{{6, 1}, {3, -1}}));
  EXPECT_EQ(update(line, 6, -1), (R{{6, -1}}));
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(line.nonzero(), 0U);
}

TEST(MutableAntichain, KeepsNegativeCountsAndShowsOnlyPositiveOnes) {
  Line line;
  EXPECT_TRUE(update(line, 5, -2).empty());
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(line.nonzero(), 1U);
  EXPECT_EQ(line.count_for(5), -2);
  EXPECT_TRUE(update(line, 5, 2).empty());
  EXPECT_EQ(line.nonzero(), 0U);

  EXPECT_TRUE(update(line, 1, -1).empty());
  EXPECT_EQ(update(line, 2, 1), (Reports<std::uint64_t>{{2, 1}}));
  EXPECT_EQ(update(line, 1, 2), (Reports<std::uint64_t>{{1, 1}, {2, -1}}));
}

TEST(MutableAntichain, AnswersAsItsFrontier) {
  Line line;
  EXPECT_FALSE(line.less_equal(0));
  line.update(4, 3);
  line.update(7, 1);
  EXPECT_TRUE(line.less_equal(4));
  EXPECT_FALSE(line.less_than(4));
  EXPECT_TRUE(line.less_than(5));
  EXPECT_EQ(line.count_for(4), 3);
  EXPECT_EQ(line.count_for(5), 0);
  EXPECT_EQ(*line.frontier().as_option(), 4U);
}

TEST(MutableAntichain, StoresLittleAfterAThousandPairs) {
  Line line;
  line.update(7, 1);
  line.update(8, 1);
  for (int i = 0; i < 1000; ++i) {
    line.update(8, 1);
    line.update(8, -1);
  }
  for (std::uint64_t t = 9; t < 1009; ++t) {
    line.update(t, 1);
    line.update(t, -1);
  }
  EXPECT_LE(line.stored(), 32U);
  MutableAntichain<Grid> grid;
  grid.update({0, 0}, 1);
  for (std::uint64_t t = 0; t < 1000; ++t) {
    grid.update({t, 1000 - t}, 1);
    grid.update({t, 1000 - t}, -1);
  }
  EXPECT_LE(grid.stored(), 32U);
}

TEST(MutableAntichain, StoresLittleWhileTimeAdvances) {
  Line line(0);
  for (std::uint64_t t = 0; t < 1000; ++t) {
    line.update(t + 1, 1);
    line.update(t, -1);
    EXPECT_LE(line.stored(), 2U);
  }
  EXPECT_EQ(line.frontier()[0], 1000U);
}

TEST(MutableAntichain, ElementsThatWereCoveredComeBack) {
  MutableAntichain<Grid> grid;
  grid.update({2, 0}, 1);
  grid.update({0, 2}, 1);
  grid.update({2, 2}, 1);
  EXPECT_EQ(update(grid, {0, 0}, 1), (Reports<Grid>{{{0, 0}, 1}, {{2, 0}, -1}, {{0, 2}, -1}}));
  EXPECT_EQ(update(grid, {0, 0}, -1), (Reports<Grid>{{{0, 2}, 1}, {{2, 0}, 1}, {{0, 0}, -1}}));
  EXPECT_EQ(grid.frontier(), (Antichain<Grid>{{2, 0}, {0, 2}}));
}

TEST(MutableAntichain, UpdateAllReportsTheNetChange) {
  using Changes = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  Line line(5);
  Reports<std::uint64_t> reports;
  const auto note = [&](std::uint64_t time, int by) { reports.emplace_back(time, by); };
  line.update_all(Changes{{5, -1}, {2, 1}, {2, -1}, {5, 1}}, note);
  EXPECT_TRUE(reports.empty());
  line.update_all(Changes{{5, -1}, {6, 1}, {9, 1}, {6, -1}}, note);
  EXPECT_EQ(reports, (Reports<std::uint64_t>{{9, 1}, {5, -1}}));
}

TEST(MutableAntichain, TakesATimeThatLiesInItsOwnFrontier) {
  Line line(5);
  line.update(6, 1);
  while (!line.empty()) line.update(line.frontier()[0], -1);
  MutableAntichain<Grid> grid;
  for (std::uint64_t t = 0; t < 9; ++t) grid.update({t, 9 - t}, 1);
  while (!grid.empty()) grid.update(grid.frontier()[0], -1);
  EXPECT_EQ(grid.nonzero(), 0U);
}

TEST(MutableAntichain, ListsWhatIsOutstandingInOrder) {
  Line line(9);
  line.update(3, -2);
  line.update(4, 1);
  line.update(4, -1);
  std::vector<std::pair<std::uint64_t, std::int64_t>> listed;
  line.for_each([&](std::uint64_t time, std::int64_t count) { listed.emplace_back(time, count); });
  EXPECT_EQ(listed, (std::vector<std::pair<std::uint64_t, std::int64_t>>{{3, -2}, {9, 1}}));
}

TEST(MutableAntichain, CopiesAndMovesInPlaceAndOnTheHeap) {
  for (const std::uint64_t times : {1U, 2U, 50U}) {
    Line line;
    for (std::uint64_t t = 0; t < times; ++t) line.update(t + 3, 1);
    Line copy = line;
    line.update(3, -1);
    EXPECT_EQ(copy.frontier()[0], 3U);
    Line moved = std::move(copy);
    EXPECT_EQ(moved.nonzero(), times);
    EXPECT_EQ(moved.frontier()[0], 3U);
    EXPECT_TRUE(copy.empty());  // NOLINT: a moved-from antichain is empty
    copy.update(1, 1);
    copy = moved;
    moved.clear();
    EXPECT_TRUE(moved.empty());
    EXPECT_EQ(copy.nonzero(), times);
  }
}

// A time that owns memory: storage must copy, move and destroy it properly.
struct Path {
  std::string text;
  auto operator<=>(const Path&) const = default;
};

}  // namespace

template <>
struct Order<Path> {
  static constexpr bool is_total = true;
  static bool less_equal(const Path& a, const Path& b) { return a <= b; }
};

namespace {

TEST(MutableAntichain, HoldsTimesThatOwnMemory) {
  const auto path = [](int i) {
    return Path{"a path too long to be kept in place: " + std::to_string(1000 + i)};
  };
  MutableAntichain<Path> paths;
  for (int i = 0; i < 40; ++i) paths.update(path(39 - i), 1);
  for (int i = 0; i < 39; ++i) {
    EXPECT_EQ(paths.frontier()[0], path(i));
    paths.update(path(i), -1);
  }
  EXPECT_EQ(paths.frontier()[0], path(39));
  auto moved = std::move(paths);
  moved.update(path(39), -1);
  EXPECT_TRUE(moved.empty());
}

TEST(MutableAntichain, ReplacesATimeIfThatIsAllThereIs) {
  MutableAntichain<std::uint64_t> counts(3, 2);
  EXPECT_FALSE(counts.replace_only(3, 5, 1));  // one of two
  EXPECT_FALSE(counts.replace_only(4, 5, 2));
  EXPECT_TRUE(counts.replace_only(3, 5, 2));
  EXPECT_EQ(counts.count_for(5), 2);
  EXPECT_EQ(counts.count_for(3), 0);
  EXPECT_EQ(counts.frontier()[0], 5U);
  counts.update(7, 1);
  EXPECT_FALSE(counts.replace_only(5, 6, 2));
  MutableAntichain<std::uint64_t> owing(3, -1);
  EXPECT_FALSE(owing.replace_only(3, 5, -1));  // no frontier moves for a negative count
}

}  // namespace
}  // namespace leat::progress
