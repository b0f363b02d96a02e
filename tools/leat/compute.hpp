// What      The seam between the command and the dataflow: the command hands over a graph and what
//           it wants to know, and gets rows. Everything that is written or parsed lies on the
//           command's side, everything that runs on workers behind it.
// Limits    What is computed does not depend on the number of workers; only RunFigures and
//           latencies do.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/fields.hpp>
#include <leat/base/result.hpp>
#include <leat/core/network.hpp>
#include "dependency_graph.hpp"
#include "flow_graph.hpp"
#include "progress.hpp"
#include "reasons.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace leat::tool {

struct ComputeOptions {
  std::size_t workers = 1;  // of each process
  std::optional<Nanos>
      idle_spin{};       // how long a worker polls before it parks; the library's default
  std::size_t top = 20;  // rows of the ranking

  /// The nodes that may appear in the ranking: the first so many by PageRank, then by name; all of
  /// them if there is no number. See kEdgeListCandidates.
  std::optional<std::size_t> candidates{};

  /// Questions, answered in this order by one running dataflow: what breaks without this node? If
  /// there are any, they are all that is computed, and there is no ranking.
  std::vector<NodeId> without{};
};

/// A row of the ranking; the words are those of definitions.hpp.
struct RankedNode {
  NodeId node = 0;
  std::uint64_t page_rank = 0;
  std::uint32_t breaks = 0;
  std::uint32_t reaches = 0;

  friend bool operator==(const RankedNode&, const RankedNode&) = default;
};
LEAT_FIELDS(RankedNode, node, page_rank, breaks, reaches);

struct Breakage {
  NodeId node = 0;
  Distance distance = 0;

  friend bool operator==(const Breakage&, const Breakage&) = default;
};

/// What breaks without one node.
struct Answer {
  NodeId removed = 0;
  std::vector<Breakage> broken;  // by distance, then by id; without `removed` itself
  Nanos latency{0};  // from the question's entering the dataflow to its frontier's passing
};

/// What the run cost, in all processes.
struct RunFigures {
  std::size_t workers = 0;
  std::uint64_t rounds = 0;    // of all loops: times at which a worker met a new frontier
  std::uint64_t records = 0;   // that crossed a channel
  std::uint64_t wake_ups = 0;  // of parked workers
  Nanos elapsed{0};            // inside the dataflow
  std::size_t processes = 1;
  std::uint64_t memory_elsewhere = 0;  // at most resident in the other processes, bytes
};

struct Computed {
  std::vector<RankedNode> ranking;  // `top` rows, or fewer if there are fewer candidates
  std::uint32_t page_rank_rounds = 0;
  std::size_t components = 0;
  std::size_t largest_component = 0;
  std::vector<Answer> answers;
  FlowGraph flow;
  RunFigures figures;
};

/// Runs the dataflow on `options.workers` threads and waits for it. With several processes
/// (`network`), which must have been given the same graph and options: of each.
///
/// Returns: what came of it, in the first process; in the others nothing but the figures of their own.
///   An error with the name of the operator that failed if user logic threw.
/// Threads: `progress` is told from one of the workers; `graph` is read by all of them.
[[nodiscard]] Result<Computed> compute(const DependencyGraph& graph, const ComputeOptions& options,
                                       Progress& progress, const core::Network& network = {});

}  // namespace leat::tool
