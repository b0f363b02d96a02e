// What      Durations and moments as text, both ways: "1.5ms", "2026-11-30T17:10:28.5Z".
// Shape     duration  one or more of number and unit, as in "1h30m"; units d h m s ms us ns; a part
//                     behind a point is allowed in the last one. Zero may stand without a unit.
//           moment    RFC 3339: date, T, time, up to nine digits behind a point, Z or an offset
// Invariants  (1) What was printed exactly reads back as the same value.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace leat {

/// Nanoseconds since the beginning of 1970, by the clock that people set. Not for measuring.
struct WallTime {
  std::int64_t ns = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

/// The wall time of this moment.
[[nodiscard]] WallTime wall_now() noexcept;

/// Errors: what is no number, no unit, or more than 292 years; where it stands.
[[nodiscard]] Result<Nanos> parse_duration(std::string_view text);
/// All of it, in one unit: "1.500001ms". Reads back exactly.
[[nodiscard]] std::string exact_text(Nanos time);
/// Three or four digits for people: "1.50ms", "-12.3s", "2h05m".
[[nodiscard]] std::string short_text(Nanos time);

/// Errors: what is no moment of RFC 3339, or not between 1678 and 2261.
[[nodiscard]] Result<WallTime> parse_wall_time(std::string_view text);
/// In UTC, with as many digits behind the point as it takes; none if they are zeros.
[[nodiscard]] std::string to_text(WallTime time);

}  // namespace leat
