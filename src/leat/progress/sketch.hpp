// What      The shape of a dataflow, for pictures and reports: nodes, scopes and edges; told piece by
//           piece, or as plain data.
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

/// Whom a dataflow tells its shape: a scope, then its children, then its edges.
class SketchSink {
 public:
  SketchSink() = default;
  SketchSink(const SketchSink&) = delete;
  SketchSink& operator=(const SketchSink&) = delete;
  virtual ~SketchSink() = default;
  virtual void node(const Sketch::Address& address, const std::string& name, bool is_scope) = 0;
  virtual void edge(const Sketch::Address& scope, std::uint32_t from, std::uint32_t output,
                    std::uint32_t to, std::uint32_t input, const char* pact) = 0;
};

/// Keeps all of it.
class SketchDrawer final : public SketchSink {
 public:
  explicit SketchDrawer(Sketch& into) : into_(into) {}
  void node(const Sketch::Address& address, const std::string& name, bool is_scope) override {
    into_.nodes.push_back({address, name, is_scope});
  }
  void edge(const Sketch::Address& scope, std::uint32_t from, std::uint32_t output,
            std::uint32_t to, std::uint32_t input, const char* pact) override {
    into_.edges.push_back({scope, from, output, to, input, pact});
  }

 private:
  Sketch& into_;
};

}  // namespace leat::progress
