// A worker on the thread that calls it: no other thread, no clock, nothing that sleeps. For a
// program that has a loop of its own (a game, a server, a plug-in) and steps its dataflows in it.
//
//   threadless
//
// prints, one a line and in this order,
//
//   0
//   1
//   ...                          ten lines

// [threadless]
#include <leat/dataflow.hpp>

#include <cstdio>

namespace df = leat::dataflow;

int main() {
  leat::comm::Fabric fabric(1);
  df::Worker worker(fabric.seat(0), leat::core::Config(), nullptr);  // null: it has no clock

  df::Input<int> input;
  df::Probe<> probe;
  worker.dataflow([&](auto& scope) {
    scope.input(input) | df::inspect([](int number) { std::printf("%d\n", number); }) |
        df::probe(probe);
  });
  for (int round = 0; round < 10; ++round) {
    input.send(round);
    input.advance_to(input.time() + 1);
    worker.step_while([&] { return probe.less_than(input.time()); });
  }
  input.close();
  while (worker.step()) {
  }
}
// [/threadless]
