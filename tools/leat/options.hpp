// What      The command line of `leat`: what was asked, or what is wrong with it.
// Limits    Unknown flags, missing and bad values are errors that name them and the next step. Long
//           options take "--name value" and "--name=value"; "--" ends the options.
#pragma once

#include "exit_code.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace leat::tool {

enum class Format { table, json, csv };

/// `leat run packages ...`
struct RunPackages {
  std::size_t top = 20;
  Format format = Format::table;
  std::optional<std::size_t> workers;  // as many as there are CPUs if nobody says
  std::optional<std::chrono::microseconds> idle_spin;
  std::optional<std::string> input;  // an edge list instead of packages; "-"
  std::vector<std::string> without;  // packages to remove, one after the other
  std::optional<std::pair<std::string, std::string>> why;  // package, and the root of its trouble
  std::optional<std::string> graph;                        // file for the picture of the dataflow

  // Which of how many processes this is: not from the words, but from the environment.
  std::size_t process = 0;
  std::size_t processes = 1;

  friend bool operator==(const RunPackages&, const RunPackages&) = default;
};

/// `--help`, for the command or for `run`.
struct ShowHelp {
  bool of_run = false;
  friend bool operator==(const ShowHelp&, const ShowHelp&) = default;
};

struct ShowVersion {
  friend bool operator==(const ShowVersion&, const ShowVersion&) = default;
};

using Command = std::variant<RunPackages, ShowHelp, ShowVersion>;

/// Reads the words after the program's name. A Failure is always `usage`.
[[nodiscard]] std::variant<Command, Failure> parse_command(std::span<const std::string_view> words);

[[nodiscard]] std::string_view help_text() noexcept;
[[nodiscard]] std::string_view run_help_text() noexcept;

}  // namespace leat::tool
