// Finds which nodes of a random graph are connected: each worker drops the edges that tell it
// nothing new, and sends the others to worker 0, which does the same. Shows a filter with state.
//
//   unionfind [NODES] [EDGES] [BATCH] [flags]   1000 nodes, and 5000 edges, of which each worker
//                                               sends its share, 100 at a time;
//                                               for example: unionfind 1000000 2000000 1000 -w 2
//
// prints nothing; ends with 1 if worker 0 did not keep exactly one edge less than there are nodes
// in each component.

#include <leat/base/hash.hpp>
#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "arguments.hpp"

namespace df = leat::dataflow;

using Node = std::uint64_t;
using Edge = std::pair<Node, Node>;

// [unionfind]
// Is true of edges that connect what those before it did not: called with all edges of a graph, of
// a spanning forest. Each node points to another of its component, the root to itself.
class JoinsComponents {
 public:
  explicit JoinsComponents(std::uint64_t nodes) : parents_(nodes) {
    std::iota(parents_.begin(), parents_.end(), Node{0});
  }
  bool operator()(const Edge& edge) {
    const Node a = root_of(edge.first);
    const Node b = root_of(edge.second);
    parents_[a] = b;
    return a != b;
  }

 private:
  Node root_of(Node node) {
    while (node != parents_[node]) node = parents_[node] = parents_[parents_[node]];
    return node;
  }
  std::vector<Node> parents_;
};
// [/unionfind]

int main(int argc, char** argv) {
  const auto nodes = number(argc, argv, 1, "NODES", 1000);
  const auto edges = number(argc, argv, 2, "EDGES", 5000);
  const auto batch = number(argc, argv, 3, "BATCH", 100);
  // Edge number i is the same however many workers there are; each sends its share.
  const auto edge = [=](std::uint64_t i) {
    return Edge(leat::mix64(2 * i) % nodes, leat::mix64(2 * i + 1) % nodes);
  };
  auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    std::uint64_t kept = 0;
    df::Input<Edge> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(input) | df::filter(JoinsComponents(nodes)) |
          df::exchange([](const Edge&) { return 0; }) | df::filter(JoinsComponents(nodes)) |
          df::inspect([&](const Edge&) { ++kept; }) | df::probe(probe);
    });
    std::uint64_t sent = 0;
    for (std::uint64_t i = worker.index(); i < edges; i += worker.peers()) {
      input.send(edge(i));
      if (++sent % batch != 0) continue;
      input.advance_to(sent);
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
    }
    input.close();
    worker.step_or_park_while([&] { return !probe.done(); });
    return kept;
  });
  if (!outcome.ok()) return outcome.exit_code();
  if (outcome.first_worker() != 0) return 0;  // all that is kept is kept by worker 0

  std::uint64_t expected = 0;
  JoinsComponents joins(nodes);
  for (std::uint64_t i = 0; i < edges; ++i) expected += joins(edge(i)) ? 1 : 0;
  if (outcome.value(0) == expected) return 0;
  std::fprintf(stderr, "expected %lu edges, kept %lu\n", expected, outcome.value(0));
  return 1;
}
