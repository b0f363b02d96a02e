// One order for what all workers say. Each worker pushes its elements at its own pace, the higher its
// index the slower, and sleeps in between; whatever anybody pushed wakes it, and comes out at the
// same place on every worker.
//
//   sequence [ROUNDS] [flags]          for example: sequence 5 -w 4
//
// prints on each of W workers, for ROUNDS (10) elements of every worker, ROUNDS * W lines like
//
//   0.004031s:      Worker 0:        recv'd: "worker 1, round 2"
//
// in the same order on all of them.

#include <leat/dataflow.hpp>

#include "arguments.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const std::uint64_t rounds = number(argc, argv, 1, "ROUNDS", 10);
  const Stopwatch timer;
  const leat::RealClock clock;
  const auto outcome = df::execute_from_args(argc, argv, [&](df::Worker& worker) {
    // [sequence]
    df::Sequencer<std::string> sequencer(worker);
    const auto pace = std::chrono::milliseconds(1 + worker.index());
    auto due = clock.now() + pace;
    std::uint64_t pushed = 0;
    std::uint64_t received = 0;
    while (received < rounds * worker.peers()) {
      if (pushed < rounds && clock.now() >= due) {
        sequencer.push("worker " + std::to_string(worker.index()) + ", round " +
                       std::to_string(pushed++));
        due += pace;
      }
      worker.step_or_park(pace);
      while (const auto element = sequencer.next()) {
        std::printf("%.6fs:\tWorker %zu:\t recv'd: \"%s\"\n", timer.seconds(), worker.index(),
                    element->c_str());
        ++received;
      }
    }
    // [/sequence]
  });
  return outcome.exit_code();
}
