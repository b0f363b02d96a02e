// AppendLog: readers see each entry whole and in order, nothing is destroyed or used again while
// somebody may read it, and a sleeper is told; and what breaks each of these.
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/core/park_mask.hpp>
#include <leat/core/parker.hpp>
#include <leat/queue/append_log.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace leat::queue {
namespace {

using model::expect_catches;
using model::expect_holds;
using model::expect_needs_edges;

/// A record whose end is a write, so that ending it under a reader is a race.
struct Record {
  explicit Record(int number) { value.set(number); }
  ~Record() { value.set(-1); }
  Plain<int> value;
};

/// Four headers: three empty entries or two small ones fill a chunk.
constexpr AppendLog::Options kTiny{.chunk_bytes = 1};

void append(AppendLog& log, int number) {
  ::new (log.reserve(sizeof(Record))) Record(number);
  log.commit(static_cast<std::uint64_t>(number), 1, &kEntryOps<Record>);
}

void check(const EntryHeader& entry, int number) {
  model::require(entry.tag == static_cast<std::uint64_t>(number), "in order");
  model::require(entry.count == 1, "one record");
  model::require(entry.records<Record>()[0].value.read() == number, "the record is whole");
}

void read(AppendLog::Cursor& cursor, int from, int to) {
  for (int number = from; number < to;) {
    const EntryHeader* entry = cursor.peek();
    if (entry == nullptr) {
      spin_pause();
      continue;
    }
    check(*entry, number++);
    cursor.advance();
  }
}

template <int kReaders, int kEntries>
void write_and_read(model::Run& run) {
  auto log = std::make_shared<AppendLog>(kReaders, kTiny);
  run.thread([=] {
    for (int i = 0; i < kEntries; ++i) append(*log, i);
  });
  for (int reader = 0; reader < kReaders; ++reader) {
    auto cursor =
        std::make_shared<AppendLog::Cursor>(log->cursor(static_cast<std::size_t>(reader)));
    run.thread([=] {
      read(*cursor, 0, kEntries);
      model::require(!cursor->has_more(), "no more than was written");
      cursor->leave();
    });
  }
  run.join();
}

TEST(AppendLogModel, AReaderSeesEachEntryWholeAndInOrder) {
  expect_holds(write_and_read<1, 2>, {.preemptions = 3});
}

TEST(AppendLogModel, TwoReadersSeeEachEntryWholeAndInOrder) {
  expect_holds(write_and_read<2, 2>, {.preemptions = 1});
}

TEST(AppendLogModel, ChunksAreUsedAgainOnlyWhenAllHavePassed) {
  // Two entries fill a chunk, so the fifth needs a third chunk, or the first one again.
  expect_holds(write_and_read<1, 5>, {.preemptions = 2});
}

TEST(AppendLogModel, NeedsItsEdges) {
  expect_needs_edges(write_and_read<1, 2>, {"published/acquire", "published/release"},
                     model::kRace);
  expect_needs_edges(write_and_read<1, 5>, {"passed/acquire", "passed/release"}, model::kRace);
}

TEST(AppendLogModel, CommittingBeforeTheNextHeaderIsZeroed) {
  expect_catches(write_and_read<1, 2>, {"append_log.commit_before_zeroing"}, model::kUnbuilt);
}

TEST(AppendLogModel, FreeingTheChunkThatAReaderStandsIn) {
  expect_catches(write_and_read<1, 5>, {"append_log.frees_the_chunk_being_read"}, model::kUnbuilt);
}

// A reader that leaves or never comes holds nothing up, and what it read is not touched before it
// left.
void one_leaves(model::Run& run) {
  auto log = std::make_shared<AppendLog>(std::size_t{2}, kTiny);
  log->retire(1);
  auto cursor = std::make_shared<AppendLog::Cursor>(log->cursor(0));
  run.thread([=] {
    for (int i = 0; i < 4; ++i) append(*log, i);
    log->collect();
  });
  run.thread([=] {
    read(*cursor, 0, 1);
    cursor->leave();
    model::require(cursor->peek() == nullptr, "nothing to read after leaving");
  });
  run.join();
}

TEST(AppendLogModel, AReaderMayLeaveWhileTheWriterWrites) {
  expect_holds(one_leaves, {.preemptions = 3});
}

// Publish and park: a reader that sleeps is told of every entry.
struct Sleepers {
  AppendLog log{1, kTiny};
  AppendLog::Cursor cursor = log.cursor(0);
  core::ParkMask mask{1};
  core::Parker parker;

  void publish(int number) {
    if (LEAT_MUTANT("test.mask_before_header")) {
      bool parked = false;
      mask.for_each_parked([&](std::size_t) { parked = true; });
      append(log, number);
      if (parked) parker.ring();
      return;
    }
    append(log, number);
    mask.for_each_parked([this](std::size_t) { parker.ring(); });
  }

  void receive(int entries) {
    for (int number = 0; number < entries;) {
      if (const EntryHeader* entry = cursor.peek()) {
        check(*entry, number++);
        cursor.advance();
        continue;
      }
      cursor.publish_position();
      mask.set(0);
      parker.park([this] { return cursor.has_more(); });
      mask.clear(0);
    }
  }
};

template <int kEntries>
void publish_and_park(model::Run& run) {
  auto state = std::make_shared<Sleepers>();
  run.thread([=] {
    for (int i = 0; i < kEntries; ++i) state->publish(i);
  });
  run.thread([=] { state->receive(kEntries); });
  run.join();
}

TEST(AppendLogModel, ASleepingReaderIsToldOfEachEntry) {
  expect_holds(publish_and_park<1>, {.preemptions = 3});
  expect_holds(publish_and_park<3>, {.preemptions = 1});  // the third begins a chunk
}

TEST(AppendLogModel, PublishAndParkNeedsAFullBarrierOnBothSides) {
  expect_needs_edges(publish_and_park<1>, {"ParkMask::doze", "Parker::doze"}, model::kStuck);
  expect_catches(publish_and_park<1>, {"test.mask_before_header", "parker.no_recheck"},
                 model::kStuck);
}

}  // namespace
}  // namespace leat::queue
