// What      IdleWorkers: which workers sleep, how many look for work, and whom to wake when there is
//           more: one, and none while another is looking already.
// Shape     One word: workers that search << 32 | workers that sleep. And a list of the sleepers,
//           which the word may lag behind for a moment.
// Protocol  Who puts an actor into a queue: put; `wake_one_if_needed`. It wakes a sleeper if there is
//           one and nobody searches; the woken one counts as searching at once.
//           A worker with nothing to do: `start_search`, look everywhere; if it finds something
//           `stop_search`, which says whether it was the last searcher: it wakes another then, since
//           where there was one there may be more. If it finds nothing: `sleep`; look everywhere
//           once more; park. Awake: `woken`.
// Invariants
//   (1) After the word says that a worker sleeps and no longer searches, that worker looks at all
//       queues. So who puts and reads an older word is seen by it, and who reads a newer one wakes.
// Ordering  doze  (1). Where there are process fences, who puts pays nothing: it reads the word
//                 relaxed, and the sleeper makes a process fence before it looks. Elsewhere both
//                 swap the word.
// Limits    At most half of the workers search, beside those that were woken.
// Cost      To put while nobody sleeps: one load.
// Source    Go's and Tokio's throttling of wake-ups.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/process_fence.hpp>
#include <leat/core/parker.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace leat::actor {

class IdleWorkers {
  struct doze : Edge {};  // put, then read the word; say that one sleeps, then look at all queues

 public:
  IdleWorkers(std::size_t workers, bool fenced) : workers_(workers), fenced_(fenced) {
    sleepers_.reserve(workers);
  }
  IdleWorkers(const IdleWorkers&) = delete;
  IdleWorkers& operator=(const IdleWorkers&) = delete;

  /// Threads: any; after something was put into a queue.
  void wake_one_if_needed() noexcept {
    std::uint64_t word;
    if (fenced_) {
      os::light_fence();
      word = word_.load_relaxed();
    } else if (LEAT_MUTANT("idle_workers.no_swap")) {
      word = word_.load_relaxed();
    } else {
      word = word_.fetch_add_seq_cst(0, doze{}, doze{});
    }
    if (word == 0 || searching(word) > 0) return;
    wake_one();
  }

  /// Returns: whether the caller may search. Threads: workers.
  [[nodiscard]] bool start_search() noexcept {
    const std::uint64_t word = word_.load_relaxed();  // a bound that a few may pass
    if (2 * searching(word) >= workers_) return false;
    word_.fetch_add_relaxed(kSearcher);
    return true;
  }

  /// The caller searches no more, since it found something, and wakes another if it was the last.
  void stop_search() noexcept {
    const std::uint64_t before = word_.fetch_sub_relaxed(kSearcher);
    if (searching(before) == 1) wake_one_if_needed();
  }

  /// Says that the worker whose parker this is sleeps. Look at all queues after this, then park.
  ///
  /// `searched`: it was searching, and is no more.
  void sleep(core::Parker& parker, bool searched) noexcept {
    {
      const std::lock_guard lock(mutex_);
      sleepers_.push_back(&parker);
    }
    word_.fetch_add_seq_cst(searched ? 1 - kSearcher : 1, doze{}, doze{});
    if (fenced_) os::process_fence();
  }

  /// Says that the worker is awake again.
  ///
  /// Returns: whether it was woken by another; it counts as searching then.
  [[nodiscard]] bool woken(core::Parker& parker) noexcept {
    {
      const std::lock_guard lock(mutex_);
      const auto place = std::find(sleepers_.begin(), sleepers_.end(), &parker);
      if (place == sleepers_.end()) return true;
      *place = sleepers_.back();
      sleepers_.pop_back();
    }
    word_.fetch_sub_relaxed(1);
    return false;
  }

  /// Whether others than the caller, who is about to sleep, were awake a moment ago.
  [[nodiscard]] bool somebody_works() const noexcept {
    return (word_.load_relaxed() & (kSearcher - 1)) + 1 < workers_;
  }

  /// Whether a worker that said it sleeps was not woken yet. For simulations.
  [[nodiscard]] bool is_asleep(const core::Parker& parker) noexcept {
    const std::lock_guard lock(mutex_);
    return std::find(sleepers_.begin(), sleepers_.end(), &parker) != sleepers_.end();
  }

 private:
  static constexpr std::uint64_t kSearcher = std::uint64_t{1} << 32;
  static constexpr std::uint64_t searching(std::uint64_t word) noexcept { return word >> 32; }

  bool wake_one() noexcept {
    core::Parker* parker;
    {
      const std::lock_guard lock(mutex_);
      if (sleepers_.empty()) return false;
      parker = sleepers_.back();
      sleepers_.pop_back();
    }
    word_.fetch_add_relaxed(kSearcher - 1);  // sleeps no more, and searches
    parker->unpark();                        // a worker outlives who may wake it
    return true;
  }

  alignas(kSector) Atomic<std::uint64_t> word_{0};
  const std::size_t workers_;
  const bool fenced_;
  std::mutex mutex_;
  std::vector<core::Parker*> sleepers_;  // guarded by mutex_
};

}  // namespace leat::actor
