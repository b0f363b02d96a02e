// What      `leat launch`: starts processes, passes on what they print, and ends when they have.
#pragma once

#include <leat/base/clock.hpp>
#include "exit_code.hpp"
#include "launch/options.hpp"

#include <functional>
#include <string_view>

namespace leat::tool {

/// Where lines go, what the time is, and whether somebody pressed Ctrl-C.
struct LaunchWorld {
  const Clock& clock;
  std::function<void(std::string_view)> out;
  std::function<void(std::string_view)> err;
  /// The number of a signal that asks for the end, or 0. Asked every few moments.
  std::function<int()> interrupted;
};

/// Returns: the exit code: 0, or that of the first process that failed, or 128 and the signal's number.
[[nodiscard]] int run_launch(const RunLaunch& options, const LaunchWorld& world);

}  // namespace leat::tool
