// What      Mutex: for actors and plain threads alike. An actor that waits for it lets others run.
// Limits    Not recursive. Whoever unlocks it wakes the one that has waited longest, but does not keep
//           it for it: who comes meanwhile may take it first.
//           Unlike std::mutex it may be held over calls that wait.
// Cost      Between actors of a solo runtime no swap; elsewhere two.
#pragma once

#include <leat/actor/wait/wait.hpp>
#include <leat/base/check.hpp>

#include <utility>

namespace leat::actor {

/// Fits std::lock_guard, std::unique_lock and std::scoped_lock.
class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Waits until it is the caller's. Throws: Cancelled, if it had to wait.
  void lock() {
    ObjectLock::Guard guard(lock_);
    while (locked_) [[unlikely]]
      wait(guard, waiting_, kNever, {WaitKind::mutex, holder_});
    locked_ = true;
    holder_ = name_of(guard);
  }
  [[nodiscard]] bool try_lock() noexcept {
    const ObjectLock::Guard guard(lock_);
    if (std::exchange(locked_, true)) return false;
    holder_ = name_of(guard);
    return true;
  }
  /// Returns: false if `deadline` (of `now_here()`) came first. Throws: Cancelled, if it had to wait.
  [[nodiscard]] bool try_lock_until(Nanos deadline) {
    ObjectLock::Guard guard(lock_);
    while (locked_) {
      if (wait(guard, waiting_, deadline, {WaitKind::mutex, holder_}) == Waited::timed_out &&
          locked_) {
        return false;
      }
    }
    locked_ = true;
    holder_ = name_of(guard);
    return true;
  }
  /// Requires: it is locked; checked.
  void unlock() noexcept {
    const ObjectLock::Guard guard(lock_);
    LEAT_CHECK(locked_, "a mutex was unlocked that was not locked");
    locked_ = false;
    fire_one(guard, waiting_);
  }

 private:
  [[nodiscard]] static std::uint64_t name_of(const ObjectLock::Guard& guard) noexcept {
    return guard.on() == nullptr ? 0 : static_cast<Actor*>(guard.on())->pid().word();
  }

  ObjectLock lock_;
  bool locked_ = false;        // guarded by lock_
  std::uint64_t holder_ = 0;   // guarded by lock_; who locked it last, for reports
  WaitList waiting_;     // guarded by lock_
};

}  // namespace leat::actor
