// What      Once: has something done once, by whoever comes first; all others wait until it is done.
//           For actors and plain threads alike.
// Protocol  Once once;   once.call([&] { table = load(); });
// Limits    A call that throws, or is cancelled, has not happened: the next that waits does it. What
//           is called must not call the same Once: it would wait for itself.
// Cost      When it is done: one lock.
// Source    std::call_once, which blocks the worker's thread and so cannot be used by actors that wait.
#pragma once

#include <leat/actor/wait/wait.hpp>

#include <functional>
#include <utility>

namespace leat::actor {

class Once {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  /// Calls `f(arguments...)` unless that was done before; waits if somebody is at it.
  ///
  /// Throws:   what `f` throws; Cancelled, if it had to wait.
  /// Ordering: what `f` did is visible.
  template <class F, class... A>
  void call(F&& f, A&&... arguments) {
    {
      ObjectLock::Guard guard(lock_);
      while (state_ == State::under_way) wait(guard, waiting_);
      if (state_ == State::done) return;
      state_ = State::under_way;
    }
    Attempt attempt{*this};
    std::invoke(std::forward<F>(f), std::forward<A>(arguments)...);
    attempt.outcome = State::done;
  }

  [[nodiscard]] bool is_done() noexcept {
    const ObjectLock::Guard guard(lock_);
    return state_ == State::done;
  }

 private:
  enum class State : unsigned char { to_do, under_way, done };

  struct Attempt {
    Once& once;
    State outcome = State::to_do;
    ~Attempt() {
      const ObjectLock::Guard guard(once.lock_);
      once.state_ = outcome;
      once.waiting_.fire_all();
    }
  };

  ObjectLock lock_;
  State state_ = State::to_do;  // guarded by lock_
  WaitList waiting_;            // guarded by lock_
};

}  // namespace leat::actor
