#include <leat/base/hash.hpp>

#include <gtest/gtest.h>
#include <set>

namespace leat {
namespace {

// Routing between processes rests on these numbers: a change is a change of the protocol.
TEST(Hash, GivesTheNumbersItHasAlwaysGiven) {
  EXPECT_EQ(mix64(0), 0U);
  EXPECT_EQ(mix64(1), 0x5692161d100b05e5U);
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
}

TEST(Hash, ReadsBytesAboveOneHundredTwentySevenAsUnsigned) {
  EXPECT_EQ(fnv1a("\xff"), (0xcbf29ce484222325U ^ 0xffU) * 0x100000001b3U);
}

TEST(Hash, Mix64SpreadsSmallNumbersOverTheLowBits) {
  std::set<std::uint64_t> low;
  for (std::uint64_t i = 0; i < 64; ++i) low.insert(mix64(i << 32) & 0xff);
  EXPECT_GT(low.size(), 48U);
}

TEST(Hash, CombineHeedsTheOrder) {
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
  EXPECT_NE(hash_combine(0, 0), 0U);
}

}  // namespace
}  // namespace leat
