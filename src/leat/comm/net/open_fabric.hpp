// What      A fabric as a configuration wants it: of how many workers and processes, connected to the
//           others.
// Protocol  `open_fabric`, then `run_workers` (spawn.hpp). What runs on a seat steps by itself: it
//           looks for news (`Seat::look`), sees whether it was stopped, and parks. `execute` of the
//           dataflow layer does all that.
#pragma once

#include <memory>

#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/core/config.hpp>

namespace leat::comm {

/// What the workers of this process share. With several processes it waits for the others first.
///
/// Returns: an error that says which processes did not come, or what was wrong with one.
[[nodiscard]] Result<std::unique_ptr<Fabric>> open_fabric(const core::Config& config,
                                                          const Clock& clock);

}  // namespace leat::comm
