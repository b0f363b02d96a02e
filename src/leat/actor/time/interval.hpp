// What      Interval: a time again and again, without drift: the n-th is `start + n * period`,
//           however late the ones before were noticed. `after`: something to do later.
// Protocol  Interval every(milliseconds(10));   for (;;) { every.wait(); ... }
//           JoinHandle<void> later = after(seconds(1), [] { ... });   later.cancel();
#pragma once

#include <leat/actor/self.hpp>
#include <leat/actor/spawn.hpp>

#include <utility>

namespace leat::actor {

class Interval {
 public:
  /// The first comes one period from now. Requires: `period > 0`; checked.
  explicit Interval(Nanos period) noexcept : period_(period), next_(now_here()) {
    LEAT_CHECK(period > Nanos{0}, "an interval of no time");
  }

  /// Waits for the next one; at once if it has passed. Returns: when it was to be.
  /// Throws: Cancelled.
  Nanos wait() {
    next_ += period_;
    sleep_until(next_);
    return next_;
  }

 private:
  Nanos period_;
  Nanos next_;
};

/// Starts an actor that calls `f` after `delay`, unless it is cancelled before.
template <class F>
JoinHandle<void> after(Nanos delay, F&& f) {
  return spawn([deadline = deadline_after(delay), call = std::forward<F>(f)]() mutable {
    sleep_until(deadline);
    (void)call();
  });
}

}  // namespace leat::actor
