// Many dataflows on one worker, one touched per round. Shows that work is done where something
// happened: a round takes as long with a thousand dataflows as with one.
//
//   event_driven [DATAFLOWS] [LENGTH] [record] [ROUNDS] [flags]
//
// builds DATAFLOWS (10) chains of LENGTH (10) operators each, and then in each of ROUNDS (10000)
// moves the input of one of them forward, sending a record before if the third word is "record".
// Prints on each worker
//
//   0.001234s       dataflows built (10 x 10)
//   0.001345s       round 0 complete in 2 steps
//   0.012345s       round 1000 complete in 2 steps
//   ...                                             every 1000 rounds

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "arguments.hpp"

namespace df = leat::dataflow;

struct Nothing {};

int main(int argc, char** argv) {
  const auto dataflows = number(argc, argv, 1, "DATAFLOWS", 10);
  const auto length = number(argc, argv, 2, "LENGTH", 10);
  const bool record = word(argc, argv, 3) == "record";
  const auto rounds = number(argc, argv, record ? 4 : 3, "ROUNDS", 10'000);
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    const Stopwatch watch;
    std::vector<df::Input<Nothing>> inputs(dataflows);
    std::vector<df::Probe<>> probes(dataflows);
    for (std::size_t i = 0; i < dataflows; ++i) {
      // [chain]
      worker.dataflow([&](auto& scope) {
        const auto stream = scope.input(inputs[i]);
        const auto passed = scope.region("chain", [&](auto& inner) {
          auto chain = stream | df::enter(inner);
          for (std::uint64_t link = 0; link < length; ++link) {
            chain = chain | df::map([](Nothing nothing) { return nothing; });
          }
          return chain | df::leave(scope);
        });
        passed | df::probe(probes[i]);
      });
      // [/chain]
    }
    std::printf("%.6fs\tdataflows built (%lu x %lu)\n", watch.seconds(), dataflows, length);

    for (std::uint64_t round = 0; round < rounds; ++round) {
      auto& input = inputs[round % dataflows];
      const auto& probe = probes[round % dataflows];
      if (record) input.send({});
      input.advance_to(round + 1);
      std::uint64_t steps = 0;
      for (; probe.less_equal(round); ++steps) worker.step_or_park();
      if (round % 1000 == 0) {
        std::printf("%.6fs\tround %lu complete in %lu steps\n", watch.seconds(), round, steps);
      }
    }
  });
  return outcome.exit_code();
}
