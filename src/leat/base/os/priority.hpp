// What      How the kernel treats the calling thread beside others: its niceness, a real-time policy;
//           and how often it was taken off its CPU.
// Limits    Raising one's priority takes a right (CAP_SYS_NICE, or limits that allow it): without it
//           each call is an error that says so, and nothing changes.
// Cost      One system call each.
#pragma once

#include <leat/base/result.hpp>

#include <cstdint>

namespace leat::os {

inline constexpr int kNicenessMin = -20;
inline constexpr int kNicenessMax = 19;

/// The niceness of the calling thread: -20 comes first, 19 last.
///
/// Errors: out of range; the system refuses, and why.
Result<void> set_thread_niceness(int niceness);
[[nodiscard]] int thread_niceness() noexcept;

enum class RealTime : std::uint8_t {
  none,         ///< as all others: SCHED_OTHER
  fifo,         ///< before all others, until it sleeps: SCHED_FIFO
  round_robin,  ///< the same, in turns with its equals: SCHED_RR
};

/// Puts the calling thread under a policy; `priority` is 1 to 99 of a real-time one, else 0.
///
/// Errors: out of range; the system refuses, and why.
Result<void> set_thread_real_time(RealTime policy, int priority);
[[nodiscard]] RealTime thread_real_time() noexcept;

/// What happened to the calling thread since it began.
struct ThreadTroubles {
  std::uint64_t involuntary_switches = 0;  // it was taken off its CPU
  std::uint64_t voluntary_switches = 0;    // it went to sleep
  std::uint64_t page_faults = 0;
};
[[nodiscard]] ThreadTroubles thread_troubles() noexcept;

}  // namespace leat::os
