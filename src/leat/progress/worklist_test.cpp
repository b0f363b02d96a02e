#include <leat/progress/worklist.hpp>

#include <leat/base/rng.hpp>
#include <leat/progress/product.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>

namespace leat::progress {
namespace {

using Time = std::uint64_t;

TEST(Worklist, TakesTheLeastTimeFirstAndOfOneTimeTheLeastPort) {
  Worklist<Time> work;
  work.add(5, 1, 10);
  work.add(3, 9, 20);
  work.add(3, 2, 30);
  EXPECT_EQ(work.take().delta, 30);
  EXPECT_EQ(work.take().delta, 20);
  EXPECT_EQ(work.take().delta, 10);
  EXPECT_TRUE(work.empty());
}

TEST(Worklist, PutsEqualOnesTogetherAlsoWhenTheyCancel) {
  Worklist<Time> work;
  work.add(5, 1, +1);
  work.add(4, 1, +1);
  work.add(5, 1, +2);
  work.add(4, 1, -1);
  EXPECT_EQ(work.take().delta, 0);
  const auto item = work.take();
  EXPECT_EQ(item.time, 5U);
  EXPECT_EQ(item.port, 1U);
  EXPECT_EQ(item.delta, 3);
  EXPECT_TRUE(work.empty());
}

TEST(Worklist, AddsBehindWhatWasTakenWhileItIsEmptied) {
  Worklist<Time> work;
  work.add(1, 0, 1);
  for (Time time = 1; time < 100; ++time) {
    const auto item = work.take();
    EXPECT_EQ(item.time, time);
    work.add(time + 1, 0, 1);
  }
}

// However many there are, and wherever they are kept, it is an ordered map.
TEST(Worklist, IsAnOrderedMapOfSums) {
  using Grid = Product<std::uint64_t, std::uint64_t>;
  Rng rng(2024);
  for (int round = 0; round < 300; ++round) {
    Worklist<Grid> work;
    std::map<std::pair<Grid, PortIndex>, std::int64_t> sums;
    const std::uint64_t range = 1 + rng.below(12);
    for (std::uint64_t step = 0; step < 200; ++step) {
      if (sums.empty() || rng.below(5) < (step < 100 ? 4U : 2U)) {
        const Grid time{rng.below(range), rng.below(range)};
        const auto port = static_cast<PortIndex>(rng.below(3));
        const auto delta = static_cast<std::int64_t>(rng.below(5)) - 2;
        work.add(time, port, delta);
        sums[{time, port}] += delta;
      } else {
        const auto item = work.take();
        ASSERT_EQ((std::pair{item.time, item.port}), sums.begin()->first);
        ASSERT_EQ(item.delta, sums.begin()->second);
        sums.erase(sums.begin());
      }
      ASSERT_EQ(work.empty(), sums.empty());
    }
  }
}

}  // namespace
}  // namespace leat::progress
