// What      Where one thread sleeps until another has something for it: a worker's bed, or a user's
//           own.
// Shape
//                 park: CAS                    ring, unpark: exchange, then a system call
//       RUNNING ---------------> PARKED ---------------------------------> NOTIFIED
//          ^ ^                     | recheck found something, or            |   ^
//          | '---------------------' the time ran out: exchange             |   | unpark of a
//          '----------------------------------------------------------------'   | running thread
//            exchange: the token is taken                   RUNNING ------------'
// Protocol  Sleeper: CAS RUNNING -> PARKED; if that fails a token lies there: take it and return.
//           Look again at everything that others announce with `ring` (recheck); wait on the word
//           while it says PARKED; exchange RUNNING; and only then look at what was announced.
//           Waker: make the thing visible (a seq_cst store or exchange), then `ring`: one load, and
//           only if it says PARKED an exchange and a system call. Or `unpark`: one exchange,
//           always.
// Invariants
//   (1) One thread parks; any thread rings and unparks.
//   (2) A token stays until a park takes it: an `unpark` before `park` makes that `park` return.
//   (3) Whoever turns PARKED into NOTIFIED, and nobody else, makes the system call.
// Ordering  token  from the exchange of a waker to the exchange of the sleeper: what a waker did
//                  before it woke is visible after `park` returns. Release is enough for wakers: a
//                  later waker's exchange continues the release sequence of an earlier one.
//           doze   the two seq_cst halves of "announce, then load the state" against "say PARKED,
//                  then recheck": at least one of the two sees the other. With less, both may look
//                  away.
//           The relaxed load in the wait loop decides only whether to wait again; the exchange
//           after it orders.
// Limits    The word belongs to its owner, not to the thread: a blocking call in user code has a
//           Parker of its own and cannot swallow the token. A timed park may return early. Threads
//           of one process.
// Cost      ring: one load of a shared line while the sleeper runs. unpark: one exchange. park: two
//           read-modify-writes beside the wait.
// Source    Ours, after Rust's `std::thread::park` (three states, one word).
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/futex.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace leat::core {

class alignas(kCacheLine) Parker {
  struct token : Edge {};  // waker's exchange -> sleeper's exchange: the reason to wake is visible
  struct doze : Edge {
  };  // sleeper says PARKED, then rechecks; waker announces, then looks: seq_cst

 public:
  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Wakes the owner if it sleeps; leaves no token if it runs.
  ///
  /// Requires: what the owner is rung for was made visible by a seq_cst store or read-modify-write
  ///           before the call, and the owner's `recheck` looks there with a seq_cst load.
  /// Returns:  whether a system call was made; callers count it.
  /// Threads:  any.
  bool ring() noexcept { return state_.load_seq_cst(doze{}) == kParked && unpark(); }

  /// Leaves a token, and wakes the owner if it sleeps: its current or next `park` returns.
  ///
  /// Returns:  whether a system call was made; callers count it.
  /// Threads:  any.
  /// Ordering: what the caller did before is visible to the owner when that `park` returns.
  bool unpark() noexcept {
    if (state_.exchange_release(kNotified, token{}) != kParked) return false;
    os::futex_wake(state_, 1);
    return true;
  }

  /// Sleeps until rung or unparked, or until `timeout` has passed; at once if a token lies there,
  /// or if `recheck()` is true. `recheck` runs after the state says PARKED and before the wait.
  ///
  /// Returns:  false if neither a token nor `recheck` ended it: the time ran out, or a timed wait
  ///           ended early. Either way look at timers and go on.
  /// Threads:  the owner.
  template <class Recheck>
  bool park(Recheck&& recheck, std::optional<Nanos> timeout = std::nullopt) {
    if (LEAT_MUTANT("parker.token_cleared_late")) state_.exchange_acquire(kRunning, token{});
    std::uint32_t expected = kRunning;
    if (!state_.compare_exchange_strong_seq_cst(expected, kParked, doze{}, doze{})) {
      state_.exchange_acquire(kRunning, token{});
      return true;
    }
    if (!LEAT_MUTANT("parker.no_recheck") && std::forward<Recheck>(recheck)()) {
      state_.exchange_acquire(kRunning, token{});  // takes a token that came meanwhile, too
      return true;
    }
    ++waits_;
    if (timeout) {
      os::futex_wait(state_, kParked, timeout);
    } else {
      while (state_.load_relaxed() == kParked) os::futex_wait(state_, kParked, std::nullopt);
    }
    if (LEAT_MUTANT("parker.token_cleared_late")) return true;
    return state_.exchange_acquire(kRunning, token{}) == kNotified;
  }

  /// How often `park` went to the kernel to sleep. Threads: the owner.
  [[nodiscard]] std::uint64_t waits() const noexcept { return waits_; }

  /// Whether the owner was asleep, or about to be, a moment ago.
  [[nodiscard]] bool was_parked() const noexcept { return state_.load_relaxed() == kParked; }

 private:
  static constexpr std::uint32_t kRunning = 0;
  static constexpr std::uint32_t kParked = 1;
  static constexpr std::uint32_t kNotified = 2;

  Atomic<std::uint32_t> state_{kRunning};
  std::uint64_t waits_ = 0;  // the owner's, written only on its way to sleep
};

}  // namespace leat::core
