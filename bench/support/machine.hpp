// What      Where a figure was taken: without it, it is no figure.
#pragma once

#include <cstddef>
#include <string>

namespace leat::bench {

struct Machine {
  std::size_t cores = 0;  ///< that this process may use at once: affinity mask and quota counted
  std::string cpu;
  std::string governor;  ///< of the first core; "none" where the kernel does not steer frequency
  std::string kernel;
  std::string compiler;
  std::string commit;
  double load = 0;  ///< runnable threads of the whole machine over the last minute, before we began
};

/// What the system says of itself. `commit` is what the caller knows it to be.
[[nodiscard]] Machine this_machine(std::string commit);

[[nodiscard]] std::string to_json(const Machine& machine);

}  // namespace leat::bench
