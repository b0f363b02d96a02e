// A while loop as a dataflow: numbers go around until they are 1 (halved if even, else tripled and
// one added), many at once and each in a round of its own. Shows an iterative scope, whose times
// are pairs of the time outside and the round.
//
//   loopdemo [RATE] [SECONDS] [flags]     1000 records/s for 1 s, unless told otherwise;
//                                         for example: loopdemo 100000 10 -w 2
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
    df::Input<std::uint64_t, leat::Nanos> input;
    df::Probe<leat::Nanos> probe;
    worker.dataflow<leat::Nanos>([&](auto& scope) {
      // [loop]
      const auto numbers = scope.input(input);
      const auto steps = scope.iterative("collatz", [&](auto& inner) {
        auto [loop, returning] = df::loop_variable<std::uint64_t>(inner, 1);
        const auto step = numbers | df::enter(inner) | df::concat(returning) |
                          df::map([](auto n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }) |
                          df::filter([](auto n) { return n > 1; });
        step | df::connect_loop(std::move(loop));
        return step | df::leave(scope);
      });
      steps | df::probe(probe);
      // [/loop]
    });
    return run_open_loop(worker, input, probe, rate, seconds);
  }));
}
