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
  if (outcome.refusal()) return *outcome.refusal();
  for (std::size_t worker = 0; worker < outcome.workers(); ++worker) {
    const comm::Ending& ending = outcome.ending(worker);
    if (!ending.error || ending.stopped) continue;  // those were stopped because of another
    const std::string where = ending.where.empty() ? "" : ", " + ending.where;
    const std::string who = "worker " + std::to_string(outcome.first_worker() + worker);
    const std::string said = comm::message_of(ending.error);
    return {said.starts_with(who) ? said : who + where + ": " + said};
  }
  // Another process failed: its workers' endings here say so.
  if (outcome.workers() > 0) return {comm::message_of(outcome.ending(0).error)};
  return {"the workers were stopped"};
}

}  // namespace leat::tool::flow
