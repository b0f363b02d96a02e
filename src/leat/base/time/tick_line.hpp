// What      The line by which ticks become time, and how it is kept on the steady clock: plain
//           arithmetic, so that a test can bend time as it likes.
// Shape     time = ns + (ticks - at) * slope, the slope in units of 2^-32 ns.
// Protocol  `first` from two samples a few milliseconds apart; then `refined` every second or so, by
//           a sample of now and one from some seconds ago.
// Invariants
//   (1) A refined line goes through the point of the old one at which it begins: time neither jumps
//       nor goes back where lines change. But if the steady clock has run away by more than 10 ms,
//       as after the machine slept, time jumps after it, and waits for it at half speed.
//   (2) Its slope is what was measured, and so much more or less that the error it begins with is
//       gone a second later; else at most 1/1000. So it always goes up.
// Source    The way kernels discipline their clocks.
#pragma once

#include <leat/base/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace leat {

namespace internal {
__extension__ using Wide = __int128;
}  // namespace internal

/// The same moment on both clocks.
struct TickSample {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
  friend bool operator==(const TickSample&, const TickSample&) = default;
};

struct TickLine {
  std::uint64_t at = 0;
  std::int64_t ns = 0;
  std::uint64_t slope = 0;

  /// Ticks before `at` are fine, too: another core may be a little behind.
  [[nodiscard]] Nanos time_of(std::uint64_t ticks) const noexcept {
    const auto gone = static_cast<std::int64_t>(ticks - at);
    return Nanos(ns +
                 static_cast<std::int64_t>(
                     static_cast<internal::Wide>(gone) * static_cast<internal::Wide>(slope) >> 32));
  }

  /// How many ticks `time` takes.
  [[nodiscard]] std::uint64_t ticks_in(Nanos time) const noexcept {
    return static_cast<std::uint64_t>((static_cast<internal::Wide>(time.count()) << 32) /
                                      static_cast<internal::Wide>(slope));
  }

  /// Requires: `late` is later than `early` on both clocks.
  [[nodiscard]] static TickLine first(const TickSample& early, const TickSample& late) noexcept {
    return {late.ticks, late.ns, slope_between(early, late)};
  }

  /// The line from `now` on. Requires: `now` is later than `past` on both clocks.
  [[nodiscard]] TickLine refined(const TickSample& past, const TickSample& now) const noexcept {
    TickLine line{now.ticks, time_of(now.ticks).count(), slope_between(past, now)};
    const auto measured = static_cast<std::int64_t>(line.slope);
    const std::int64_t error = now.ns - line.ns;
    if (error > kRunAway) {
      line.ns = now.ns;
    } else if (error < -kRunAway) {
      line.slope = static_cast<std::uint64_t>(measured / 2);
    } else {
      // Of a second's worth of ticks each takes its part of the error.
      const auto bend =
          static_cast<std::int64_t>(static_cast<internal::Wide>(error) *
                                    static_cast<internal::Wide>(measured) / 1'000'000'000);
      const std::int64_t most = measured / 1000;
      line.slope = static_cast<std::uint64_t>(measured + std::clamp(bend, -most, most));
    }
    return line;
  }

  friend bool operator==(const TickLine&, const TickLine&) = default;

 private:
  static constexpr std::int64_t kRunAway = 10'000'000;

  [[nodiscard]] static std::uint64_t slope_between(const TickSample& early,
                                                   const TickSample& late) noexcept {
    const auto ns = static_cast<internal::Wide>(late.ns - early.ns);
    return std::max<std::uint64_t>(
        static_cast<std::uint64_t>((ns << 32) / (late.ticks - early.ticks)), 1);
  }
};

}  // namespace leat
