// What      Why a package breaks: one chain from it down to what was removed.
// Protocol  Distances come from the dataflow; the chain is read off them. From a node of distance d
//           the chain goes over its first clause of which every alternative went before round d, to
//           the alternative of that clause that went last (of several, the first by name), whose
//           distance is d - 1. So a chain has as many steps as the package is away, and there is
//           one chain.
#pragma once

#include "dependency_graph.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace leat::tool {

/// The round in which a node breaks: 0 is what was removed.
using Distance = std::uint32_t;
inline constexpr Distance kUnbroken = std::numeric_limits<Distance>::max();

/// One link of a chain: `node` breaks because all alternatives of `clause` are gone, the last of
/// them being `via`.
struct Reason {
  NodeId node;
  ClauseId clause;
  NodeId via;

  friend bool operator==(const Reason&, const Reason&) = default;
};

/// The chain of reasons from `node`; the last `via` is what was removed.
///
/// Requires: `distance` is the breakage of `graph`, one entry a node; checked as far as it is read.
/// Returns:  an empty chain if `node` is what was removed, or does not break.
[[nodiscard]] std::vector<Reason> chain_of_reasons(const DependencyGraph& graph,
                                                   std::span<const Distance> distance, NodeId node);

}  // namespace leat::tool
