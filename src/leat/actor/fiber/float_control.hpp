// What      The control words of the floating point units: rounding, traps, denormals, precision.
// Limits    The flags that operations leave behind (inexact and so on) are not control and are not
//           kept apart.
// Cost      3 to 4 ns to read and write, which is why switches do it for those fibers only that say
//           so.
#pragma once

#include <cstdint>

namespace leat::actor {

struct FloatControl {
  std::uint32_t vector = 0;  ///< x86-64: mxcsr; aarch64: fpcr
  std::uint16_t x87 = 0;     ///< x86-64: the x87 control word

  /// Of the calling thread, without the flags.
  [[nodiscard]] static FloatControl now() noexcept {
    FloatControl control;
#if defined(__x86_64__)
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control.vector), "=m"(control.x87));
    control.vector &= ~std::uint32_t{0x3f};
#else
    std::uint64_t word = 0;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    control.vector = static_cast<std::uint32_t>(word);
#endif
    return control;
  }

  /// Makes it that of the calling thread.
  void set() const noexcept {
#if defined(__x86_64__)
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(vector), "m"(x87));
#else
    asm volatile("msr fpcr, %0" : : "r"(static_cast<std::uint64_t>(vector)));
#endif
  }

  friend bool operator==(const FloatControl&, const FloatControl&) noexcept = default;
};

}  // namespace leat::actor
