// What      StackPool: the idle stacks of one runtime, so that a spawn finds one whose memory is
//           still there.
// Protocol  `take` gives the stack that was used last; if none lies here, a slot of the region.
//           `give` keeps it. `trim(now)`, called now and then, gives back what was not needed: after
//           each `decay`, the stacks that lay idle all that time, down to `cap`.
// Invariants
//   (1) No system call is made under the lock.
// Limits    A burst's stacks stay until two `decay`s have passed without need for them.
// Cost      take and give: one uncontended lock, no system call while there are idle stacks. A
//           worker puts a StackCache before it, which takes no lock.
// Source    smarm's pool with its cap; the decay is ours.
#pragma once

#include <leat/actor/stack/stack.hpp>
#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace leat::actor {

class StackPool {
 public:
  struct Options {
    StackClass stack_class = StackClass::k64KiB;
    std::size_t cap = 8;  ///< idle stacks that are kept for ever; a runtime's default: 4 per thread
    Nanos decay = std::chrono::milliseconds(500);  ///< how long a stack above `cap` may lie unused
  };

  explicit StackPool(const Options& options, StackRegion& region = StackRegion::process());
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  /// Gives all idle stacks back to the region. Requires: all that were taken were given.
  ~StackPool();

  /// A stack; none if there are no more, see `shortage`. Threads: any.
  [[nodiscard]] Stack take() noexcept;

  /// Takes back a stack that nothing runs on. Threads: any.
  void give(Stack stack) noexcept;

  /// Up to `count` stacks of those that lie here, linked by their records. Never asks the region.
  [[nodiscard]] Stack take_idle(std::size_t count) noexcept;
  /// `count` stacks, linked from `first` to `last`.
  void give_idle(Stack first, Stack last, std::size_t count) noexcept;

  /// Gives stacks back that were not needed lately. Threads: any; one at a time does the work.
  ///
  /// Cost: a comparison, unless `decay` has passed since it last did something.
  void trim(Nanos now) noexcept;

  /// Why `take` gave nothing.
  [[nodiscard]] Error shortage() const { return region_.shortage(options_.stack_class); }

  [[nodiscard]] std::size_t idle() const noexcept;
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] StackRegion& region() const noexcept { return region_; }

 private:
  void release(Stack first) noexcept;

  const Options options_;
  StackRegion& region_;
  mutable std::mutex mutex_;
  Stack idle_;                     // the first, linked by records
  std::size_t count_ = 0;          // of those
  std::size_t unneeded_ = 0;       // the least that `count_` was since the last trim
  Atomic<Nanos::rep> trim_at_{0};  // relaxed: a hint when to look
};

/// A worker's few stacks before the pool. For one thread.
class StackCache {
 public:
  explicit StackCache(StackPool& pool) noexcept : pool_(pool) {}
  StackCache(const StackCache&) = delete;
  StackCache& operator=(const StackCache&) = delete;
  ~StackCache() { flush(0); }

  [[nodiscard]] Stack take() noexcept {
    if (!first_) [[unlikely]]
      return refill();
    const Stack stack = first_;
    first_ = Stack::of_word(stack.record().next);
    --count_;
    return stack;
  }

  void give(Stack stack) noexcept {
    stack.record().next = first_.word();
    first_ = stack;
    if (++count_ > kMost) [[unlikely]]
      flush(kMost / 2);
  }

  /// Gives all but `keep` to the pool. Before a worker sleeps, `flush(0)`.
  void flush(std::size_t keep) noexcept;

  [[nodiscard]] std::size_t idle() const noexcept { return count_; }

 private:
  static constexpr std::size_t kMost = 32;
  [[nodiscard]] Stack refill() noexcept;

  StackPool& pool_;
  Stack first_;
  std::size_t count_ = 0;
};

}  // namespace leat::actor
