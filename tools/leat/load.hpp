// What      From the machine or a file to the graph: the phases "read" and "graph" of the job.
#pragma once

#include "dependency_graph.hpp"
#include "exit_code.hpp"
#include "package_index.hpp"
#include "progress.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace leat::tool {

/// What the nodes of a graph are, and where they came from.
struct Subject {
  std::string source;     // "apt index, 3 files", or the name of the edge list
  std::string_view noun;  // "package" or "node"
  bool is_edge_list = false;
  std::size_t stanzas = 0;  // of packages, before versions were compared
};

struct Loaded {
  Subject subject;
  DependencyGraph graph;
};

/// Reads the edge list `input` ("-" is standard input), or the packages that `places` lead to.
[[nodiscard]] std::variant<Loaded, Failure> load(const std::optional<std::string>& input,
                                                 const PackagePlaces& places, Progress& progress);

}  // namespace leat::tool
