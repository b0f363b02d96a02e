#include <leat/progress/kept_batch.hpp>

#include <leat/progress/batch_entry.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::progress {
namespace {

/// A log and the one reader of it.
struct Log {
  queue::AppendLog log{1};
  queue::AppendLog::Cursor cursor = log.cursor(0);

  template <class T>
  const queue::EntryHeader& append(std::uint64_t tag, const std::vector<T>& records) {
    log.append(tag, std::span<const T>(records));
    return *cursor.peek();
  }
};

TEST(KeptBatch, IsTheSameAsTheEntryWhenThatIsGone) {
  std::optional<KeptBatch> kept;
  {
    Log log;
    kept.emplace(log.append<LoggedChange<std::uint64_t>>(7, {{5, +2, 1}, {6, -1, 3}}));
  }
  EXPECT_EQ(kept->entry().tag, 7U);
  EXPECT_EQ(kept->entry().count, 2U);
  const auto changes = batch_of<std::uint64_t>(kept->entry());
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].time, 5U);
  EXPECT_EQ(changes[0].delta, 2);
  EXPECT_EQ(changes[0].port, 1U);
  EXPECT_EQ(changes[1].time, 6U);
  EXPECT_EQ(changes[1].delta, -1);
  EXPECT_EQ(changes[1].port, 3U);
}

TEST(KeptBatch, CopiesAndEndsRecordsThatOwnMemory) {
  const auto shared = std::make_shared<int>(1);
  {
    Log log;
    const auto& entry = log.append<std::shared_ptr<int>>(0, {shared, shared});
    const long before = shared.use_count();
    {
      KeptBatch kept(entry);
      EXPECT_EQ(shared.use_count(), before + 2);
      const KeptBatch moved(std::move(kept));
      EXPECT_EQ(shared.use_count(), before + 2);
      EXPECT_EQ(moved.entry().records<std::shared_ptr<int>>()[1], shared);
    }
    EXPECT_EQ(shared.use_count(), before);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(KeptBatch, MovesWithinAVector) {
  Log log;
  std::vector<KeptBatch> kept;
  for (int i = 0; i < 20; ++i) {
    kept.emplace_back(log.append<std::string>(static_cast<std::uint64_t>(i),
                                              {"a text that does not fit into a string itself"}));
    log.cursor.advance();
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].entry().tag, i);
    EXPECT_EQ(kept[i].entry().records<std::string>()[0].size(), 45U);
  }
}

/// A record whose copies fail after a while.
struct Fragile {
  explicit Fragile(int* alive_in) : alive(alive_in) { ++*alive; }
  Fragile(const Fragile& other) : alive(other.alive) {
    if (copies_left-- == 0) throw std::bad_alloc();
    ++*alive;
  }
  Fragile& operator=(const Fragile&) = delete;
  ~Fragile() { --*alive; }
  int* alive;
  static inline int copies_left = 0;
};

TEST(KeptBatch, ACopyThatFailsLeavesNothingBehind) {
  int alive = 0;
  {
    Log log;
    Fragile::copies_left = 100;
    log.log.append(0, std::span<const Fragile>(std::array{Fragile(&alive), Fragile(&alive)}));
    const int before = alive;
    Fragile::copies_left = 1;
    EXPECT_THROW(KeptBatch{*log.cursor.peek()}, std::bad_alloc);
    EXPECT_EQ(alive, before);
  }
  EXPECT_EQ(alive, 0);
}

TEST(BatchEntryDeathTest, AnEntryIsNotReadAsAnotherTypesBatch) {
  Log log;
  const auto& entry = log.append<LoggedChange<std::uint64_t>>(7, {{5, +2, 1}});
  EXPECT_DEATH(static_cast<void>(batch_of<std::uint32_t>(entry)),
               "read as a type that it was not written as");
}

}  // namespace
}  // namespace leat::progress
