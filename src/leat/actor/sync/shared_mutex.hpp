// What      SharedMutex: many readers or one writer, actors and plain threads alike.
// Limits    Not recursive. A writer that waits keeps new readers out.
#pragma once

#include <leat/actor/wait/wait.hpp>
#include <leat/base/check.hpp>

#include <cstddef>

namespace leat::actor {

/// Fits std::shared_lock and std::unique_lock.
class SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  /// Waits until no other writer and no reader has it. Throws: Cancelled, if it had to wait.
  void lock() {
    ObjectLock::Guard guard(lock_);
    if (writer_ || readers_ > 0) {
      ++writers_waiting_;
      try {
        while (writer_ || readers_ > 0) wait(guard, waiting_writers_);
      } catch (...) {
        if (--writers_waiting_ == 0 && !writer_) waiting_readers_.fire_all();
        throw;
      }
      --writers_waiting_;
    }
    writer_ = true;
  }
  [[nodiscard]] bool try_lock() noexcept {
    const ObjectLock::Guard guard(lock_);
    if (writer_ || readers_ > 0) return false;
    return writer_ = true;
  }
  void unlock() noexcept {
    const ObjectLock::Guard guard(lock_);
    LEAT_CHECK(writer_, "a shared mutex was unlocked that had no writer");
    writer_ = false;
    let_in();
  }

  /// Waits until no writer has it or waits for it. Throws: Cancelled, if it had to wait.
  void lock_shared() {
    ObjectLock::Guard guard(lock_);
    while (writer_ || writers_waiting_ > 0) wait(guard, waiting_readers_);
    ++readers_;
  }
  [[nodiscard]] bool try_lock_shared() noexcept {
    const ObjectLock::Guard guard(lock_);
    if (writer_ || writers_waiting_ > 0) return false;
    ++readers_;
    return true;
  }
  void unlock_shared() noexcept {
    const ObjectLock::Guard guard(lock_);
    LEAT_CHECK(readers_ > 0, "a shared mutex was unlocked that had no reader");
    if (--readers_ == 0) let_in();
  }

 private:
  void let_in() noexcept {
    if (!waiting_writers_.fire_one()) waiting_readers_.fire_all();
  }

  ObjectLock lock_;
  // Guarded by lock_.
  bool writer_ = false;
  std::size_t readers_ = 0;
  std::size_t writers_waiting_ = 0;
  WaitList waiting_readers_;
  WaitList waiting_writers_;
};

}  // namespace leat::actor
