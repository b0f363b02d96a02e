// What      watch: the latest value of something, for any number who want to know when it changes.
//           Values in between may be missed; the latest never is.
// Protocol  auto [setter, watcher] = watch<int>(0);   setter.set(1);
//           watcher.changed() waits for a value that this watcher has not seen; watcher.get() copies.
// Limits    Values are copied under the lock. One setter; watchers are copied at will.
#pragma once

#include <leat/actor/wait/wait.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace leat::actor {
namespace internal {

template <class T>
struct WatchCore {
  explicit WatchCore(T first) : value(std::move(first)) {}

  ObjectLock lock;
  // Guarded by lock.
  T value;
  std::uint64_t version = 1;
  bool setter = true;
  WaitList waiting;
};

}  // namespace internal

template <class T>
class Setter {
 public:
  explicit Setter(std::shared_ptr<internal::WatchCore<T>> core) noexcept : core_(std::move(core)) {}
  Setter(Setter&&) noexcept = default;
  Setter& operator=(Setter&& other) noexcept {
    if (this != &other) {
      close();
      core_ = std::move(other.core_);
    }
    return *this;
  }
  ~Setter() { close(); }

  /// Makes `value` the latest, and wakes who waits. Never waits.
  void set(T value) {
    const ObjectLock::Guard guard(core_->lock);
    std::swap(core_->value, value);  // the old one ends after the lock
    ++core_->version;
    core_->waiting.fire_all();
  }

  void close() noexcept {
    if (core_ == nullptr) return;
    {
      const ObjectLock::Guard guard(core_->lock);
      core_->setter = false;
      core_->waiting.fire_all();
    }
    core_ = nullptr;
  }

 private:
  std::shared_ptr<internal::WatchCore<T>> core_;
};

/// Threads: one at a time; copies are independent.
template <class T>
class Watcher {
 public:
  explicit Watcher(std::shared_ptr<internal::WatchCore<T>> core) noexcept
      : core_(std::move(core)) {}

  /// The latest value, which counts as seen.
  [[nodiscard]] T get() {
    const ObjectLock::Guard guard(core_->lock);
    seen_ = core_->version;
    return core_->value;
  }

  /// Waits for a value that was not seen. Returns: false if none can come any more, or if `deadline`
  /// came first. Throws: Cancelled, if it had to wait.
  bool changed(Nanos deadline = kNever) {
    ObjectLock::Guard guard(core_->lock);
    while (core_->version == seen_) {
      if (!core_->setter) return false;
      if (wait(guard, core_->waiting, deadline) == Waited::timed_out) break;
    }
    return core_->version != seen_;
  }

 private:
  std::shared_ptr<internal::WatchCore<T>> core_;
  std::uint64_t seen_ = 1;
};

template <class T>
struct Watch {
  Setter<T> setter;
  Watcher<T> watcher;
};

/// `first` counts as seen.
template <class T>
[[nodiscard]] Watch<T> watch(T first) {
  auto core = std::make_shared<internal::WatchCore<T>>(std::move(first));
  return {Setter<T>(core), Watcher<T>(core)};
}

}  // namespace leat::actor
