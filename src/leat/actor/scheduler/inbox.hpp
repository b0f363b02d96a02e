// What      Inbox: actors that are handed to workers by others: by plain threads, by other runtimes,
//           by a worker whose queue is full.
// Shape     A list under a mutex, and how long it is, readable without.
// Ordering  doze  put, then look who sleeps; say that one sleeps, then look at the length: the
//                 halves are seq_cst, or there is a process fence on the sleeper's side.
// Limits    An actor is in at most one inbox, once; putting it again does nothing.
// Cost      A lock to put and to take; one load to see that there is nothing.
#pragma once

#include <leat/actor/scheduler/actor.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace leat::actor {

class alignas(kSector) Inbox {
  struct doze : Edge {};  // put, then look who sleeps; say one sleeps, then look here

 public:
  static constexpr std::size_t kBatch = 64;

  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Threads: any.
  void put(Actor& actor) noexcept {
    const std::lock_guard lock(mutex_);
    if (actor.in_inbox) return;
    actor.in_inbox = true;
    actor.inbox_next = nullptr;
    (last_ != nullptr ? last_->inbox_next : first_) = &actor;
    last_ = &actor;
    size_.store_seq_cst(size_.load_relaxed() + 1, doze{});  // the mutex orders writers
  }

  /// Takes up to `most`, but not more than kBatch, in the order they came, and calls `give(actor)` for each, without the
  /// lock. Returns: how many. Threads: any.
  template <class Give>
  std::size_t take(std::size_t most, Give&& give) {
    Actor* taken[kBatch];
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      for (; first_ != nullptr && count < most && count < kBatch; ++count) {
        taken[count] = first_;
        first_->in_inbox = false;
        first_ = first_->inbox_next;
      }
      if (first_ == nullptr) last_ = nullptr;
      size_.store_relaxed(size_.load_relaxed() - static_cast<std::uint32_t>(count));
    }
    for (std::size_t i = 0; i < count; ++i) give(*taken[i]);
    return count;
  }

  /// For a hint: relaxed.
  [[nodiscard]] std::size_t size_approx() const noexcept { return size_.load_relaxed(); }
  /// For a worker that has said that it sleeps and looks once more.
  [[nodiscard]] bool was_empty() const noexcept { return size_.load_seq_cst(doze{}) == 0; }

 private:
  std::mutex mutex_;
  Actor* first_ = nullptr;         // guarded by mutex_
  Actor* last_ = nullptr;          // guarded by mutex_
  Atomic<std::uint32_t> size_{0};  // written under mutex_
};

}  // namespace leat::actor
