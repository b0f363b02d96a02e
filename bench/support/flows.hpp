// What      Two dataflows that several benches run: between the threads of a process and between
//           processes, so that their figures can be held against each other.
#pragma once

#include "suite.hpp"
#include "workers.hpp"

#include <leat/base/histogram.hpp>
#include <leat/dataflow.hpp>

#include <cstdint>
#include <utility>

namespace leat::bench {

/// A loop whose only operator asks to be notified at the next time whenever one is complete: a round
/// of the progress protocol per iteration, and no data.
inline Shift barrier_rounds(dataflow::Worker& worker, std::uint64_t iterations) {
  namespace df = leat::dataflow;
  std::uint64_t rounds = 0;
  worker.dataflow([&](auto& scope) {
    auto [handle, stream] = df::feedback<std::uint64_t>(scope, 1);
    stream |
        df::unary_notify<std::uint64_t>(
            df::pipeline, "barrier",
            [&rounds, iterations](df::Capability<std::uint64_t> first, const df::OperatorInfo&) {
              return [&rounds, iterations, first = std::move(first)](auto& input, auto&,
                                                                     auto& notificator) mutable {
                if (first) notificator.notify_at(std::move(first));
                while (auto done = notificator.next(input.frontier())) {
                  require(done->time() == rounds, "a time was delivered out of turn");
                  if (++rounds < iterations) {
                    notificator.notify_at(done->capability.delayed(rounds));
                  }
                }
              };
            }) |
        df::connect_loop(std::move(handle));
  });
  const Stopwatch watch;
  while (worker.step_or_park()) {
  }
  const Lap lap = watch.stop();
  require(rounds == iterations, "a worker missed rounds");
  return Shift{lap, rounds, {}};
}

/// Each worker sends `batch` records to those they belong to, moves its input on and steps until the
/// probe says that everybody is done. Worker 0 notes in `latencies`, if there are any, what each epoch took.
///
/// Returns: as count, how many records this worker received.
inline Shift exchange_epochs(dataflow::Worker& worker, std::uint64_t batch,
                             std::uint64_t iterations, Histogram* latencies = nullptr) {
  namespace df = leat::dataflow;
  std::uint64_t received = 0;
  df::Input<std::uint64_t> input;
  df::Probe<> probe;
  worker.dataflow([&](auto& scope) {
    // The exchange operator, counting what it passes on.
    scope.input(input) |
        df::unary<std::uint64_t>(
            df::exchange_by([](const std::uint64_t& record) { return record; }), "exchange",
            [&received](auto, const df::OperatorInfo&) {
              return [&received](auto& in, auto& out) {
                in.for_each([&](auto& message) {
                  received += message.records().size();
                  out.session(message).give_batch(message.records());
                });
              };
            }) |
        df::probe(probe);
  });
  const RealClock clock;
  const Stopwatch watch;
  Nanos before = clock.now();
  for (std::uint64_t epoch = 0; epoch < iterations; ++epoch) {
    for (std::uint64_t i = 0; i < batch; ++i) input.send(epoch + i);
    input.advance_to(epoch + 1);
    worker.step_while([&] { return probe.less_than(input.time()); });
    if (latencies == nullptr || worker.index() != 0) continue;
    const Nanos now = clock.now();
    latencies->record(static_cast<std::uint64_t>((now - before).count()));
    before = now;
  }
  const Lap lap = watch.stop();
  input.close();
  while (worker.step_or_park()) {
  }
  return Shift{lap, received, {}};
}

}  // namespace leat::bench
