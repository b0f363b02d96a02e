// What      `leat queues`, from options to text; main.cpp adds only the process around it.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/function.hpp>
#include "exit_code.hpp"
#include "queues/options.hpp"

#include <string_view>

namespace leat::tool {

/// The world as `leat queues` needs it, so that a test can be it.
struct QueuesWorld {
  const Clock& clock;
  Function<void(std::string_view)> out;
  Function<void(std::string_view)> err;
  Function<void(Nanos)> wait;  // between two looks
};

/// Does what was asked; watch and tail go on until their count is reached.
[[nodiscard]] ExitCode run_queues(const RunQueues& options, QueuesWorld& world);

}  // namespace leat::tool
