// PageRank of a random graph whose edges change, kept up to date by differences alone: a page whose
// rank or links change tells the pages it links to how their ranks change, one time later. Shows a
// loop through an operator with state, in which the effects of many changes are under way at once.
//
//   pagerank [NODES] [EDGES] [flags]      1000 nodes and 5000 edges, unless told otherwise;
//                                         for example: pagerank 100000 1000000 -w 2
//
// loads the graph at time 0 and then replaces its oldest edge at each of 1000 times. Every page has
// a rank of 1000 of its own, and hands 5/6 of its rank to those it links to; ranks are whole
// numbers, and a change below 6 waits until more has come. Each worker prints a line for each time
// at which ranks of its pages change: how many do, by how much together, and the largest change.
//
//   0.012345s:      1       987     830512  4165
//   0.012456s:      2       987     691520  3012
//   ...

#include <leat/base/hash.hpp>
#include <leat/dataflow.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arguments.hpp"

namespace df = leat::dataflow;

using Node = std::uint64_t;

enum class Edit { add, remove };
struct EdgeChange {
  Node from;
  Node to;
  Edit edit;
};
LEAT_FIELDS(EdgeChange, from, to, edit);
struct RankChange {
  Node page;
  std::int64_t by;
};
LEAT_FIELDS(RankChange, page, by);

// [page]
struct Page {
  std::int64_t rank = 1000;
  std::int64_t pending = 0;  // changes of the rank that are too small to be told
  std::vector<Node> links;   // sorted; a page may be linked to several times

  // Adds what the page hands to each of its links, times `sign`.
  void hand_out(std::int64_t sign, std::map<Node, std::int64_t>& to) const {
    const auto parts = static_cast<std::int64_t>(links.size());
    for (std::int64_t i = 0; i < parts; ++i) {
      const std::int64_t whole = rank * 5 / 6;
      to[links[static_cast<std::size_t>(i)]] += sign * (whole / parts + (i < whole % parts));
    }
  }
  void edit_link(Node to, Edit edit) {
    const auto at = std::ranges::lower_bound(links, to);
    if (edit == Edit::add) {
      links.insert(at, to);
    } else {
      links.erase(at);
    }
  }
  void change_rank(std::int64_t by) {
    pending += by;
    if (std::abs(pending) < 6) return;
    rank += pending;
    pending = 0;
  }
};

// Changes a page, and sends how the ranks of others change by that.
template <class Change, class Session>
void update(Page& page, Session& session, Change change) {
  std::map<Node, std::int64_t> to;
  page.hand_out(-1, to);
  change();
  page.hand_out(+1, to);
  for (const auto& [other, by] : to) {
    if (by != 0) session.give(RankChange{other, by});
  }
}
// [/page]

// Of changes of edges and ranks, each at the worker of its page: the changes of ranks that follow.
auto propagate(const Stopwatch& watch) {
  return [=](auto, auto) {
    std::unordered_map<Node, Page> pages;
    std::map<std::uint64_t, std::vector<EdgeChange>> edge_changes;       // by time
    std::map<std::uint64_t, std::map<Node, std::int64_t>> rank_changes;  // by time, summed by page
    return [=](auto& edges, auto& ranks, auto& output, auto& notificator) mutable {
      edges.for_each([&](auto& message) {
        auto& now = edge_changes[message.time()];
        if (now.empty()) notificator.notify_at(message.retain());
        now.insert(now.end(), message.records().begin(), message.records().end());
      });
      ranks.for_each([&](auto& message) {
        auto& now = rank_changes[message.time()];
        if (now.empty()) notificator.notify_at(message.retain());
        for (const auto& [page, by] : message.records()) now[page] += by;
      });
      while (auto done = notificator.next(edges.frontier(), ranks.frontier())) {
        const auto time = done->time();
        auto session = output.session(done->capability);
        for (const auto& [from, to, edit] : edge_changes[time]) {
          auto& page = pages[from];
          update(page, session, [&] { page.edit_link(to, edit); });
        }
        edge_changes.erase(time);

        std::int64_t count = 0;
        std::int64_t sum = 0;
        std::int64_t max = 0;
        for (const auto& [node, by] : rank_changes[time]) {
          if (by == 0) continue;
          ++count;
          sum += std::abs(by);
          max = std::max(max, std::abs(by));
          auto& page = pages[node];
          update(page, session, [&] { page.change_rank(by); });
        }
        rank_changes.erase(time);
        if (count == 0) continue;
        std::printf("%.6fs:\t%lu\t%ld\t%ld\t%ld\n", watch.seconds(), time, count, sum, max);
      }
    };
  };
}

int main(int argc, char** argv) {
  const auto nodes = number(argc, argv, 1, "NODES", 1000);
  const auto edges = number(argc, argv, 2, "EDGES", 5000);
  const Stopwatch watch;
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    df::Input<EdgeChange> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      // [loop]
      const auto by_source = df::exchange_by([](const EdgeChange& change) { return change.from; });
      const auto by_page = df::exchange_by([](const RankChange& change) { return change.page; });
      auto [loop, ranks] = df::feedback<RankChange>(scope, 1);
      scope.input(input) |
          df::binary_notify<RankChange>(ranks, by_source, by_page, "pagerank", propagate(watch)) |
          df::probe(probe) | df::connect_loop(std::move(loop));
      // [/loop]
    });

    // Edge number i is the same however many workers there are; each sends its share.
    const auto send = [&](std::uint64_t i, Edit edit) {
      if (i % worker.peers() != worker.index()) return;
      input.send({leat::mix64(2 * i) % nodes, leat::mix64(2 * i + 1) % nodes, edit});
    };
    const auto advance = [&] {
      input.advance_to(input.time() + 1);
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
    };
    for (std::uint64_t i = 0; i < edges; ++i) send(i, Edit::add);
    advance();
    for (std::uint64_t oldest = 0; oldest < 1000; ++oldest) {
      send(edges + oldest, Edit::add);
      send(oldest, Edit::remove);
      advance();
    }
  });
  return outcome.exit_code();
}
