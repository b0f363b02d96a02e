// What      PageRank as definitions.hpp has it, in rounds that all workers make in step.
// Shape
//             edges ──────────> ┌──────┐ ──> ranks, when the stop rule holds
//             contributions ──> │ rank │ ──> contributions ──┐   to who is pointed at
//             totals ─────────> └──────┘ ──> totals ─────────┤   to every worker
//                   └──────────── feedback, one round on <───┘
// Protocol  Round r sends what rank r gives along each edge, and to every worker the sum of what
//           this one sent and by how much its ranks had moved to become rank r. Once a worker knows
//           that round r + 1 has all come, it has what rank r + 1 takes, and knows whether rank r
//           was the last. What it sends for a rank that turns out to be the last is not used.
// Invariants
//   (1) A worker is at most one round ahead of another, so two rounds of sums are kept.
//   (2) Sums are of integers: their order, and so the number of workers, changes nothing.
// Cost      Per round one record an edge and one a pair of workers. A bounded part of the edges is
//           sent per activation.
#pragma once

#include "meter.hpp"
#include "streams.hpp"

#include <cstddef>
#include <cstdint>

namespace leat::tool::flow {

/// A node's rank, and how many rounds there were; the same number on all nodes.
struct Ranked {
  NodeId node;
  std::uint32_t rounds;
  std::uint64_t page_rank;
};
LEAT_FIELDS(Ranked, node, rounds, page_rank);

/// The ranks of all nodes, each on its own worker.
///
/// Requires: `nodes != 0`; every edge is fed once, by any worker.
[[nodiscard]] Stream<Ranked> page_rank(Scope& scope, Stream<Edge> edges, std::size_t nodes,
                                       Meter& meter);

}  // namespace leat::tool::flow
