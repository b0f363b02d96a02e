// What      The command lines of `leat tiles`, `leat record` and `leat replay`.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/core/segment/name.hpp>
#include "exit_code.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace leat::tool {

/// `leat tiles ...`
struct RunTiles {
  enum class Action : std::uint8_t { list, watch, timers, halt };

  Action action = Action::list;
  std::optional<std::string> app;   // a namespace; all, if nobody says
  std::optional<std::string> tile;  // halt: which; all of the application, if nobody says
  std::filesystem::path base;
  bool json = false;
  Nanos interval = std::chrono::seconds(1);
  std::optional<std::uint64_t> count;  // looks of watch

  friend bool operator==(const RunTiles&, const RunTiles&) = default;
};

/// `leat record CHANNEL --into FOLDER`
struct RunRecord {
  core::SegmentName ring;
  std::filesystem::path folder;
  bool reliable = false;     // producers wait for it
  bool from_oldest = false;  // what is there first
  bool json = false;
  std::optional<std::uint64_t> count;  // messages; else without end
  std::optional<Nanos> idle;           // ends when nothing came for so long
  std::string sync = "1s";
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;
  std::uint64_t keep_bytes = 0;

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// `leat replay FOLDER`
struct RunReplay {
  enum class Pace : std::uint8_t { original, full, steps };

  std::filesystem::path folder;
  std::optional<core::SegmentName> into;  // a ring; else the records are printed
  Pace pace = Pace::full;
  double speed = 1;
  std::uint64_t from = 0;
  std::optional<std::uint64_t> count;
  bool info = false;  // only what there is
  bool json = false;

  friend bool operator==(const RunReplay&, const RunReplay&) = default;
};

/// `--help` among the words: the text.
struct ShowTileHelp {
  std::string_view text;
};

/// Reads the words behind the command's name. A Failure is always `usage`.
[[nodiscard]] std::variant<RunTiles, ShowTileHelp, Failure> parse_tiles(
    std::span<const std::string_view> words);
[[nodiscard]] std::variant<RunRecord, ShowTileHelp, Failure> parse_record(
    std::span<const std::string_view> words);
[[nodiscard]] std::variant<RunReplay, ShowTileHelp, Failure> parse_replay(
    std::span<const std::string_view> words);

}  // namespace leat::tool
