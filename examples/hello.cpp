// Ten rounds of one record, which goes to the worker that its value names. Shows an input, an
// exchange and a probe: no worker starts a round before the last one is over everywhere.
//
//   hello [flags]          for example: hello -w 2
//
// prints, in this order with any number of workers,
//
//   worker 0:       hello 0
//   worker 1:       hello 1
//   worker 0:       hello 2
//   ...                          ten lines, round r on worker r modulo the workers

// [hello]
#include <leat/dataflow.hpp>

#include <cstdio>

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const auto outcome = df::execute_from_args(argc, argv, [](df::Worker& worker) {
    df::Input<std::uint64_t> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(input) | df::exchange([](std::uint64_t round) { return round; }) |
          df::inspect([&](std::uint64_t round) {
            std::printf("worker %zu:\thello %lu\n", worker.index(), round);
          }) |
          df::probe(probe);
    });
    for (std::uint64_t round = 0; round < 10; ++round) {
      if (worker.index() == 0) input.send(round);
      input.advance_to(round + 1);
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
    }
  });
  return outcome.exit_code();
}
// [/hello]
