#include <leat/comm/bytes/slab.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <leat/base/rng.hpp>

namespace leat::comm {
namespace {

void fill(ByteSlab& slab, std::size_t bytes, int with) {
  slab.ensure_room(bytes);
  std::fill_n(slab.room().begin(), bytes, static_cast<std::byte>(with));
  slab.make_valid(bytes);
}

TEST(ByteSlab, GivesOutWhatWasFilledInOrder) {
  ByteSlab slab(6);
  fill(slab, 16, 1);
  fill(slab, 8, 2);
  Bytes first = slab.extract(16);
  Bytes second = slab.extract(8);
  EXPECT_EQ(first.view()[15], std::byte{1});
  EXPECT_EQ(second.view()[0], std::byte{2});
  EXPECT_TRUE(first.try_merge(second));
  EXPECT_TRUE(slab.valid().empty());
}

TEST(ByteSlab, UsesABufferAgainWhenNobodyHasBytesOfIt) {
  ByteSlab slab(6);
  for (int i = 0; i < 1000; ++i) {
    fill(slab, 48, i);
    static_cast<void>(slab.extract(48));
  }
  EXPECT_LE(slab.made(), 3U);
  EXPECT_GE(slab.reused(), 990U);
  EXPECT_EQ(slab.copied_bytes(), 0U);
}

TEST(ByteSlab, KeepsBytesThatSomebodyHasAndAtMostSoManySpares) {
  ByteSlab slab(6, {.spares_max = 2});
  std::vector<Bytes> kept;
  for (int i = 0; i < 10; ++i) {
    fill(slab, 64, i);
    kept.push_back(slab.extract(64));
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].view()[63], static_cast<std::byte>(i));
  }
  kept.clear();
  fill(slab, 64, 1);
  EXPECT_LE(slab.spares(), 2U);
}

TEST(ByteSlab, CarriesWhatIsValidIntoTheNextBuffer) {
  ByteSlab slab(6);
  fill(slab, 40, 7);
  fill(slab, 40, 8);  // 80 in all: a buffer twice as large
  EXPECT_EQ(slab.buffer_bytes(), 128U);
  EXPECT_EQ(slab.copied_bytes(), 40U);
  const Bytes all = slab.extract(80);
  EXPECT_EQ(all.view()[0], std::byte{7});
  EXPECT_EQ(all.view()[79], std::byte{8});
}

TEST(ByteSlab, GrowsForALargeMessageAndShrinksWhenTold) {
  ByteSlab slab(6);
  fill(slab, 100'000, 3);
  const Bytes large = slab.extract(100'000);
  EXPECT_EQ(large.view()[99'999], std::byte{3});
  EXPECT_EQ(slab.buffer_bytes(), 131'072U);
  slab.shrink();
  EXPECT_EQ(slab.buffer_bytes(), 64U);
  EXPECT_EQ(large.view()[0], std::byte{3});
  fill(slab, 16, 4);
  EXPECT_EQ(slab.extract(16).size(), 16U);
}

TEST(ByteSlab, HasAllItsMemoryFromTheRefill) {
  std::uint64_t made = 0;
  ByteSlab slab(6, {.make =
                        [&](std::size_t bytes) {
                          ++made;
                          return ByteBuffer(std::vector<std::byte>(bytes));
                        },
                    .spares_max = 0});
  fill(slab, 64, 1);
  const Bytes kept = slab.extract(64);
  fill(slab, 64, 2);
  EXPECT_EQ(made, 2U);
  EXPECT_EQ(slab.made(), made);
}

TEST(ByteSlab, RefusesARefillThatMakesLess) {
  ByteSlab slab(6, {.make = [](std::size_t) { return ByteBuffer(std::vector<std::byte>(8)); }});
  EXPECT_THROW(slab.ensure_room(1), UsageError);
}

TEST(ByteSlab, WhatGoesInComesOutWhateverTheSizesAndLivesOfTheParts) {
  Rng rng(17);
  ByteSlab slab(5);
  std::deque<std::pair<Bytes, std::byte>> out;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t bytes = 8 * rng.below(12);
    const auto with = static_cast<std::byte>(rng.below(256));
    fill(slab, bytes, static_cast<int>(with));
    if (rng.below(4) != 0 || !slab.valid().empty()) out.emplace_back(slab.extract(bytes), with);
    while (out.size() > rng.below(20)) {
      for (const std::byte byte : out.front().first.view()) ASSERT_EQ(byte, out.front().second);
      out.pop_front();
    }
  }
}

}  // namespace
}  // namespace leat::comm
