#include <leat/progress/change_batch.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace leat::progress {
namespace {

using Batch = ChangeBatch<std::uint64_t>;
using Pairs = std::vector<std::pair<std::uint64_t, std::int64_t>>;

template <class B>
Pairs content(B& batch) {
  Pairs pairs;
  for (const auto& [value, diff] : batch) pairs.emplace_back(value, diff);
  return pairs;
}

TEST(ChangeBatch, PutsEqualValuesTogetherInAscendingOrder) {
  Batch batch;
  batch.update(17, 1);
  batch.update(12, 2);
  batch.update(17, 3);
  EXPECT_EQ(content(batch), (Pairs{{12, 2}, {17, 4}}));
  EXPECT_EQ(batch.size(), 2U);
  EXPECT_FALSE(batch.is_dirty());
}

TEST(ChangeBatch, IsEmptyWhenAllCancels) {
  Batch batch;
  EXPECT_TRUE(batch.is_empty());
  batch.update(17, 1);
  EXPECT_FALSE(batch.is_empty());
  batch.update(12, 1);
  batch.update(17, -1);
  batch.update(12, -1);
  EXPECT_TRUE(batch.is_empty());
  EXPECT_EQ(batch.stored(), 0U);
}

TEST(ChangeBatch, ZeroDifferencesLeaveNoTrace) {
  Batch batch;
  batch.update(3, 0);
  EXPECT_EQ(batch.stored(), 0U);
  batch.update(3, 1);
  batch.update(4, 0);
  EXPECT_EQ(content(batch), (Pairs{{3, 1}}));
}

TEST(ChangeBatch, CancelsWithTheLastEntryAtOnce) {
  Batch batch;
  for (int i = 0; i < 1000; ++i) {
    batch.update(5, 1);
    EXPECT_EQ(batch.stored(), 1U);
    batch.update(5, -1);
    EXPECT_EQ(batch.stored(), 0U);
  }
}

TEST(ChangeBatch, StaysCleanWhileValuesAscend) {
  Batch batch;
  for (std::uint64_t t = 0; t < 100; ++t) batch.update(t, 1);
  EXPECT_FALSE(batch.is_dirty());
  batch.update(50, 1);
  EXPECT_TRUE(batch.is_dirty());
  EXPECT_FALSE(batch.is_empty());  // one new entry cannot cancel a hundred: no need to look
  EXPECT_TRUE(batch.is_dirty());
}

TEST(ChangeBatch, SurvivesACancelledLastEntryOfTheCleanPrefix) {
  Batch batch;
  batch.update(1, 1);
  batch.update(2, 1);
  batch.update(2, -1);
  batch.update(0, 1);
  batch.update(1, -1);
  EXPECT_EQ(content(batch), (Pairs{{0, 1}}));
}

TEST(ChangeBatch, ConsolidatesItselfWhenHalfOfItIsNew) {
  Batch batch;
  for (std::uint64_t i = 0; i < 100'000; ++i) batch.update(i % 7, i % 2 == 0 ? 1 : -1);
  EXPECT_LE(batch.stored(), 40U);
}

TEST(ChangeBatch, DrainsConsolidatedAndIsEmptyAfterwards) {
  Batch batch;
  batch.extend(Pairs{{4, 1}, {2, 1}, {4, -1}, {9, -3}});
  Pairs drained;
  batch.drain([&](std::uint64_t value, std::int64_t diff) { drained.emplace_back(value, diff); });
  EXPECT_EQ(drained, (Pairs{{2, 1}, {9, -3}}));
  EXPECT_EQ(batch.stored(), 0U);
}

TEST(ChangeBatch, DrainsIntoAnotherWhetherThatHasSomethingOrNot) {
  Batch from;
  from.extend(Pairs{{4, 1}, {2, 1}});
  Batch to;
  from.drain_into(to);
  EXPECT_TRUE(from.is_empty());
  EXPECT_EQ(content(to), (Pairs{{2, 1}, {4, 1}}));
  from.extend(Pairs{{5, 1}, {2, -1}});
  from.drain_into(to);
  EXPECT_TRUE(from.is_empty());
  EXPECT_EQ(content(to), (Pairs{{4, 1}, {5, 1}}));
  ChangeBatch<std::uint64_t, 8> wide;
  to.drain_into(wide);
  EXPECT_TRUE(to.is_empty());
  EXPECT_EQ(content(wide), (Pairs{{4, 1}, {5, 1}}));
}

TEST(ChangeBatch, ClearForgetsAll) {
  Batch batch;
  batch.extend(Pairs{{4, 1}, {2, 1}});
  batch.clear();
  EXPECT_TRUE(batch.is_empty());
  EXPECT_TRUE(batch.changes().empty());
}

}  // namespace
}  // namespace leat::progress
