#include <leat/progress/antichain.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <sstream>
#include <unordered_set>

#include <gtest/gtest.h>

#include <leat/progress/product.hpp>

namespace leat::progress {
namespace {

using Grid = Product<std::uint64_t, std::uint64_t>;
using Line = Antichain<std::uint64_t>;

TEST(Antichain, InsertKeepsTheMinimalElements) {
  Line line;
  EXPECT_TRUE(line.insert(2));
  EXPECT_FALSE(line.insert(3));
  EXPECT_FALSE(line.insert(2));
  EXPECT_TRUE(line.insert(1));
  EXPECT_EQ(line, Line(1));

  Antichain<Grid> grid;
  EXPECT_TRUE(grid.insert({3, 7}));
  EXPECT_TRUE(grid.insert({4, 6}));
  EXPECT_TRUE(grid.insert({7, 3}));
  EXPECT_TRUE(grid.insert({4, 2}));
  EXPECT_FALSE(grid.insert({4, 2}));
  EXPECT_EQ(grid, (Antichain<Grid>{{3, 7}, {4, 2}}));
}

TEST(Antichain, SaysWhichTimesMayStillCome) {
  const Antichain<Grid> grid{{3, 7}, {4, 2}};
  EXPECT_TRUE(grid.less_equal({4, 2}));
  EXPECT_FALSE(grid.less_than({4, 2}));
  EXPECT_TRUE(grid.less_than({4, 3}));
  EXPECT_FALSE(grid.less_equal({3, 6}));
  EXPECT_FALSE(grid.less_equal({9, 1}));
}

TEST(Antichain, EmptyIsTheTop) {
  const Line empty;
  EXPECT_FALSE(empty.less_equal(0));
  EXPECT_LT(Line(1'000'000), empty);
  EXPECT_LE(empty, empty);
  EXPECT_FALSE(empty <= Line(0));
}

TEST(Antichain, ComparesByWhatMayCome) {
  const Antichain<Grid> low{{0, 1}, {1, 0}};
  const Antichain<Grid> high{{1, 1}};
  const Antichain<Grid> aside{{0, 2}};
  EXPECT_LT(low, high);
  EXPECT_LT(low, aside);
  EXPECT_EQ(high <=> aside, std::partial_ordering::unordered);
  EXPECT_EQ(low <=> low, std::partial_ordering::equivalent);
}

TEST(Antichain, EqualityAndHashIgnoreTheOrderOfInsertion) {
  Antichain<Grid> a;
  a.extend(std::initializer_list<Grid>{{0, 9}, {1, 8}, {2, 7}});
  Antichain<Grid> b;
  b.extend(std::initializer_list<Grid>{{2, 7}, {0, 9}, {1, 8}});
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::hash<Antichain<Grid>>{}(a), std::hash<Antichain<Grid>>{}(b));
  const Antichain<Grid> c{{0, 9}, {1, 8}};
  EXPECT_NE(a, c);
  EXPECT_NE(a.hash(), c.hash());
  EXPECT_EQ((std::unordered_set<Antichain<Grid>>{a, b, c}.size()), 2U);
}

TEST(Antichain, OffersTheOneElementOfATotalOrder) {
  Line line;
  EXPECT_EQ(line.as_option(), nullptr);
  line.insert(7);
  ASSERT_NE(line.as_option(), nullptr);
  EXPECT_EQ(*line.as_option(), 7U);
}

TEST(Antichain, SortsWithoutChange) {
  Antichain<Grid> grid{{2, 7}, {0, 9}, {1, 8}};
  const auto before = grid;
  grid.sort();
  EXPECT_EQ(grid[0], (Grid{0, 9}));
  EXPECT_EQ(grid[2], (Grid{2, 7}));
  EXPECT_EQ(grid, before);
}

TEST(AntichainRef, ViewsAndComparesWithOwners) {
  const Antichain<Grid> owner{{0, 1}, {1, 0}};
  const AntichainRef<Grid> view = owner;
  EXPECT_TRUE(view == owner);
  EXPECT_TRUE(owner == view);
  EXPECT_TRUE(view <= owner);
  EXPECT_TRUE(view.less_equal({1, 0}));
  EXPECT_EQ(view.to_owned(), owner);
  EXPECT_TRUE(AntichainRef<Grid>{}.empty());
}

TEST(Antichain, PrintsAsASet) {
  std::ostringstream out;
  out << Antichain<Grid>{{0, 1}, {1, 0}} << Line();
  EXPECT_EQ(out.str(), "{(0, 1), (1, 0)}{}");
}

}  // namespace
}  // namespace leat::progress
