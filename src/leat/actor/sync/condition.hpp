// What      Condition: waits, with a Mutex let go of, until somebody says that what it guards has
//           changed. For actors and plain threads alike.
// Protocol  std::unique_lock lock(mutex);   condition.wait(lock, [&] { return ready; });
// Limits    May wake for nothing: give it what you wait for, or look yourself.
#pragma once

#include <leat/actor/self.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/actor/wait/wait.hpp>

#include <mutex>
#include <utility>

namespace leat::actor {

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// Returns: false if `deadline` (of `now_here()`) came first. Throws: Cancelled; the mutex is held
  /// again all the same. Requires: `lock` holds its mutex.
  bool wait(std::unique_lock<Mutex>& lock, Nanos deadline = kNever) {
    const Relock relock{lock};
    ObjectLock::Guard guard(lock_);
    return actor::wait(
               guard, waiting_, deadline,
               [](void* held) { static_cast<std::unique_lock<Mutex>*>(held)->unlock(); },
               &lock) == Waited::fired;
  }

  /// Waits until `ready()`. Returns: `ready()`, which is false only if `deadline` came first.
  template <class Ready>
    requires std::is_invocable_r_v<bool, Ready&>
  bool wait(std::unique_lock<Mutex>& lock, Ready ready, Nanos deadline = kNever) {
    while (!ready()) {
      if (!wait(lock, deadline)) return ready();
    }
    return true;
  }

  void notify_one() noexcept {
    const ObjectLock::Guard guard(lock_);
    fire_one(guard, waiting_);
  }
  void notify_all() noexcept {
    const ObjectLock::Guard guard(lock_);
    waiting_.fire_all();
  }

 private:
  struct Relock {
    std::unique_lock<Mutex>& lock;
    ~Relock() {
      if (lock.owns_lock()) return;
      const CancelShield shield;
      lock.lock();
    }
  };

  ObjectLock lock_;
  WaitList waiting_;  // guarded by lock_
};

}  // namespace leat::actor
