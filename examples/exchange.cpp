// Records to all workers, a batch per round, each round waited for. Shows how fast data moves.
//
//   exchange [BATCH] [ROUNDS] [flags]     1000 records in each of 1000 rounds, unless told otherwise;
//                                         for example: exchange 100000 100 -w 2
//
// prints a line for each worker:
//
//   0.123456s       worker 0 complete; rate: 8123456 records/s

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>

#include "arguments.hpp"

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const auto batch = number(argc, argv, 1, "BATCH", 1000);
  const auto rounds = number(argc, argv, 2, "ROUNDS", 1000);
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    df::Input<std::uint64_t> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(input) | df::exchange([](std::uint64_t number) { return number; }) |
          df::probe(probe);
    });

    const Stopwatch watch;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t i = 0; i < batch; ++i) input.send(i);
      input.advance_to(round + 1);
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
    }
    const double seconds = watch.seconds();
    std::printf("%.6fs\tworker %zu complete; rate: %.0f records/s\n", seconds, worker.index(),
                static_cast<double>(batch * rounds) / seconds);
  });
  return outcome.exit_code();
}
