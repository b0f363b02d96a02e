// Passes each value on once per time, on the worker that owns it. Shows an operator of one's own
// that keeps state and answers at once: it need not wait for a time to be complete.
//
//   distinct [flags]       for example: distinct -w 2
//
// Worker 0 sends 0 1 2 2 2 3 3 4 and worker 1, if there is one, 0 0 3 4 4 5 7 7; prints a line for
// each value that was sent, by the worker of that number modulo the workers, in any order:
//
//   worker 0:       value 0
//   worker 1:       value 1
//   ...

#include <leat/dataflow.hpp>

#include <cstdio>
#include <map>
#include <set>

namespace df = leat::dataflow;

using Value = std::uint64_t;

// [distinct]
// Of a stream of values: each once per time, on the worker that it names.
auto distinct() {
  const auto by_value = df::exchange_by([](Value value) { return value; });
  return df::unary<Value>(by_value, "distinct", [](auto, auto) {
    std::map<std::uint64_t, std::set<Value>> seen;  // by time
    return [=](auto& input, auto& output) mutable {
      input.for_each([&](auto& message) {
        auto session = output.session(message);
        for (const Value value : message.records()) {
          if (seen[message.time()].insert(value).second) session.give(value);
        }
      });
    };
  });
}
// [/distinct]

int main(int argc, char** argv) {
  const auto outcome = df::execute_from_args(argc, argv, [](df::Worker& worker) {
    df::Input<Value> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(input) | distinct() | df::inspect([&](Value value) {
        std::printf("worker %zu:\tvalue %lu\n", worker.index(), value);
      }) | df::probe(probe);
    });
    if (worker.index() == 0) input.send_batch({0, 1, 2, 2, 2, 3, 3, 4});
    if (worker.index() == 1) input.send_batch({0, 0, 3, 4, 4, 5, 7, 7});
    input.advance_to(1);
    worker.step_or_park_while([&] { return probe.less_than(input.time()); });
  });
  return outcome.exit_code();
}
