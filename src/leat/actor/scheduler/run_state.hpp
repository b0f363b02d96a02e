// What      RunState: the one word that says whether an actor will run without anybody's doing, or
//           waits to be woken. Whoever makes it run again, and nobody else, puts it into a queue.
// Shape
//                     park                          wake: the waker queues it
//         AWAKE ----------------> PARKED ------------------------------------.
//          ^ ^ |                                                             |
//          | | | wake            park: the token is taken, go on             |
//          | | '-------> TOKEN -----------------------------.                |
//          | |            ^ |                               |                |
//          | |       wake '-'                               |                |
//          | '-----------------------------------------------                |
//          '-----------------------------------------------------------------'
//           AWAKE is running, or in some queue: the difference concerns only who holds it.
//           PARKED may have a mark, IDLE, of who wants to know whether it ran since.
// Protocol  Actor: register with whoever will wake it; `park`, after its stack was left. If that
//           says no, somebody woke it meanwhile: run it. Waker: make the reason visible; `wake`; if
//           that says yes, queue the actor.
// Invariants
//   (1) Each PARKED -> AWAKE is made by one waker, who queues the actor once.
//   (2) A wake while it is awake makes the next `park` fail: it is not lost.
//   (3) An actor may be woken for nothing. It looks at its reason in a loop.
//   (4) Whoever claims it holds it as if it had queued it, until it parks it again.
// Ordering  token  wake -> the park that takes it: what a waker did is visible to the actor.
//                  Also a wake that finds a token swaps it for itself, to be part of the chain.
//           rest   park -> the waker who queues: the actor's saved registers are whole.
//           A wake that makes it run orders through the queue. A claim is as a wake.
// Limits    `Sharing::solo`: all calls are the one worker's; nothing is swapped, all is relaxed.
// Cost      One swap each for park and wake; solo, a load and a store.
// Source    core::Parker, for threads; Tokio's task states.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>

#include <cstdint>

namespace leat::actor {

/// Whether other threads may touch a thing at the same time.
enum class Sharing : bool { solo, shared };

class RunState {
  struct token : Edge {};  // waker -> the actor's park: the reason to run on is visible
  struct rest : Edge {};   // park -> waker: the actor's stack was left

 public:
  RunState() = default;

  /// Says that the actor may be woken.
  ///
  /// Returns:  false if a wake came before: its token is taken, and the actor is to run.
  /// Requires: the actor's stack was left; nobody else may run it. Threads: whoever ran it last.
  [[nodiscard]] bool park(Sharing sharing) noexcept {
    if (sharing == Sharing::solo) {
      if (word_.load_relaxed() == kToken) {
        word_.store_relaxed(kAwake);
        return false;
      }
      word_.store_relaxed(kParked);
      return true;
    }
    std::uint32_t expected = kAwake;
    if (word_.compare_exchange_strong_release(expected, kParked, rest{})) return true;
    word_.exchange_acquire(kAwake, token{});
    return false;
  }

  /// Takes a token, if there is one: spares the way to sleep and back.
  [[nodiscard]] bool take_token() noexcept {
    if (word_.load_relaxed() != kToken) return false;
    word_.exchange_acquire(kAwake, token{});
    return true;
  }

  /// Has the actor run, or run on.
  ///
  /// Returns:  true if the caller must queue it, now.
  /// Threads:  any; solo, the worker.
  [[nodiscard]] bool wake(Sharing sharing) noexcept {
    std::uint32_t seen = word_.load_relaxed();
    if (sharing == Sharing::solo) {
      word_.store_relaxed((seen & kParked) != 0 ? kAwake : kToken);
      return (seen & kParked) != 0;
    }
    if (LEAT_MUTANT("run_state.no_token") && seen == kAwake) return false;
    while (!word_.compare_exchange_weak_acq_rel(seen, (seen & kParked) != 0 ? kAwake : kToken,
                                                rest{}, token{})) {
    }
    return (seen & kParked) != 0;
  }

  /// Marks it, if it is parked. Returns: whether it was marked before, and has not run since.
  /// Threads: any; solo, the worker.
  [[nodiscard]] bool mark_idle(Sharing sharing) noexcept {
    std::uint32_t seen = word_.load_relaxed();
    if (seen == (kParked | kIdle)) return true;
    if (seen != kParked) return false;
    if (sharing == Sharing::solo) {
      word_.store_relaxed(kParked | kIdle);
    } else {
      // Relaxed: it says nothing of the actor; the release that a waker wants to see goes on.
      (void)word_.compare_exchange_strong_relaxed(seen, kParked | kIdle);
    }
    return false;
  }

  /// Takes a parked actor away from its wakers, who leave a token meanwhile; `marked`: only one that
  /// has the mark. Returns: whether the caller has it, and is to `park` it again.
  /// Threads: any; solo, the worker.
  [[nodiscard]] bool claim(Sharing sharing, bool marked) noexcept {
    std::uint32_t seen = word_.load_relaxed();
    if ((seen & (marked ? kIdle : kParked)) == 0) return false;
    if (sharing == Sharing::solo) {
      word_.store_relaxed(kAwake);
      return true;
    }
    return word_.compare_exchange_strong_acq_rel(seen, kAwake, rest{}, token{});
  }

  [[nodiscard]] bool was_parked() const noexcept { return (word_.load_relaxed() & kParked) != 0; }

  /// For the next tenant of the slot. Requires: nobody holds the actor.
  void reset() noexcept { word_.store_relaxed(kAwake); }

 private:
  static constexpr std::uint32_t kAwake = 0;
  static constexpr std::uint32_t kParked = 1;
  static constexpr std::uint32_t kToken = 2;
  static constexpr std::uint32_t kIdle = 4;  // only with kParked

  Atomic<std::uint32_t> word_{kAwake};
};

}  // namespace leat::actor
