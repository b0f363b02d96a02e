#include "dependency_graph.hpp"

#include <leat/base/check.hpp>

#include <algorithm>
#include <limits>

namespace leat::tool {

/// Grows a graph node by node, clause by clause.
class DependencyGraphBuilder {
 public:
  void name_node(std::string_view name) {
    graph_.names_ += name;
    graph_.name_begin_.push_back(checked(graph_.names_.size()));
  }

  void name_virtual(std::string_view name, std::span<const NodeId> providers) {
    graph_.virtual_names_.emplace(name, std::vector<NodeId>(providers.begin(), providers.end()));
  }

  /// Adds a clause of the node that is open; sorts `alternatives` in place.
  void add_clause(std::vector<NodeId>& alternatives) {
    if (alternatives.empty()) {
      ++graph_.unsatisfied_clauses_;
      return;
    }
    std::ranges::sort(alternatives);
    const auto repeated = std::ranges::unique(alternatives);
    alternatives.erase(repeated.begin(), repeated.end());
    targets_.insert(targets_.end(), alternatives.begin(), alternatives.end());
    if (std::ranges::binary_search(alternatives, open_node())) return;
    graph_.alternatives_.insert(graph_.alternatives_.end(), alternatives.begin(),
                                alternatives.end());
    graph_.alternative_begin_.push_back(checked(graph_.alternatives_.size()));
  }

  /// Ends the open node; the next id is open then.
  void close_node() {
    const NodeId node = open_node();
    std::ranges::sort(targets_);
    const auto repeated = std::ranges::unique(targets_);
    targets_.erase(repeated.begin(), repeated.end());
    std::erase(targets_, node);
    graph_.edges_.insert(graph_.edges_.end(), targets_.begin(), targets_.end());
    graph_.edge_begin_.push_back(checked(graph_.edges_.size()));
    graph_.clause_begin_.push_back(checked(graph_.clauses()));
    targets_.clear();
  }

  [[nodiscard]] DependencyGraph finish() && {
    LEAT_CHECK(graph_.name_begin_.size() == graph_.clause_begin_.size(),
               "a node has a name and no end, or an end and no name");
    return std::move(graph_);
  }

 private:
  static std::uint32_t checked(std::size_t count) {
    LEAT_CHECK(count < std::numeric_limits<std::uint32_t>::max(),
               "the graph is larger than 32-bit ids can count");
    return static_cast<std::uint32_t>(count);
  }

  [[nodiscard]] NodeId open_node() const noexcept {
    return static_cast<NodeId>(graph_.clause_begin_.size() - 1);
  }

  DependencyGraph graph_;
  std::vector<NodeId> targets_;
};

namespace {

/// Calls `each` with what stands between separators, empty pieces left out.
template <class Each>
void for_each_piece(std::string_view text, char separator, Each each) {
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    const std::string_view piece = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (piece.find_first_not_of(" \t\r\n") != std::string_view::npos) each(piece);
  }
}

/// The name in "libc6:any (>= 2.36) [amd64] <!nocheck>".
std::string_view name_of_relation(std::string_view relation) noexcept {
  const std::size_t begin = relation.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  relation.remove_prefix(begin);
  return relation.substr(0, relation.find_first_of(" \t\r\n:([<"));
}

}  // namespace

std::optional<NodeId> DependencyGraph::find(std::string_view wanted) const noexcept {
  NodeId low = 0;
  auto high = static_cast<NodeId>(nodes());
  while (low < high) {
    const NodeId middle = low + (high - low) / 2;
    if (name(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < nodes() && name(low) == wanted) return low;
  return std::nullopt;
}

std::span<const NodeId> DependencyGraph::providers(std::string_view wanted) const {
  const auto found = virtual_names_.find(wanted);
  if (found == virtual_names_.end()) return {};
  return found->second;
}

DependencyGraph graph_of_packages(std::span<const Package> packages) {
  // What a name stands for: itself, if there is such a package, and all who provide it.
  struct Meaning {
    std::optional<NodeId> self;
    std::vector<NodeId> providers;
  };
  std::unordered_map<std::string_view, Meaning> meanings;
  meanings.reserve(packages.size() * 2);
  DependencyGraphBuilder builder;
  for (NodeId node = 0; node < packages.size(); ++node) {
    LEAT_CHECK(node == 0 || packages[node - 1].name < packages[node].name,
               "packages are not in the order of their names");
    builder.name_node(packages[node].name);
    meanings[packages[node].name].self = node;
  }
  for (NodeId node = 0; node < packages.size(); ++node) {
    for_each_piece(packages[node].provides, ',', [&](std::string_view relation) {
      meanings[name_of_relation(relation)].providers.push_back(node);
    });
  }
  for (const auto& [name, meaning] : meanings) {
    if (!meaning.self) builder.name_virtual(name, meaning.providers);
  }

  std::vector<NodeId> alternatives;
  for (const Package& package : packages) {
    for (const std::string_view field : {package.pre_depends, package.depends}) {
      for_each_piece(field, ',', [&](std::string_view clause) {
        alternatives.clear();
        for_each_piece(clause, '|', [&](std::string_view relation) {
          const auto found = meanings.find(name_of_relation(relation));
          if (found == meanings.end()) return;
          const Meaning& meaning = found->second;
          if (meaning.self) alternatives.push_back(*meaning.self);
          alternatives.insert(alternatives.end(), meaning.providers.begin(),
                              meaning.providers.end());
        });
        builder.add_clause(alternatives);
      });
    }
    builder.close_node();
  }
  return std::move(builder).finish();
}

DependencyGraph graph_of_edges(std::span<const NamedEdge> edges) {
  std::vector<std::string_view> names;
  names.reserve(edges.size() * 2);
  for (const NamedEdge& edge : edges) {
    names.push_back(edge.from);
    names.push_back(edge.to);
  }
  std::ranges::sort(names);
  const auto repeated_names = std::ranges::unique(names);
  names.erase(repeated_names.begin(), repeated_names.end());

  std::unordered_map<std::string_view, NodeId> ids;
  ids.reserve(names.size());
  DependencyGraphBuilder builder;
  for (const std::string_view name : names) {
    ids.emplace(name, static_cast<NodeId>(ids.size()));
    builder.name_node(name);
  }

  std::vector<std::pair<NodeId, NodeId>> pairs;
  pairs.reserve(edges.size());
  for (const NamedEdge& edge : edges) pairs.emplace_back(ids.at(edge.from), ids.at(edge.to));
  std::ranges::sort(pairs);
  const auto repeated_pairs = std::ranges::unique(pairs);
  pairs.erase(repeated_pairs.begin(), repeated_pairs.end());

  std::vector<NodeId> alternatives;
  auto pair = pairs.begin();
  for (NodeId node = 0; node < names.size(); ++node) {
    for (; pair != pairs.end() && pair->first == node; ++pair) {
      alternatives.assign(1, pair->second);
      builder.add_clause(alternatives);
    }
    builder.close_node();
  }
  return std::move(builder).finish();
}

}  // namespace leat::tool
