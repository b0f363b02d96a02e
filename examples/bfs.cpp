// Breadth-first search of a random graph that is spread over the workers. Shows an operator with
// two inputs: edges, all at time 0, and nodes that were reached, which come around a loop one round
// later each time. A round is worked on when both inputs say that it is complete.
//
//   bfs [NODES] [EDGES] [flags]           1000 nodes and 5000 edges, unless told otherwise;
//                                         for example: bfs 1000000 5000000 -w 2
//
// prints, on worker 0,
//
//   0.012345s:      sorting
//   0.012346s:      time: 0
//   ...                                   a line per round; it ends when nothing new is reached

#include <leat/base/hash.hpp>
#include <leat/dataflow.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <ranges>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arguments.hpp"

namespace df = leat::dataflow;

using Node = std::uint64_t;
using Edge = std::pair<Node, Node>;   // from, to
using Visit = std::pair<Node, Node>;  // a node, and the one that it was reached from

// [bfs]
// Of edges and visits, both at the worker of their first node: the visits that follow from them.
auto visit_neighbours(const Stopwatch& watch, bool talks) {
  return [=](auto, auto) {
    std::vector<Edge> edges;
    std::map<std::uint64_t, std::vector<Visit>> waiting;  // by time
    std::unordered_map<Node, Node> parents;
    return [=](auto& graph, auto& visits, auto& output, auto& notificator) mutable {
      graph.for_each([&](auto& message) {
        if (edges.empty()) notificator.notify_at(message.retain());
        edges.insert(edges.end(), message.records().begin(), message.records().end());
      });
      visits.for_each([&](auto& message) {
        auto& now = waiting[message.time()];
        if (now.empty()) notificator.notify_at(message.retain());
        now.insert(now.end(), message.records().begin(), message.records().end());
      });
      while (auto round = notificator.next(graph.frontier(), visits.frontier())) {
        if (round->time() == 0) {
          if (talks) std::printf("%.6fs:\tsorting\n", watch.seconds());
          std::ranges::sort(edges);
        }
        if (talks) std::printf("%.6fs:\ttime: %lu\n", watch.seconds(), round->time());
        auto session = output.session(round->capability);
        for (const auto& [node, parent] : waiting[round->time()]) {
          if (!parents.emplace(node, parent).second) continue;
          for (const auto& edge : std::ranges::equal_range(edges, node, {}, &Edge::first)) {
            session.give(Visit(edge.second, node));
          }
        }
        waiting.erase(round->time());
      }
    };
  };
}
// [/bfs]

int main(int argc, char** argv) {
  const auto nodes = number(argc, argv, 1, "NODES", 1000);
  const auto edges = number(argc, argv, 2, "EDGES", 5000);
  const Stopwatch watch;
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    worker.dataflow([&, index = worker.index(), peers = worker.peers()](auto& scope) {
      // Edge number i is the same however many workers there are; each makes its share.
      auto mine = std::views::iota(std::uint64_t{0}, edges) |
                  std::views::filter([=](auto i) { return i % peers == index; }) |
                  std::views::transform([=](auto i) {
                    return Edge(leat::mix64(2 * i) % nodes, leat::mix64(2 * i + 1) % nodes);
                  });
      const auto root = std::vector{Visit(0, 0)};
      const auto by_first = df::exchange_by([](const auto& pair) { return pair.first; });
      auto [loop, visits] = df::feedback<Visit>(scope, 1);
      df::to_stream(scope, mine) |
          df::binary_notify<Visit>(visits, by_first, by_first, "bfs",
                                   visit_neighbours(watch, index == 0)) |
          df::concat(df::to_stream(scope, root)) | df::connect_loop(std::move(loop));
    });
  });
  return outcome.exit_code();
}
