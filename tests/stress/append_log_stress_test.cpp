// Workers each write a log and read those of all others, with chunks so small that they are
// recycled all the time; they sleep when there is nothing to read. Every entry proves itself, every
// reader sees every log whole and in order, and no wake-up is lost.
#include <leat/core/park_mask.hpp>
#include <leat/core/parker.hpp>
#include <leat/queue/append_log.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace leat::stress {
namespace {

using queue::AppendLog;

constexpr std::size_t kWorkers = 3;
constexpr std::uint64_t kEntriesEach = 10'000;
constexpr AppendLog::Options kTiny{.chunk_bytes = 512};

/// An entry has one to a dozen records, so that chunks end at every place.
std::size_t records_of(std::uint64_t writer, std::uint64_t entry) {
  return 1 + mix64(writer * 1'000'003 + entry) % 12;
}

/// What a payload type looks like that owns memory: destroyed by the writer, copied by readers.
class Owned {
 public:
  explicit Owned(Payload payload) : payload_(std::make_unique<Payload>(payload)) {}
  Owned(const Owned& other) : Owned(*other.payload_) {}
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] const Payload& payload() const { return *payload_; }

 private:
  std::unique_ptr<Payload> payload_;
};

class Worker {
 public:
  explicit Worker(std::size_t index) : index_(index), log_(kWorkers, kTiny) {}

  void connect(std::vector<std::unique_ptr<Worker>>& workers) {
    log_.retire(index_);  // nobody reads his own
    for (auto& peer : workers) {
      if (peer->index_ != index_) {
        cursors_.push_back(peer->log_.cursor(index_));
        from_.push_back(peer->index_);
      }
    }
    read_.assign(cursors_.size(), 0);
  }

  void write(std::uint64_t entry) {
    records_.clear();
    for (std::size_t i = 0; i < records_of(index_, entry); ++i) {
      records_.emplace_back(Payload::make(index_, entry + i));
    }
    log_.append<Owned>(entry, records_);
  }

  bool read() {
    bool any = false;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      while (const queue::EntryHeader* entry = cursors_[i].peek()) {
        check(*entry, from_[i], read_[i]++);
        cursors_[i].advance();
        any = true;
      }
    }
    return any;
  }

  [[nodiscard]] bool done() const {
    for (std::uint64_t read : read_) {
      if (read < kEntriesEach) return false;
    }
    return true;
  }

  template <class Mask>
  void sleep(Mask& mask) {
    for (auto& cursor : cursors_) cursor.publish_position();
    mask.set(index_);
    parker.park([this] {
      for (auto& cursor : cursors_) {
        if (cursor.has_more()) return true;
      }
      return false;
    });
    mask.clear(index_);
  }

  void leave() { cursors_.clear(); }

  [[nodiscard]] const AppendLog& log() const { return log_; }
  core::Parker parker;

 private:
  static void check(const queue::EntryHeader& entry, std::uint64_t writer, std::uint64_t sequence) {
    EXPECT_EQ(entry.tag, sequence);
    const auto records = entry.records<Owned>();
    EXPECT_EQ(records.size(), records_of(writer, sequence));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Owned copy = records[i];  // at the same moment as other readers
      EXPECT_TRUE(copy.payload().is_whole());
      EXPECT_EQ(copy.payload().writer, writer);
      EXPECT_EQ(copy.payload().sequence, sequence + i);
    }
  }

  std::size_t index_;
  AppendLog log_;
  std::vector<AppendLog::Cursor> cursors_;
  std::vector<std::size_t> from_;
  std::vector<std::uint64_t> read_;
  std::vector<Owned> records_;
};

std::vector<std::unique_ptr<Worker>> make_workers() {
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < kWorkers; ++i) workers.push_back(std::make_unique<Worker>(i));
  for (auto& worker : workers) worker->connect(workers);
  return workers;
}

TEST(AppendLogStress, ScaffoldOnOneThread) {
  auto workers = make_workers();
  for (std::uint64_t entry = 0; entry < kEntriesEach; ++entry) {
    for (auto& worker : workers) worker->write(entry);
    if (entry % 3 == 0) {
      for (auto& worker : workers) worker->read();
    }
  }
  for (auto& worker : workers) {
    worker->read();
    EXPECT_TRUE(worker->done());
    EXPECT_LT(worker->log().chunks_allocated(), 20u);
  }
  for (auto& worker : workers) worker->leave();
}

TEST(AppendLogStress, WorkersReadEachOthersLogsWhole) {
  auto workers = make_workers();
  core::ParkMask mask(kWorkers);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&, i] {
      Worker& worker = *workers[i];
      for (std::uint64_t entry = 0; entry < kEntriesEach; ++entry) {
        worker.write(entry);
        mask.for_each_parked([&](std::size_t peer) { workers[peer]->parker.ring(); });
        // One in four waits for the others, so that all sleep and are woken often.
        if (!worker.read() && entry % 4 == 0 && !worker.done() && i != 0) worker.sleep(mask);
      }
      while (!worker.done()) {
        if (!worker.read()) worker.sleep(mask);
      }
      worker.leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace leat::stress
