// Latency under load: records are offered at a fixed rate, exchanged and dropped. Shows times that
// are durations, values that workers return, and latency that is measured without flattery.
//
//   openloop [RATE] [SECONDS] [flags]     1000 records/s for 1 s, unless told otherwise;
//                                         for example: openloop 100000 10 -w 2
//
// prints what fraction of the records took how long or longer:
//
//   1984    0.999
//   2048    0.996                         nanoseconds, in sixteen steps per power of two
//   ...

#include <leat/dataflow.hpp>

#include <cstdint>

#include "arguments.hpp"
#include "open_loop.hpp"

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const auto rate = number(argc, argv, 1, "RATE", 1000);
  const auto seconds = number(argc, argv, 2, "SECONDS", 1);
  return finish(df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    // [openloop]
    df::Input<std::uint64_t, leat::Nanos> input;
    df::Probe<leat::Nanos> probe;
    worker.dataflow<leat::Nanos>([&](auto& scope) {
      scope.input(input) | df::exchange([](std::uint64_t number) { return number; }) |
          df::filter([](std::uint64_t) { return false; }) | df::probe(probe);
    });
    return run_open_loop(worker, input, probe, rate, seconds);
    // [/openloop]
  }));
}
