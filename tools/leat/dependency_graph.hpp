// What      Who needs whom: the input of the job, as flat arrays over dense ids.
// Shape     A node needs all of its clauses; a clause needs one of its alternatives; an alternative
//           is a node. `a | b` where b is provided by b1 and b2 is the clause {a, b1, b2}.
//
//             nodes     0        1              ids in the order of names
//             clauses   0 1 2    3              clause_begin_[node] .. clause_begin_[node + 1]
//             members   4 7|2|5  8|9  2         alternative_begin_[clause] ...
//             edges     2 4 5 7 8 9 | 2         edge_begin_[node] .. ; each target once, by id
// Invariants
//   (1) Names are unique and ascend with ids, so ties that are broken by id are broken by name.
//   (2) A clause has at least one alternative, each once, ascending, and never its own node.
//   (3) Edges are the union of all alternatives a node names, also of clauses that were left out
//       because the node satisfies them itself; never an edge to itself.
// Limits    Only Depends and Pre-Depends count. Versions, architectures and Conflicts are ignored.
// A
//           clause that nobody satisfies today is left out: it breaks nothing that is not broken.
#pragma once

#include "package_index.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace leat::tool {

/// A package, or a node of an edge list; dense from 0 in the order of names.
using NodeId = std::uint32_t;

/// A clause; dense from 0 over all nodes.
using ClauseId = std::uint32_t;

class DependencyGraph {
 public:
  DependencyGraph(DependencyGraph&&) = default;
  DependencyGraph& operator=(DependencyGraph&&) = default;

  [[nodiscard]] std::size_t nodes() const noexcept { return clause_begin_.size() - 1; }
  [[nodiscard]] std::size_t edges() const noexcept { return edges_.size(); }
  [[nodiscard]] std::size_t clauses() const noexcept { return alternative_begin_.size() - 1; }
  /// Clauses that nobody satisfies and were left out.
  [[nodiscard]] std::size_t unsatisfied_clauses() const noexcept { return unsatisfied_clauses_; }

  [[nodiscard]] std::string_view name(NodeId node) const noexcept {
    return std::string_view(names_).substr(name_begin_[node],
                                           name_begin_[node + 1] - name_begin_[node]);
  }
  /// The node of that name, found by halving.
  [[nodiscard]] std::optional<NodeId> find(std::string_view name) const noexcept;
  /// Who provides `name` if it is no node itself ("mail-transport-agent"); else nothing.
  [[nodiscard]] std::span<const NodeId> providers(std::string_view name) const;

  /// What `node` names anywhere: invariant (3).
  [[nodiscard]] std::span<const NodeId> edges_of(NodeId node) const noexcept {
    return slice(edges_, edge_begin_, node);
  }
  [[nodiscard]] ClauseId first_clause(NodeId node) const noexcept { return clause_begin_[node]; }
  [[nodiscard]] ClauseId end_clause(NodeId node) const noexcept { return clause_begin_[node + 1]; }
  [[nodiscard]] std::span<const NodeId> alternatives(ClauseId clause) const noexcept {
    return slice(alternatives_, alternative_begin_, clause);
  }

 private:
  friend class DependencyGraphBuilder;
  DependencyGraph() = default;

  static std::span<const NodeId> slice(const std::vector<NodeId>& values,
                                       const std::vector<std::uint32_t>& begin,
                                       std::uint32_t at) noexcept {
    return std::span(values).subspan(begin[at], begin[at + 1] - begin[at]);
  }

  std::string names_;
  std::vector<std::uint32_t> name_begin_{0};
  std::vector<ClauseId> clause_begin_{0};
  std::vector<std::uint32_t> alternative_begin_{0};
  std::vector<NodeId> alternatives_;
  std::vector<std::uint32_t> edge_begin_{0};
  std::vector<NodeId> edges_;
  std::map<std::string, std::vector<NodeId>, std::less<>> virtual_names_;
  std::size_t unsatisfied_clauses_ = 0;
};

/// The graph of an index. Copies the names: the index may go.
///
/// Requires: the packages in the order of their names, each once, as `read_package_index` gives
/// them.
[[nodiscard]] DependencyGraph graph_of_packages(std::span<const Package> packages);

/// A line "FROM TO": FROM needs TO, whatever else it needs.
struct NamedEdge {
  std::string_view from;
  std::string_view to;
  friend auto operator<=>(const NamedEdge&, const NamedEdge&) = default;
};

/// The graph of an edge list: every name is a node, every edge a clause of one alternative, edges
/// that are repeated count once and edges of a node to itself not at all.
[[nodiscard]] DependencyGraph graph_of_edges(std::span<const NamedEdge> edges);

}  // namespace leat::tool
