// What      "Did you mean": the names nearest to one that does not exist.
// Source    Optimal string alignment distance (insert, delete, replace, swap neighbours).
#pragma once

#include "dependency_graph.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leat::tool {

/// How many single mistakes lie between two words, or `limit + 1` if they are more than `limit`.
[[nodiscard]] std::size_t mistakes_between(std::string_view a, std::string_view b,
                                           std::size_t limit);

/// The names of the graph that are nearest to `wanted`: at most `count`, nearest first, then by
/// name. Names that are too far away to be meant are not among them.
[[nodiscard]] std::vector<std::string> nearest_names(const DependencyGraph& graph,
                                                     std::string_view wanted,
                                                     std::size_t count = 3);

/// What to tell a user who named `wanted`, which is no node: who provides it, or what is near.
/// `noun` is what the nodes are: "package" or "node".
[[nodiscard]] std::string unknown_name_message(const DependencyGraph& graph,
                                               std::string_view wanted, std::string_view noun);

}  // namespace leat::tool
