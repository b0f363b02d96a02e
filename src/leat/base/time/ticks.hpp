// What      The processor's own clock: one instruction, no call. What its ticks are in time is for
//           TickClock to say.
// Limits    Where it does not tick at one rate on all cores, whatever they do, it is no clock:
//           `ticks_are_steady` says so, and TickClock does without.
// Cost      Some 20 cycles. It may be read a little earlier than the instructions before it are done.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace leat {

/// The counter of this moment; 0 where there is none.
[[nodiscard]] inline std::uint64_t read_ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

/// Whether the counter ticks at one rate, on all cores alike, asleep or not.
[[nodiscard]] inline bool ticks_are_steady() noexcept {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#elif defined(__aarch64__)
  return true;  // by the architecture
#else
  return false;
#endif
}

}  // namespace leat
