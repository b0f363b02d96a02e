// What      Bytes on their way from one thread to another, in order and without a bound: what senders
//           of frames push into, and what a receiver, or whoever writes to a socket, drains.
// Shape     [ extent ][ extent ] ...     an extent is Bytes: frames that lie one after the other
// Protocol  push joins bytes that follow the last extent in the same allocation. Push, then tell the
//           other side if `push` says that it was empty; the other side drains, and is told again
//           for what comes later.
// Invariants  (1) Bytes come out in the order in which they went in. (2) After `close` nothing is kept.
// Limits    Unbounded. A place where bytes may wait long: what pages them out would look at the
//           extents under the lock, at push and before a drain.
// Cost      A mutex, held for some instructions.
// Source    Timely Dataflow's `MergeQueue`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <leat/base/cache_line.hpp>
#include <leat/comm/bytes/bytes.hpp>

namespace leat::comm {

class alignas(kCacheLine) ByteQueue {
 public:
  enum class Pushed : std::uint8_t { first, more, closed };

  /// Appends `bytes`. Returns: whether the queue was empty, and so the other side is to be told; or
  /// that nobody drains it any more. Threads: any.
  Pushed push(Bytes bytes) {
    const std::lock_guard lock(mutex_);
    if (closed_) return Pushed::closed;
    waiting_bytes_ += bytes.size();
    if (waiting_.empty()) {
      waiting_.push_back(std::move(bytes));
      return Pushed::first;
    }
    if (waiting_.back().try_merge(bytes)) {
      ++merges_;
    } else {
      waiting_.push_back(std::move(bytes));
    }
    return Pushed::more;
  }

  /// Appends all extents to `into`. Threads: any. Returns: whether there were any.
  bool drain_into(std::vector<Bytes>& into) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    if (into.empty()) {
      std::swap(into, waiting_);
    } else {
      for (Bytes& extent : waiting_) into.push_back(std::move(extent));
      waiting_.clear();
    }
    waiting_bytes_ = 0;
    return true;
  }

  /// Drops all that waits, and all that comes.
  void close() {
    std::vector<Bytes> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_bytes_ = 0;
    dropped.swap(waiting_);
  }

  /// Bytes that wait, and how often an extent was joined to the one before.
  [[nodiscard]] std::size_t waiting_bytes() const {
    const std::lock_guard lock(mutex_);
    return waiting_bytes_;
  }
  [[nodiscard]] std::uint64_t merges() const {
    const std::lock_guard lock(mutex_);
    return merges_;
  }

 private:
  mutable std::mutex mutex_;  // guards all that follows
  std::vector<Bytes> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t merges_ = 0;
  bool closed_ = false;
};

}  // namespace leat::comm
