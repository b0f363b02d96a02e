// What      TileOptions: where a tile runs, how often, and what it does with a pass that found nothing.
//           The defaults are a loop that never leaves its CPU, wherever the kernel puts it.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/os/priority.hpp>
#include <leat/base/result.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace leat::tile {

using os::RealTime;

/// Nicenesses with a name.
inline constexpr int kNiceLow = 10;
inline constexpr int kNiceUsual = 0;
inline constexpr int kNiceHigh = -10;
inline constexpr int kNiceHighest = -20;

/// What a tile does after a pass that did nothing, once it has looked whether it is to stop: it parks
/// if it may; else it pauses, then yields.
struct IdleOptions {
  /// Pauses of the processor, 0 to 255. A few leave the line that is polled to its producer, and
  /// make a stream faster and a lone message later: `drain` and `sparse` of the bench `tile` show both.
  unsigned pauses = 0;
  /// Lets others of the same CPU run. For more tiles than CPUs.
  bool yields = false;
  /// Sleeps until a channel that it consumes has something. Those must be wakeable.
  bool parks = false;
  /// Passes that did nothing before it parks.
  unsigned looks_before_park = 100;
  /// The longest sleep before it looks again by itself. Bounds what a producer costs that is killed
  /// just before it wakes us.
  Nanos park_at_most = std::chrono::milliseconds(250);
};

struct TileOptions {
  /// For people and as the thread's name: 1 to 32 bytes. Empty: what the tile calls itself.
  std::string name{};
  /// The CPU that it keeps to.
  std::optional<int> core{};
  /// -20 to 19.
  std::optional<int> niceness{};
  RealTime real_time = RealTime::none;
  int priority = 0;  ///< of a real-time policy: 1 to 99
  /// Whether a placement that the system refuses is a failure of the tile, rather than a warning.
  bool strict_placement = false;
  /// A pass begins no sooner than so long after the one before.
  Nanos min_loop{0};
  IdleOptions idle{};
  /// How long one pass may take before the watchdog says that the tile is stuck; nothing: as the
  /// scope says.
  std::optional<Nanos> stuck_after{};
  /// What the program ends with if this tile fails: 1 to 125.
  int exit_code = 1;
  /// Runs on the thread that calls `TileScope::run`. One tile of a scope may.
  bool on_caller = false;
};

/// Errors: an option out of its range, with the range.
[[nodiscard]] Result<void> check_tile_options(const TileOptions& options);

}  // namespace leat::tile
