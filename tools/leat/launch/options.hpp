// What      The command line of `leat launch`.
#pragma once

#include "exit_code.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::tool {

/// `leat launch ...`
struct RunLaunch {
  std::size_t processes = 2;
  std::size_t workers = 0;           // of each; 0: what the program does without being told
  std::string fabric = "shm";        // or tcp
  bool is_plain = false;             // lines without the number of their process
  std::vector<std::string> program;  // and its words

  friend bool operator==(const RunLaunch&, const RunLaunch&) = default;
};

/// `--help` among the words.
struct ShowLaunchHelp {
  friend bool operator==(const ShowLaunchHelp&, const ShowLaunchHelp&) = default;
};

/// Reads the words behind `leat launch`. A Failure is always `usage`.
[[nodiscard]] std::variant<RunLaunch, ShowLaunchHelp, Failure> parse_launch(
    std::span<const std::string_view> words);

[[nodiscard]] std::string_view launch_help_text() noexcept;

}  // namespace leat::tool
