// What      SpineConfig: what a file may say about an application at its start: how large its channels
//           are, where its tiles run, where and how its recorder writes. TOML; a key that nobody knows
//           is an error, with its place.
// Shape     [channels.quotes]          [tiles.parser]            [recorder]
//           size = 8192                core = 2                  folder = "/var/lib/market"
//           mtu = 1500                 niceness = -5             segment_bytes = 67108864
//                                      policy = "fifo"           sync = "1s"   # or "none", "each"
//                                      priority = 10             keep_bytes = 10000000000
//                                      min_loop = "10ms"         keep_for = "24h"
//                                      pauses = 16
//                                      yields = false
//                                      parks = true
//                                      looks_before_park = 100
//                                      stuck_after = "2s"
// Limits    Whether channels and tiles of those names exist is asked when a spine is opened, and when
//           its tiles begin.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>
#include <leat/tile/loop/options.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace leat::tile {

struct ChannelConfig {
  std::optional<std::uint32_t> size{};
  std::optional<std::uint32_t> mtu{};
};

/// What is said of a tile; what is not said stays as the program has it.
struct TileConfig {
  std::optional<int> core{};
  std::optional<int> niceness{};
  std::optional<RealTime> policy{};
  std::optional<int> priority{};
  std::optional<bool> strict_placement{};
  std::optional<Nanos> min_loop{};
  std::optional<unsigned> pauses{};
  std::optional<bool> yields{};
  std::optional<bool> parks{};
  std::optional<unsigned> looks_before_park{};
  std::optional<Nanos> stuck_after{};

  void apply(TileOptions& options) const;
};

struct RecorderConfig {
  std::optional<std::filesystem::path> folder{};
  std::optional<std::uint64_t> segment_bytes{};
  std::optional<std::string> sync{};  // "none", "each", or a duration
  std::optional<std::uint64_t> keep_bytes{};
  std::optional<Nanos> keep_for{};
};

struct SpineConfig {
  std::map<std::string, ChannelConfig, std::less<>> channels{};
  std::map<std::string, TileConfig, std::less<>> tiles{};
  RecorderConfig recorder{};

  /// Errors: no TOML, and where; a key that is not known, and which are; a value of the wrong type or
  ///         out of its range. `where` names the text in messages.
  [[nodiscard]] static Result<SpineConfig> parse(std::string_view text, const std::string& where);
  /// Errors: the file cannot be read; as parse.
  [[nodiscard]] static Result<SpineConfig> load(const std::filesystem::path& file);
};

}  // namespace leat::tile
