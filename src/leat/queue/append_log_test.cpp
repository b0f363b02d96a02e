#include <leat/queue/append_log.hpp>

#include <gtest/gtest.h>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::queue {
namespace {

constexpr AppendLog::Options kTiny{.chunk_bytes = 256};

void append_numbers(AppendLog& log, std::uint64_t tag, std::vector<std::uint64_t> numbers) {
  log.append<std::uint64_t>(tag, numbers);
}

std::vector<std::uint64_t> take_numbers(AppendLog::Cursor& cursor) {
  const EntryHeader* entry = cursor.peek();
  if (entry == nullptr) return {};
  const auto records = entry->records<std::uint64_t>();
  std::vector<std::uint64_t> numbers(records.begin(), records.end());
  cursor.advance();
  return numbers;
}

TEST(AppendLog, StartsEmptyForEveryReader) {
  AppendLog log(2);
  for (std::size_t reader : {0u, 1u}) {
    AppendLog::Cursor cursor = log.cursor(reader);
    EXPECT_EQ(cursor.peek(), nullptr);
    EXPECT_FALSE(cursor.has_more());
  }
}

TEST(AppendLog, EveryReaderReadsEveryEntryInPlace) {
  AppendLog log(2);
  AppendLog::Cursor one = log.cursor(0);
  AppendLog::Cursor two = log.cursor(1);
  append_numbers(log, 7, {1, 2, 3});
  append_numbers(log, 8, {4});
  EXPECT_TRUE(one.has_more());
  const EntryHeader* entry = one.peek();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry, two.peek()) << "no copy per reader";
  EXPECT_EQ(entry->tag, 7u);
  EXPECT_EQ(entry->count, 3u);
  EXPECT_EQ(entry->payload_bytes, 24u);
  EXPECT_EQ(entry->ops->type_name, type_name<std::uint64_t>());
  EXPECT_EQ(take_numbers(one), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(take_numbers(one), (std::vector<std::uint64_t>{4}));
  EXPECT_EQ(one.peek(), nullptr);
  EXPECT_FALSE(one.has_more());
  EXPECT_EQ(take_numbers(two).size(), 3u);
  EXPECT_TRUE(two.has_more());
}

TEST(AppendLog, ACursorTakenLateStandsAtTheBeginning) {
  AppendLog log(1, kTiny);
  for (std::uint64_t i = 0; i < 100; ++i) append_numbers(log, i, {i});
  AppendLog::Cursor cursor = log.cursor(0);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(take_numbers(cursor).at(0), i);
}

TEST(AppendLog, EntriesCrossChunksAndPassedChunksAreUsedAgain) {
  AppendLog log(2, kTiny);
  AppendLog::Cursor one = log.cursor(0);
  AppendLog::Cursor two = log.cursor(1);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    append_numbers(log, i, {i, i + 1});
    EXPECT_EQ(take_numbers(one), (std::vector<std::uint64_t>{i, i + 1}));
    EXPECT_EQ(take_numbers(two), (std::vector<std::uint64_t>{i, i + 1}));
  }
  EXPECT_LE(log.chunks_allocated(), 3u) << "nothing is allocated in a steady state";
  EXPECT_EQ(log.entries(), 1000u);
}

TEST(AppendLog, AReaderThatStandsStillKeepsItsChunks) {
  AppendLog log(2, kTiny);
  AppendLog::Cursor quick = log.cursor(0);
  AppendLog::Cursor slow = log.cursor(1);
  for (std::uint64_t i = 0; i < 50; ++i) {
    append_numbers(log, i, {i});
    EXPECT_EQ(take_numbers(quick).at(0), i);
  }
  EXPECT_GT(log.chunks_in_use(), 5u);
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(take_numbers(slow).at(0), i);
  log.collect();
  EXPECT_EQ(log.chunks_in_use(), 1u);
}

TEST(AppendLog, AReaderThatLeftOrIsRetiredKeepsNothing) {
  AppendLog log(3, kTiny);
  AppendLog::Cursor reads = log.cursor(0);
  AppendLog::Cursor leaves = log.cursor(1);
  log.retire(2);
  leaves.leave();
  EXPECT_EQ(leaves.peek(), nullptr);
  for (std::uint64_t i = 0; i < 100; ++i) {
    append_numbers(log, i, {i});
    EXPECT_EQ(take_numbers(reads).at(0), i);
  }
  log.collect();
  EXPECT_EQ(log.chunks_in_use(), 1u);
  EXPECT_FALSE(leaves.has_more());
}

TEST(AppendLog, ALogWithoutReadersForgets) {
  AppendLog log(0, kTiny);
  for (std::uint64_t i = 0; i < 100; ++i) append_numbers(log, i, {i});
  EXPECT_LE(log.chunks_allocated(), 2u);
}

TEST(AppendLog, AnEntryLargerThanAChunkGetsOneOfItsOwn) {
  AppendLog log(1, kTiny);
  AppendLog::Cursor cursor = log.cursor(0);
  std::vector<std::uint64_t> large(1000);
  std::iota(large.begin(), large.end(), 5u);
  append_numbers(log, 0, {1});
  append_numbers(log, 1, large);
  append_numbers(log, 2, {2});
  EXPECT_EQ(take_numbers(cursor), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(take_numbers(cursor), large);
  EXPECT_EQ(take_numbers(cursor), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(cursor.peek(), nullptr);
}

TEST(AppendLog, AnEntryThatStartsAChunkIsUnseenUntilItIsCommitted) {
  AppendLog log(1, kTiny);
  AppendLog::Cursor cursor = log.cursor(0);
  std::byte* room = log.reserve(1000);
  EXPECT_FALSE(cursor.has_more());
  EXPECT_EQ(cursor.peek(), nullptr);
  std::memset(room, 1, 1000);
  log.commit(3, 1000, nullptr);
  EXPECT_TRUE(cursor.has_more());
  ASSERT_NE(cursor.peek(), nullptr);
  EXPECT_EQ(cursor.peek()->payload_bytes, 1000u);
}

TEST(AppendLog, AReserveWithoutCommitIsReplacedByTheNext) {
  AppendLog log(1, kTiny);
  AppendLog::Cursor cursor = log.cursor(0);
  const std::size_t sizes[] = {8, 1000, 16, 1000, 2000, 900, 24};
  for (std::size_t size : sizes) static_cast<void>(log.reserve(size));
  std::byte* room = log.reserve(8);
  std::memset(room, 0, 8);
  log.commit(1, 0, nullptr);
  ASSERT_NE(cursor.peek(), nullptr);
  EXPECT_EQ(cursor.peek()->payload_bytes, 8u);
  for (std::size_t size : sizes) static_cast<void>(log.reserve(size));
  static_cast<void>(log.reserve(3000));
  log.commit(2, 0, nullptr);
  cursor.advance();
  ASSERT_NE(cursor.peek(), nullptr);
  EXPECT_EQ(cursor.peek()->payload_bytes, 3000u);
  static_cast<void>(log.reserve(3000));  // left to the destructor
}

TEST(AppendLog, EmptyPayloadsAreEntriesToo) {
  AppendLog log(1, kTiny);
  AppendLog::Cursor cursor = log.cursor(0);
  for (std::uint64_t i = 0; i < 50; ++i) {
    static_cast<void>(log.reserve(0));
    log.commit(i, 0, nullptr);
  }
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_NE(cursor.peek(), nullptr);
    EXPECT_EQ(cursor.peek()->tag, i);
    cursor.advance();
  }
}

struct Guest {
  explicit Guest(int& alive) noexcept : alive_(&alive) { ++*alive_; }
  Guest(const Guest& other) noexcept : alive_(other.alive_) { ++*alive_; }
  Guest& operator=(const Guest&) = delete;
  ~Guest() { --*alive_; }
  int* alive_;
};

TEST(AppendLog, DestroysWhatAllHavePassedAndTheRestWhenItGoes) {
  int alive = 0;
  {
    AppendLog log(1, kTiny);
    AppendLog::Cursor cursor = log.cursor(0);
    const std::vector<Guest> guests(2, Guest(alive));
    EXPECT_EQ(alive, 2);
    for (int i = 0; i < 50; ++i) log.append<Guest>(0, guests);
    EXPECT_EQ(alive, 102) << "nobody has read them";
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(cursor.peek()->records<Guest>().size(), 2u);
      cursor.advance();
    }
    log.collect();
    EXPECT_LT(alive, 20) << "at most one chunk is left";
  }
  EXPECT_EQ(alive, 0);
}

TEST(AppendLog, EntriesCanBeCopiedForLater) {
  AppendLog log(1);
  AppendLog::Cursor cursor = log.cursor(0);
  const std::vector<std::string> words{"a word that is too long to be kept in place", "b"};
  log.append<std::string>(0, words);
  const EntryHeader* entry = cursor.peek();
  const EntryOps& ops = *entry->ops;
  alignas(16) std::byte kept[2 * sizeof(std::string)];
  ASSERT_EQ(ops.record_bytes * entry->count, sizeof(kept));
  ops.copy(entry->payload(), kept, entry->count);
  EXPECT_EQ(reinterpret_cast<std::string*>(kept)[0], words[0]);
  ops.destroy(kept, 2);
  EXPECT_EQ(entry->records<std::string>()[0], words[0]);
}

struct Fragile {
  Fragile() = default;
  Fragile(const Fragile&) { throw std::runtime_error("no copy today"); }
};

TEST(AppendLog, NothingIsPublishedWhenACopyThrows) {
  AppendLog log(1, kTiny);
  AppendLog::Cursor cursor = log.cursor(0);
  const std::vector<Fragile> one(1);
  EXPECT_THROW(log.append<Fragile>(0, one), std::runtime_error);
  EXPECT_EQ(cursor.peek(), nullptr);
  append_numbers(log, 1, {9});
  EXPECT_EQ(take_numbers(cursor), (std::vector<std::uint64_t>{9}));
}

TEST(AppendLog, ACursorMovesWithItsPlace) {
  AppendLog log(1);
  AppendLog::Cursor cursor = log.cursor(0);
  append_numbers(log, 0, {1});
  append_numbers(log, 0, {2});
  EXPECT_EQ(take_numbers(cursor).at(0), 1u);
  AppendLog::Cursor moved = std::move(cursor);
  EXPECT_EQ(take_numbers(moved).at(0), 2u);
  AppendLog::Cursor none;
  EXPECT_EQ(none.peek(), nullptr);
  EXPECT_FALSE(none.has_more());
  none = std::move(moved);
  EXPECT_EQ(none.peek(), nullptr);
}

TEST(AppendLogDeathTest, ReadingAnEntryAsAnotherTypeIsCaught) {
  AppendLog log(1);
  AppendLog::Cursor cursor = log.cursor(0);
  append_numbers(log, 0, {1});
  EXPECT_DEATH(static_cast<void>(cursor.peek()->records<double>()),
               "read as a type that it was not written as");
}

TEST(AppendLogDeathTest, TakingACursorTwiceIsCaught) {
  AppendLog log(1);
  AppendLog::Cursor cursor = log.cursor(0);
  EXPECT_DEATH(static_cast<void>(log.cursor(0)), "taken twice");
  EXPECT_DEATH(static_cast<void>(log.cursor(1)), "no reader of that number");
}

}  // namespace
}  // namespace leat::queue
