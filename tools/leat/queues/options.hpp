// What      The command line of `leat queues`.
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

/// `leat queues ...`
struct RunQueues {
  enum class Action : std::uint8_t { list, inspect, watch, tail, clean };

  Action action = Action::list;
  std::optional<std::string> name;   // of a segment; inspect and tail have one
  std::optional<std::string> space;  // all, if nobody says
  std::filesystem::path base;        // empty: the default
  bool json = false;
  bool force = false;  // clean: also what is in use
  Nanos interval = std::chrono::seconds(1);
  std::optional<std::uint64_t> count;  // looks of watch, messages of tail; else without end
  bool from_oldest = false;            // tail: what is there first

  /// The segment that `name` and `space` name.
  [[nodiscard]] core::SegmentName segment() const;

  friend bool operator==(const RunQueues&, const RunQueues&) = default;
};

/// `--help` among the words.
struct ShowQueuesHelp {
  friend bool operator==(const ShowQueuesHelp&, const ShowQueuesHelp&) = default;
};

/// Reads the words behind `leat queues`. A Failure is always `usage`.
[[nodiscard]] std::variant<RunQueues, ShowQueuesHelp, Failure> parse_queues(
    std::span<const std::string_view> words);

[[nodiscard]] std::string_view queues_help_text() noexcept;

}  // namespace leat::tool
