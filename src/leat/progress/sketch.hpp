// What      The shape of a dataflow as plain data, for pictures and reports: nodes, scopes and
//           edges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leat::progress {

struct Sketch {
  /// Where a node is: dataflow, child, grandchild, ...; the same on all workers.
  using Address = std::vector<std::uint32_t>;

  struct Node {
    Address address;
    std::string name;
    bool is_scope = false;
    friend bool operator==(const Node&, const Node&) = default;
  };
  /// From an output of one child of `scope` to an input of another. Child 0 is the scope's own
  /// boundary.
  struct Edge {
    Address scope;
    std::uint32_t from = 0;
    std::uint32_t output = 0;
    std::uint32_t to = 0;
    std::uint32_t input = 0;
    std::string pact;  // how records travel: "pipeline", "exchange"; empty if nobody said
    friend bool operator==(const Edge&, const Edge&) = default;
  };

  std::vector<Node> nodes;  // a scope before its children
  std::vector<Edge> edges;
};

}  // namespace leat::progress
