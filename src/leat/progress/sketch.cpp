#include <leat/progress/sketch.hpp>

#include <algorithm>

namespace leat::progress {

namespace {

std::string id_of(const Sketch::Address& address) {
  std::string id = "n";
  for (const auto step : address) id += "_" + std::to_string(step);
  return id;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_child_of(const Sketch::Address& child, const Sketch::Address& parent) {
  return child.size() == parent.size() + 1 && std::equal(parent.begin(), parent.end(), child.begin());
}

// Scopes are clusters; each has points where streams cross its boundary, since an edge cannot end at a cluster.
class DotWriter {
 public:
  explicit DotWriter(const Sketch& sketch) : sketch_(sketch) {}

  std::string write() {
    text_ = "digraph dataflow {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
    for (const auto& node : sketch_.nodes) {
      if (node.address.size() == 1) scope(node, "  ");
    }
    for (const auto& edge : sketch_.edges) {
      text_ += "  " + end(edge.scope, edge.from, edge.output, true) + " -> " +
               end(edge.scope, edge.to, edge.input, false) + ";\n";
    }
    return text_ + "}\n";
  }

 private:
  void scope(const Sketch::Node& scope_node, const std::string& indent) {
    text_ += indent + "subgraph cluster_" + id_of(scope_node.address) + " {\n" + indent + "  label=" +
             quoted(scope_node.name) + ";\n";
    for (const auto& edge : sketch_.edges) {  // the crossings that some edge uses
      if (edge.scope != scope_node.address) continue;
      if (edge.from == 0) crossing(scope_node.address, edge.output, true, indent);
      if (edge.to == 0) crossing(scope_node.address, edge.input, false, indent);
    }
    for (const auto& node : sketch_.nodes) {
      if (!is_child_of(node.address, scope_node.address)) continue;
      if (node.is_scope) {
        scope(node, indent + "  ");
      } else {
        text_ += indent + "  " + id_of(node.address) + " [label=" + quoted(node.name) + "];\n";
      }
    }
    text_ += indent + "}\n";
  }
  void crossing(const Sketch::Address& scope_address, std::uint32_t number, bool inward, const std::string& indent) {
    text_ += indent + "  " + crossing_id(scope_address, number, inward) + " [shape=point];\n";
  }
  static std::string crossing_id(const Sketch::Address& scope_address, std::uint32_t number, bool inward) {
    return id_of(scope_address) + (inward ? "_in" : "_out") + std::to_string(number);
  }
  // The end of an edge: an operator, the inside of the scope's own boundary, or the outside of a child scope's.
  std::string end(const Sketch::Address& scope_address, std::uint32_t child, std::uint32_t port, bool is_from) const {
    if (child == 0) return crossing_id(scope_address, port, is_from);
    auto address = scope_address;
    address.push_back(child);
    const auto node = std::find_if(sketch_.nodes.begin(), sketch_.nodes.end(),
                                   [&](const Sketch::Node& n) { return n.address == address; });
    if (node != sketch_.nodes.end() && node->is_scope) return crossing_id(address, port, !is_from);
    return id_of(address);
  }

  const Sketch& sketch_;
  std::string text_;
};

}  // namespace

std::string to_dot(const Sketch& sketch) { return DotWriter(sketch).write(); }

}  // namespace leat::progress
