// A barrier for all workers, over and over, made of progress alone: no record is ever sent. Each
// round asks to be told when its time is complete, which it is when every worker has come as far.
// How long that takes is what coordination costs.
//
//   barrier [ITERATIONS] [flags]     a million iterations, unless the word is a number;
//                                    for example: time barrier 100000 -w 2
//
// prints nothing.

#include <leat/dataflow.hpp>

#include <cstdint>
#include <utility>

#include "arguments.hpp"

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const auto iterations = as_number(word(argc, argv, 1)).value_or(1'000'000);
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    // [barrier]
    const auto next_round = [=](auto first, auto) {
      return [=, first = std::move(first)](auto& input, auto&, auto& notificator) mutable {
        if (first) notificator.notify_at(std::move(first));
        while (auto round = notificator.next(input.frontier())) {
          const auto next = round->time() + 1;
          if (next < iterations) notificator.notify_at(round->capability.delayed(next));
        }
      };
    };
    worker.dataflow([&](auto& scope) {
      auto [loop, rounds] = df::feedback<std::uint64_t>(scope, 1);
      rounds | df::unary_notify<std::uint64_t>(df::pipeline, "barrier", next_round) |
          df::connect_loop(std::move(loop));
    });
    // [/barrier]
  });
  return outcome.exit_code();
}
