#include "flat_table.hpp"

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <cstdint>
#include <map>
#include <utility>

namespace leat::tool {
namespace {

TEST(FlatTable, SaysWhetherAPairIsNew) {
  FlatTable<Nothing> table;
  EXPECT_FALSE(table.contains(1, 2));
  EXPECT_TRUE(table.find_or_insert(1, 2).second);
  EXPECT_FALSE(table.find_or_insert(1, 2).second);
  EXPECT_TRUE(table.find_or_insert(2, 1).second);
  EXPECT_TRUE(table.contains(1, 2));
  EXPECT_FALSE(table.contains(1, 3));
  EXPECT_EQ(table.size(), 2U);
}

TEST(FlatTable, IsAMapThroughAllItsGrowth) {
  FlatTable<std::uint32_t> table;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
  Rng rng(7);
  for (int i = 0; i < 100000; ++i) {
    const auto high = static_cast<std::uint32_t>(rng.below(300));
    const auto low = static_cast<std::uint32_t>(rng.below(300));
    ++table.find_or_insert(high, low).first;
    ++expected[{high, low}];
  }
  EXPECT_EQ(table.size(), expected.size());
  for (const auto& [pair, count] : expected) {
    const auto [value, is_new] = table.find_or_insert(pair.first, pair.second);
    EXPECT_FALSE(is_new);
    EXPECT_EQ(value, count);
  }
}

TEST(FlatTable, TakesTheEdgesOfTheNumbers) {
  FlatTable<Nothing> table;
  EXPECT_TRUE(table.find_or_insert(0, 0).second);
  EXPECT_TRUE(table.find_or_insert(0, UINT32_MAX).second);
  EXPECT_TRUE(table.find_or_insert(UINT32_MAX, 0).second);
  EXPECT_EQ(table.size(), 3U);
}

}  // namespace
}  // namespace leat::tool
