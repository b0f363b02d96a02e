// A dataflow that watches another program run: two workers log what they do into links from thread to
// thread, and a worker elsewhere replays both logs as one stream.
//
//   logging_replay
//
// prints each event of the two workers with two blanks before it, and when their logs have ended
//
//   Done.

#include <leat/dataflow.hpp>
#include <leat/dataflow/capture/event_link.hpp>
#include <leat/dataflow/capture/replay.hpp>
#include <leat/dataflow/logging/log_bridge.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace df = leat::dataflow;

using Told = df::LogBatch<df::WorkerEvent>;
using Writer = df::EventLinkWriter<leat::Nanos, Told>;
using Reader = df::EventLinkReader<leat::Nanos, Told>;

int main() {
  std::array<std::optional<Writer>, 2> writers;
  std::vector<Reader> readers;
  for (auto& writer : writers) {
    auto link = df::event_link<leat::Nanos, Told>();
    writer.emplace(std::move(link.writer));
    readers.push_back(std::move(link.reader));
  }

  int exit_code = 0;
  std::thread watched([&] {
    leat::core::Config config;
    config.workers = writers.size();
    exit_code =
        df::execute(config, [&](df::Worker& worker) {
          // [log_into]
          df::log_into<df::WorkerEvent>(worker.logs(), df::kEventStream,
                                        std::move(*writers[worker.index()]));
          // [/log_into]
          df::Input<std::uint64_t> input;
          df::Probe<> probe;
          worker.dataflow([&](auto& scope) {
            scope.input(input) | df::exchange([](std::uint64_t x) { return x; }) | df::probe(probe);
          });
          for (std::uint64_t round = 0; round < 10; ++round) {
            input.send(round);
            input.advance_to(round + 1);
            worker.step_or_park_while([&] { return probe.less_than(input.time()); });
          }
        }).exit_code();
  });

  df::execute_directly([&](df::Worker& worker) {
    worker.dataflow<leat::Nanos>([&](auto& scope) {
      df::replay_into(scope, std::move(readers)) |
          df::inspect([](const df::Logged<df::WorkerEvent>& logged) {
            std::printf("  %s\n", df::text_of(logged.event).c_str());
          });
    });
  });
  watched.join();
  std::printf("Done.\n");
  return exit_code;
}
