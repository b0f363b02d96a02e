// What      Why a run of a dataflow failed, in one line for the user.
#pragma once

#include <leat/base/result.hpp>
#include <leat/comm/spawn.hpp>

#include <cstddef>
#include <string>

namespace leat::tool::flow {

/// Who failed first and why: `worker 1, operator "count" (flow.cpp:12): what it threw`.
///
/// Requires: `outcome` is of a run that did not end well.
template <class Outcome>
[[nodiscard]] Error error_of(const Outcome& outcome) {
  for (std::size_t worker = 0; worker < outcome.workers(); ++worker) {
    const comm::Ending& ending = outcome.ending(worker);
    if (!ending.error || ending.stopped) continue;  // those were stopped because of another
    const std::string where = ending.where.empty() ? "" : ", " + ending.where;
    return {"worker " + std::to_string(worker) + where + ": " + comm::message_of(ending.error)};
  }
  return {"the workers were stopped"};
}

}  // namespace leat::tool::flow
