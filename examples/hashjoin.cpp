// Joins two streams by key as their records arrive: each side keeps what it has seen, and a new
// record meets what the other side has kept. Shows an operator with two inputs that never waits.
//
//   hashjoin [KEYS] [VALUES] [BATCH] [flags]   1000 keys, and 10000 values a side, of which each
//                                              worker sends its share, 1000 at a time;
//                                              for example: hashjoin 1000000 1000000 1000 -w 2
//
// prints, on each worker, a line per batch:
//
//   0.001234s       worker 0 batch complete

#include <leat/base/rng.hpp>
#include <leat/dataflow.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arguments.hpp"

namespace df = leat::dataflow;

using Record = std::pair<std::uint64_t, std::uint64_t>;  // key, value
using Match = std::pair<std::uint64_t, std::uint64_t>;   // a value of either side

// [hashjoin]
auto join() {
  return [](auto, auto) {
    using Index = std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>;
    return
        [left_seen = Index(), right_seen = Index()](auto& left, auto& right, auto& output) mutable {
          left.for_each([&](auto& message) {
            auto session = output.session(message);
            for (const auto& [key, value] : message.records()) {
              for (const auto other : right_seen[key]) session.give(Match(value, other));
              left_seen[key].push_back(value);
            }
          });
          right.for_each([&](auto& message) {
            auto session = output.session(message);
            for (const auto& [key, value] : message.records()) {
              for (const auto other : left_seen[key]) session.give(Match(other, value));
              right_seen[key].push_back(value);
            }
          });
        };
  };
}
// [/hashjoin]

int main(int argc, char** argv) {
  const auto keys = number(argc, argv, 1, "KEYS", 1000);
  const auto values = number(argc, argv, 2, "VALUES", 10'000);
  const auto batch = number(argc, argv, 3, "BATCH", 1000);
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    df::Input<Record> left;
    df::Input<Record> right;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      const auto by_key = df::exchange_by([](const Record& record) { return record.first; });
      scope.input(left) |
          df::binary<Match>(scope.input(right), by_key, by_key, "hash join", join()) |
          df::probe(probe);
    });

    const Stopwatch watch;
    leat::Rng rng(worker.index());
    for (std::uint64_t unsent = values / worker.peers(); unsent > 0;) {
      const auto now = std::min(batch, unsent);
      for (std::uint64_t i = 0; i < now; ++i) {
        left.send({rng.below(keys), rng.next()});
        right.send({rng.below(keys), rng.next()});
      }
      unsent -= now;
      left.advance_to(left.time() + 1);
      right.advance_to(left.time());
      worker.step_or_park_while([&] { return probe.less_than(left.time()); });
      std::printf("%.6fs\tworker %zu batch complete\n", watch.seconds(), worker.index());
    }
  });
  return outcome.exit_code();
}
