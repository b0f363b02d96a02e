// What      The stop token of one running whole: a flag that every loop sees, with who asked and
//           why.
// Protocol  Any thread requests; the first request wins and its reason stays. Loops ask
//           `requested()` once a round. A loop that sleeps registers a waker before its first
//           sleep, and asks `requested_before_sleep()` after it has said that it sleeps.
// Invariants
//   (1) Once set, the flag stays.
//   (2) There is one reason, and it is whole before the flag is seen.
//   (3) Every waker, registered before or after the request, is called once for it.
// Ordering  stopped  the requester's store to every loop's load: the reason is visible. On the
//                    way to sleep both sides are seq_cst: the requester stores the flag and then
//                    looks who sleeps, the sleeper says so and then looks at the flag; one of them
//                    sees the other.
// Limits    Not reusable. Wakers run on the requester's or the registering thread, under the
//           token's mutex: they may ring a parker, and must not come back here or throw.
// Cost      requested(): one acquire load of a line that is written once.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/function.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace leat::core {

/// Why the whole stops.
struct StopReason {
  std::string who;               ///< the worker, operator or caller, as a person would name it
  std::string why;               ///< one sentence
  std::exception_ptr exception;  ///< what user code threw, untouched; null for an orderly stop
};

class alignas(kCacheLine) StopToken {
  struct stopped : Edge {};  // the request -> every loop: the reason is whole; and see the head

 public:
  using WakerId = std::uint64_t;

  StopToken() = default;
  StopToken(const StopToken&) = delete;
  StopToken& operator=(const StopToken&) = delete;

  /// Sets the flag, keeps the reason and wakes every sleeper, if nobody did so before.
  ///
  /// Returns: whether this was the first request.
  /// Threads: any. Takes a mutex.
  bool request(StopReason reason);

  /// Whether somebody has requested a stop. For loops, once a round.
  [[nodiscard]] bool requested() const noexcept { return flag_.load_acquire(stopped{}) != 0; }

  /// The same, for the recheck between saying "I sleep" and sleeping.
  [[nodiscard]] bool requested_before_sleep() const noexcept {
    return flag_.load_seq_cst(stopped{}) != 0;
  }

  /// Who and why; null as long as nobody has requested. Never changes afterwards.
  [[nodiscard]] const StopReason* reason() const noexcept {
    return requested() ? &reason_ : nullptr;
  }

  /// Has `wake` called when a stop is requested; at once if one has been.
  [[nodiscard]] WakerId add_waker(Function<void()> wake);

  /// Forgets a waker. When this returns it neither runs nor will.
  void remove_waker(WakerId id);

 private:
  Atomic<std::uint32_t> flag_{0};
  std::mutex mutex_;  // guards the wakers, and the reason until the flag is set
  StopReason reason_;
  std::vector<std::pair<WakerId, Function<void()>>> wakers_;
  WakerId next_id_ = 1;
};

}  // namespace leat::core
