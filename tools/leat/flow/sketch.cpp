#include "sketch.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace leat::tool::flow {
namespace {

using Address = progress::Sketch::Address;
using Edge = progress::Sketch::Edge;

Address child_of(Address scope, std::uint32_t child) {
  scope.push_back(child);
  return scope;
}

class Pictured {
 public:
  explicit Pictured(const progress::Sketch& sketch) {
    std::map<Address, std::string> scopes;
    for (const auto& node : sketch.nodes) {
      if (node.is_scope) {
        // The dataflow itself is no group: it is all there is.
        scopes[node.address] = node.address.size() == 1 ? "" : node.name;
        continue;
      }
      Address scope = node.address;
      scope.pop_back();
      numbers_[node.address] = graph_.operators.size();
      graph_.operators.push_back({node.name, scopes[scope]});
    }
    for (const Edge& edge : sketch.edges) into_[{edge.scope, edge.to, edge.input}] = &edge;
    for (const Edge& edge : sketch.edges) {
      const auto to = numbers_.find(child_of(edge.scope, edge.to));
      if (to == numbers_.end()) continue;  // a boundary: whoever reads behind it is drawn
      const auto from = feeder_of(edge);
      if (!from) continue;
      // What stays on its worker needs no word.
      graph_.channels.push_back({*from, to->second, edge.pact == "pipeline" ? "" : edge.pact,
                                 graph_.operators[*from].name == "feedback"});
    }
  }

  [[nodiscard]] FlowGraph graph() && { return std::move(graph_); }

 private:
  /// The operator whose output the edge carries.
  [[nodiscard]] std::optional<std::size_t> feeder_of(const Edge& edge) const {
    if (edge.from != 0) {
      const Address from = child_of(edge.scope, edge.from);
      if (const auto number = numbers_.find(from); number != numbers_.end()) return number->second;
      return feeder_into(from, 0, edge.output);  // a scope: what feeds its output from inside
    }
    Address outer = edge.scope;
    const std::uint32_t scope = outer.back();
    outer.pop_back();
    return feeder_into(outer, scope, edge.output);  // an input of the scope: what feeds it outside
  }
  [[nodiscard]] std::optional<std::size_t> feeder_into(const Address& scope, std::uint32_t child,
                                                       std::uint32_t input) const {
    const auto edge = into_.find({scope, child, input});
    return edge == into_.end() ? std::nullopt : feeder_of(*edge->second);
  }

  FlowGraph graph_;
  std::map<Address, std::size_t> numbers_;
  std::map<std::tuple<Address, std::uint32_t, std::uint32_t>, const Edge*> into_;
};

}  // namespace

FlowGraph graph_of(const progress::Sketch& sketch) { return Pictured(sketch).graph(); }

}  // namespace leat::tool::flow
