// What      The definitions, computed the plain way: one thread, one array after the other. Only
//           tests use it; the command computes the same by a dataflow.
#pragma once

#include "dependency_graph.hpp"
#include "reasons.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace leat::tool::oracle {

struct PageRank {
  std::vector<std::uint64_t> rank;
  std::uint32_t rounds = 0;
};

[[nodiscard]] PageRank page_rank(const DependencyGraph& graph);

/// The component of each node, by its smallest id.
[[nodiscard]] std::vector<NodeId> components(const DependencyGraph& graph);

/// When each node breaks without those that are `removed`; kUnbroken for those that stay.
[[nodiscard]] std::vector<Distance> breakage(const DependencyGraph& graph,
                                             std::span<const NodeId> removed);

/// How far each node is from those that are `removed`, against the edges.
[[nodiscard]] std::vector<Distance> reach(const DependencyGraph& graph,
                                          std::span<const NodeId> removed);

/// How many nodes each node breaks.
[[nodiscard]] std::vector<std::uint32_t> breaks_of_all(const DependencyGraph& graph);

}  // namespace leat::tool::oracle
