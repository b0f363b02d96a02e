// What      Semaphore: a number of permits that are taken and given back; Latch: waits until a number
//           of things have happened; Barrier: a fixed number of parties wait for each other, round
//           after round. For actors and plain threads alike.
// Limits    Permits go to who takes first, not to who asked first.
#pragma once

#include <leat/actor/wait/wait.hpp>
#include <leat/base/check.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::actor {

class Semaphore {
 public:
  explicit Semaphore(std::size_t permits) noexcept : permits_(permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// Takes `count` permits; waits for them. Returns: false if `deadline` (of `now_here()`) came first.
  /// Throws: Cancelled, if it had to wait.
  bool acquire(std::size_t count = 1, Nanos deadline = kNever) {
    ObjectLock::Guard guard(lock_);
    while (permits_ < count) {
      if (wait(guard, waiting_, deadline) == Waited::timed_out && permits_ < count) return false;
    }
    permits_ -= count;
    if (permits_ > 0) waiting_.fire_one();  // who is behind may want less than is left
    return true;
  }
  [[nodiscard]] bool try_acquire(std::size_t count = 1) noexcept {
    const ObjectLock::Guard guard(lock_);
    if (permits_ < count) return false;
    permits_ -= count;
    return true;
  }
  void release(std::size_t count = 1) noexcept {
    const ObjectLock::Guard guard(lock_);
    permits_ += count;
    if (permits_ == 1) {
      waiting_.fire_one();
    } else {
      waiting_.fire_all();  // they want different numbers: whose are enough, they know
    }
  }

 private:
  ObjectLock lock_;
  std::size_t permits_;  // guarded by lock_
  WaitList waiting_;     // guarded by lock_
};

class Latch {
 public:
  /// Opens when it was counted down `count` times; at once if that is 0.
  explicit Latch(std::size_t count) noexcept : count_(count) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  /// Requires: not more often than the count; checked. Never waits.
  /// Ordering: what the caller did before is visible to who waited.
  void count_down(std::size_t by = 1) noexcept {
    const ObjectLock::Guard guard(lock_);
    LEAT_CHECK(by <= count_, "a latch was counted down below zero");
    count_ -= by;
    if (count_ == 0) waiting_.fire_all();
  }
  /// Waits until it is open. Returns: false if `deadline` came first. Throws: Cancelled, if it had to
  /// wait.
  bool wait(Nanos deadline = kNever) {
    ObjectLock::Guard guard(lock_);
    while (count_ > 0) {
      if (actor::wait(guard, waiting_, deadline) == Waited::timed_out && count_ > 0) return false;
    }
    return true;
  }
  void arrive_and_wait() {
    count_down();
    wait();
  }
  [[nodiscard]] bool is_open() noexcept {
    const ObjectLock::Guard guard(lock_);
    return count_ == 0;
  }

 private:
  ObjectLock lock_;
  std::size_t count_;  // guarded by lock_
  WaitList waiting_;   // guarded by lock_
};

class Barrier {
 public:
  /// Requires: `parties` is at least 1; checked.
  explicit Barrier(std::size_t parties) noexcept : parties_(parties), missing_(parties) {
    LEAT_CHECK(parties > 0, "a barrier for nobody");
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// Waits until all parties have come. Returns: true for the one that came last.
  /// Throws: Cancelled, if it had to wait; it counts as not having come then.
  bool arrive_and_wait() {
    ObjectLock::Guard guard(lock_);
    if (--missing_ == 0) {
      missing_ = parties_;
      ++round_;
      waiting_.fire_all();
      return true;
    }
    const std::uint64_t round = round_;
    try {
      while (round == round_) wait(guard, waiting_);
    } catch (...) {
      if (round == round_) ++missing_;
      throw;
    }
    return false;
  }

 private:
  ObjectLock lock_;
  const std::size_t parties_;
  std::size_t missing_;      // guarded by lock_
  std::uint64_t round_ = 0;  // guarded by lock_
  WaitList waiting_;         // guarded by lock_
};

}  // namespace leat::actor
