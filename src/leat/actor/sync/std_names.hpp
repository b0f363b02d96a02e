// What      The names of the standard library for threads, as actors: a program that uses std::thread,
//           std::mutex and the like becomes one of actors by another namespace.
// Protocol  namespace sync = leat::actor::std_names;   // was: namespace sync = std;
//           runtime.run([] { sync::thread t([] { sync::this_thread::sleep_for(1ms); });   t.join(); });
// Limits    A `thread` is started by an actor, and is one; an exception that leaves it ends the process
//           by std::terminate, as the standard has it. What waits throws Cancelled where the actor is to
//           end. No recursive mutexes, no futures: use `oneshot`.
// Source    photon's std-compatible API.
#pragma once

#include <leat/actor/self.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/sync/condition.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/actor/sync/once.hpp>
#include <leat/actor/sync/semaphore.hpp>
#include <leat/actor/sync/shared_mutex.hpp>
#include <leat/actor/wait/waiter.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

namespace leat::actor::std_names {
namespace internal {

// Never earlier than asked for.
template <class Rep, class Period>
[[nodiscard]] Nanos nanos(const std::chrono::duration<Rep, Period>& time) {
  return std::chrono::ceil<Nanos>(time);
}

}  // namespace internal

using mutex = Mutex;
using shared_mutex = SharedMutex;
using latch = Latch;
using barrier = Barrier;
using once_flag = Once;

template <class F, class... A>
void call_once(once_flag& once, F&& f, A&&... arguments) {
  once.call(std::forward<F>(f), std::forward<A>(arguments)...);
}

class timed_mutex : public Mutex {
 public:
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& time) {
    return try_lock_until(deadline_after(internal::nanos(time)));
  }
};

enum class cv_status { no_timeout, timeout };

class condition_variable {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  void wait(std::unique_lock<mutex>& lock) { condition_.wait(lock); }
  template <class Ready>
  void wait(std::unique_lock<mutex>& lock, Ready ready) {
    condition_.wait(lock, std::move(ready));
  }
  template <class Rep, class Period>
  cv_status wait_for(std::unique_lock<mutex>& lock,
                     const std::chrono::duration<Rep, Period>& time) {
    const bool fired = condition_.wait(lock, deadline_after(internal::nanos(time)));
    return fired ? cv_status::no_timeout : cv_status::timeout;
  }
  template <class Rep, class Period, class Ready>
  bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& time,
                Ready ready) {
    return condition_.wait(lock, std::move(ready), deadline_after(internal::nanos(time)));
  }

 private:
  Condition condition_;
};

template <std::ptrdiff_t kMost = 0x7fff'ffff>
class counting_semaphore {
 public:
  explicit counting_semaphore(std::ptrdiff_t permits) noexcept
      : semaphore_(static_cast<std::size_t>(permits)) {}

  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return kMost; }

  void acquire() { semaphore_.acquire(); }
  [[nodiscard]] bool try_acquire() noexcept { return semaphore_.try_acquire(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& time) {
    return semaphore_.acquire(1, deadline_after(internal::nanos(time)));
  }
  void release(std::ptrdiff_t count = 1) noexcept {
    semaphore_.release(static_cast<std::size_t>(count));
  }

 private:
  Semaphore semaphore_;
};
using binary_semaphore = counting_semaphore<1>;

/// An actor, used as std::thread is.
class thread {
 public:
  using id = Pid;

  thread() noexcept = default;
  /// Starts an actor that calls `f(arguments...)`, all of which are copied or moved into it.
  /// Throws: UsageError on a plain thread.
  template <class F, class... A>
    requires(!std::is_same_v<std::remove_cvref_t<F>, thread>)
  explicit thread(F&& f, A&&... arguments)
      : handle_(spawn([call = std::tuple<std::decay_t<F>, std::decay_t<A>...>(
                           std::forward<F>(f), std::forward<A>(arguments)...)]() mutable noexcept {
          std::apply([](auto&& function,
                        auto&&... each) { std::invoke(std::move(function), std::move(each)...); },
                     std::move(call));
        })) {}
  thread(thread&&) noexcept = default;
  thread& operator=(thread&& other) noexcept {
    if (joinable()) std::terminate();
    handle_ = std::move(other.handle_);
    return *this;
  }
  ~thread() {
    if (joinable()) std::terminate();
  }

  [[nodiscard]] bool joinable() const noexcept { return static_cast<bool>(handle_); }
  /// Throws: UsageError if it is not joinable.
  void join() { handle_.join(); }
  void detach() noexcept { handle_.detach(); }
  [[nodiscard]] id get_id() const noexcept { return handle_.pid(); }
  void swap(thread& other) noexcept { std::swap(handle_, other.handle_); }

 private:
  JoinHandle<void> handle_;
};

namespace this_thread {

inline void yield() { yield_now(); }
[[nodiscard]] inline thread::id get_id() noexcept { return self(); }
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& time) {
  leat::actor::sleep_for(std_names::internal::nanos(time));
}

}  // namespace this_thread

}  // namespace leat::actor::std_names
