#include "reasons.hpp"

#include <leat/base/check.hpp>

#include <algorithm>
#include <optional>

namespace leat::tool {
namespace {

/// The reason of a node that breaks in round `distance[node]`, which is at least 1.
std::optional<Reason> reason_of(const DependencyGraph& graph, std::span<const Distance> distance,
                                NodeId node) {
  for (ClauseId clause = graph.first_clause(node); clause != graph.end_clause(node); ++clause) {
    const std::span<const NodeId> alternatives = graph.alternatives(clause);
    const auto last = std::ranges::max_element(
        alternatives, {}, [&](NodeId alternative) { return distance[alternative]; });
    if (distance[*last] + 1 == distance[node]) return Reason{node, clause, *last};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Reason> chain_of_reasons(const DependencyGraph& graph,
                                     std::span<const Distance> distance, NodeId node) {
  LEAT_CHECK(distance.size() == graph.nodes(), "distances of another graph");
  std::vector<Reason> chain;
  while (distance[node] != 0 && distance[node] != kUnbroken) {
    const std::optional<Reason> reason = reason_of(graph, distance, node);
    LEAT_CHECK(reason.has_value(), "a node broke and none of its clauses did");
    chain.push_back(*reason);
    node = reason->via;
  }
  return chain;
}

}  // namespace leat::tool
