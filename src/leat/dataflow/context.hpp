// What      What the parts of a dataflow need of the worker they live on: its seat in the fabric,
//           its part of the progress plane, its scheduler, and the one counter that all ids come
//           from.
// Invariants  (1) All workers take ids in the same order, so an id means the same thing on each of
//             them.
#pragma once

#include <cstdint>
#include <string>

#include <leat/comm/fabric.hpp>
#include <leat/core/worker.hpp>
#include <leat/progress/plane.hpp>

namespace leat::dataflow {

/// One per worker; outlives its dataflows.
struct Context {
  core::Worker& scheduler;
  comm::Seat& seat;
  progress::ProgressPlane& plane;
  std::uint64_t next_id = 0;

  [[nodiscard]] std::uint64_t new_id() noexcept { return next_id++; }
};

/// User code of a dataflow threw, called from outside of its operators: the dataflow ends, as if
/// one of them had thrown. Requires: from within the handler of the exception.
void dataflow_failed(Context& context, std::uint32_t dataflow, const std::string& whose);

}  // namespace leat::dataflow
