// What      Sleep until a 32-bit word changes, and wake those who sleep on it: Linux futexes, in one
//           process or across those that share the word's memory. Parkers and rings stand on it;
//           nobody else should need it.
// Protocol  The sleeper announces itself, checks its condition, and calls `futex_wait` with the
//           value of the word it saw. The waker changes the word, then calls `futex_wake`. The
//           kernel compares and falls asleep in one step, so a change made before is seen and one
//           made after finds the sleeper.
// Ordering  None is promised: a sleeper that wakes loads the word again, with its edge.
// Cost      One system call each.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <leat/base/atomic.hpp>

namespace leat::os {

/// Who may sleep on a word. Sleepers and wakers of one word say the same.
enum class FutexScope : bool {
  process,  ///< threads of this process: cheaper
  shared,   ///< also those of others, to whom the word's memory is mapped
};

/// Sleeps while `word` holds `expected`, until woken, or until `timeout` has passed.
///
/// Returns at once if the word holds another value. May return for no reason: call it in a loop.
/// Requires: nobody destroys `word` meanwhile. A negative timeout counts as zero.
/// Threads:  any. Waits; does not allocate or throw.
/// Units:    `timeout` is relative, on the monotonic clock; none means for ever.
void futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout = std::nullopt,
                FutexScope scope = FutexScope::process) noexcept;

/// Wakes up to `n` threads that sleep on `word`.
///
/// Returns:  how many were asleep and have been woken.
/// Threads:  any. Never waits.
int futex_wake(Atomic<std::uint32_t>& word, int n, FutexScope scope = FutexScope::process) noexcept;

}  // namespace leat::os
