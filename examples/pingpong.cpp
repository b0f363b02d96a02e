// Numbers that change workers in every round: each is one more than in the round before, and so
// goes to the next worker. Shows a loop that data takes, and that ends by the time of its records.
//
//   pingpong [ITERATIONS] [ELEMENTS] [flags]     1000 rounds of one number, unless told otherwise;
//                                                for example: time pingpong 100000 1 -w 2
//
// prints nothing. The time per round is that of a round trip through exchange and progress.

#include <leat/dataflow.hpp>

#include <cstdint>
#include <ranges>

#include "arguments.hpp"

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const auto iterations = number(argc, argv, 1, "ITERATIONS", 1000);
  const auto elements = number(argc, argv, 2, "ELEMENTS", 1);
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    worker.dataflow([&, index = worker.index(), peers = worker.peers()](auto& scope) {
      // [pingpong]
      auto mine = std::views::iota(std::uint64_t{0}, elements) |
                  std::views::filter([=](auto number) { return number % peers == index; });
      auto [loop, returning] = df::feedback<std::uint64_t>(scope, 1);
      auto rounds = df::to_stream(scope, mine) | df::concat(returning) |
                    df::exchange([](std::uint64_t number) { return number; }) |
                    df::map_in_place([](std::uint64_t& number) { ++number; }) |
                    df::branch_when([=](std::uint64_t time) { return time < iterations; });
      rounds.if_true | df::connect_loop(std::move(loop));
      // [/pingpong]
    });
  });
  return outcome.exit_code();
}
