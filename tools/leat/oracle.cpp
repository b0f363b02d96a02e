#include "oracle.hpp"

#include "definitions.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace leat::tool::oracle {
namespace {

/// Who has a clause with this node among its alternatives.
struct Watch {
  ClauseId clause;
  NodeId owner;
};

std::vector<std::vector<Watch>> watches_of(const DependencyGraph& graph) {
  std::vector<std::vector<Watch>> watches(graph.nodes());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (ClauseId clause = graph.first_clause(node); clause != graph.end_clause(node); ++clause) {
      for (const NodeId alternative : graph.alternatives(clause)) {
        watches[alternative].push_back({clause, node});
      }
    }
  }
  return watches;
}

std::vector<Distance> breakage_over(const DependencyGraph& graph,
                                    const std::vector<std::vector<Watch>>& watches,
                                    std::span<const NodeId> removed) {
  std::vector<Distance> distance(graph.nodes(), kUnbroken);
  std::vector<std::uint32_t> gone_of_clause(graph.clauses(), 0);
  std::vector<NodeId> queue;  // in the order of distances, because it is first in, first out
  for (const NodeId node : removed) {
    if (distance[node] == 0) continue;
    distance[node] = 0;
    queue.push_back(node);
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const NodeId gone = queue[at];
    for (const auto& [clause, owner] : watches[gone]) {
      if (distance[owner] != kUnbroken) continue;
      if (++gone_of_clause[clause] < graph.alternatives(clause).size()) continue;
      distance[owner] = distance[gone] + 1;
      queue.push_back(owner);
    }
  }
  return distance;
}

}  // namespace

PageRank page_rank(const DependencyGraph& graph) {
  const std::size_t nodes = graph.nodes();
  PageRank result;
  if (nodes == 0) return result;
  result.rank.assign(nodes, rank_at_start(nodes));
  for (std::uint64_t change = kRankMass; change > kRankChangeMax && result.rounds < kRankRoundsMax;
       ++result.rounds) {
    std::vector<std::uint64_t> received(nodes, 0);
    std::uint64_t sent_by_all = 0;
    for (NodeId node = 0; node < nodes; ++node) {
      const std::span<const NodeId> edges = graph.edges_of(node);
      if (edges.empty()) continue;
      const std::uint64_t sent = rank_sent(result.rank[node], edges.size());
      for (const NodeId target : edges) received[target] += sent;
      sent_by_all += sent * edges.size();
    }
    const std::uint64_t share = rank_share(sent_by_all, nodes);
    change = 0;
    for (NodeId node = 0; node < nodes; ++node) {
      const std::uint64_t after = share + received[node];
      change += rank_change(result.rank[node], after);
      result.rank[node] = after;
    }
  }
  return result;
}

std::vector<NodeId> components(const DependencyGraph& graph) {
  std::vector<NodeId> parent(graph.nodes());
  std::iota(parent.begin(), parent.end(), NodeId{0});
  const auto root_of = [&parent](NodeId node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (const NodeId target : graph.edges_of(node)) {
      const auto [low, high] = std::minmax({root_of(node), root_of(target)});
      parent[high] = low;
    }
  }
  for (NodeId node = 0; node < graph.nodes(); ++node) parent[node] = root_of(node);
  return parent;
}

std::vector<Distance> breakage(const DependencyGraph& graph, std::span<const NodeId> removed) {
  return breakage_over(graph, watches_of(graph), removed);
}

std::vector<Distance> reach(const DependencyGraph& graph, std::span<const NodeId> removed) {
  std::vector<std::vector<NodeId>> sources(graph.nodes());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    for (const NodeId target : graph.edges_of(node)) sources[target].push_back(node);
  }
  std::vector<Distance> distance(graph.nodes(), kUnbroken);
  std::vector<NodeId> queue(removed.begin(), removed.end());
  for (const NodeId node : removed) distance[node] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const NodeId source : sources[queue[at]]) {
      if (distance[source] != kUnbroken) continue;
      distance[source] = distance[queue[at]] + 1;
      queue.push_back(source);
    }
  }
  return distance;
}

std::vector<std::uint32_t> breaks_of_all(const DependencyGraph& graph) {
  const std::vector<std::vector<Watch>> watches = watches_of(graph);
  std::vector<std::uint32_t> breaks(graph.nodes());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    const std::vector<Distance> distance = breakage_over(graph, watches, std::span(&node, 1));
    const auto staying = std::ranges::count(distance, kUnbroken);
    breaks[node] =
        static_cast<std::uint32_t>(graph.nodes() - static_cast<std::size_t>(staying) - 1);
  }
  return breaks;
}

}  // namespace leat::tool::oracle
