// What      `leat tiles`, `leat record` and `leat replay`, from options to text; main.cpp adds only the
//           process around them.
// Invariants  (1) Every text ends with an end of line. (2) The names in the JSON are kept; new ones may come.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/function.hpp>
#include <leat/base/result.hpp>
#include <leat/tile/control/board.hpp>
#include "exit_code.hpp"
#include "tiles/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace leat::tool {

/// The world as these commands need it, so that a test can be it.
struct TilesWorld {
  const Clock& clock;  // the machine's steady one: heartbeats are of it
  Function<void(std::string_view)> out;
  Function<void(std::string_view)> err;
  Function<void(Nanos)> wait;   // between two looks
  Function<bool()> is_stopped;  // whether somebody wants it to end
  Function<bool()> read_line;   // for steps: false at the end
};

/// A tile, and where it was found.
struct TileLook {
  std::string app;
  tile::TileFacts facts;
  Nanos at{0};

  [[nodiscard]] Nanos heartbeat_age() const noexcept { return at - facts.heartbeat; }
};

/// All tiles of one application, or of all. Errors: the folder cannot be read; no such application.
[[nodiscard]] Result<std::vector<TileLook>> look_at_tiles(const RunTiles& options, Nanos now);

/// The tile that is furthest behind, of those that are: relative to the size of its channel, or by loss.
[[nodiscard]] const TileLook* slowest(const std::vector<TileLook>& looks,
                                      const std::vector<TileLook>& before) noexcept;

[[nodiscard]] ExitCode run_tiles(const RunTiles& options, TilesWorld& world);
[[nodiscard]] ExitCode run_record(const RunRecord& options, TilesWorld& world);
[[nodiscard]] ExitCode run_replay(const RunReplay& options, TilesWorld& world);

}  // namespace leat::tool
