// How does a round of agreement grow with the number of workers?
//
// The barrier of bench/barrier, on workers that one thread steps in turn: nobody waits, nothing is
// contended, and instructions can be counted. A round has an entry of each worker, and each of the
// others reads it, so what a worker pays is a part of its own and one part per peer. The second is
// the difference between two numbers of workers.
#include "../support/suite.hpp"

#include <leat/comm/fabric.hpp>
#include <leat/dataflow.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

void build_barrier(df::Worker& worker, std::uint64_t& round, std::uint64_t end) {
  worker.dataflow([&](auto& scope) {
    auto [handle, stream] = df::feedback<std::uint64_t>(scope, 1);
    stream |
        df::unary_notify<std::uint64_t>(
            df::pipeline, "barrier",
            [&round, end](df::Capability<std::uint64_t> first, const df::OperatorInfo&) {
              return [&round, end, first = std::move(first)](auto& input, auto&,
                                                             auto& notificator) mutable {
                if (first) notificator.notify_at(std::move(first));
                while (auto done = notificator.next(input.frontier())) {
                  round = done->time() + 1;
                  if (round < end) notificator.notify_at(done->capability.delayed(round));
                }
              };
            }) |
        df::connect_loop(std::move(handle));
  });
}

Sample rounds_in_turn(std::size_t peers, std::uint64_t iterations) {
  core::Config config;
  config.workers = peers;
  comm::Fabric fabric(peers);
  std::vector<std::unique_ptr<df::Worker>> workers;
  std::vector<std::uint64_t> rounds(peers, 0);
  for (std::size_t index = 0; index < peers; ++index) {
    workers.push_back(std::make_unique<df::Worker>(fabric.seat(index), config, nullptr));
    build_barrier(*workers.back(), rounds[index], iterations);
  }
  const Stopwatch watch;
  for (bool running = true; running;) {
    running = false;
    for (auto& worker : workers) running = worker->step() || running;
  }
  const Lap lap = watch.stop();

  std::uint64_t batches = 0;
  for (std::size_t index = 0; index < peers; ++index) {
    require(rounds[index] == iterations, "a worker missed rounds");
    batches += workers[index]->counters().batches;
  }
  Sample sample(lap, iterations);
  const auto each = static_cast<double>(iterations);
  sample.add("appends_per_round", "1", static_cast<double>(batches) / each);
  sample.add("cpu_ns_per_worker_and_round", "ns",
             static_cast<double>(lap.cpu.count()) / each / static_cast<double>(peers));
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("growth", argc, argv);
  for (const std::size_t workers : {2U, 4U, 8U, 16U, 32U, 64U}) {
    suite.run({.params = {{"workers", static_cast<std::int64_t>(workers)}},
               .iterations = 400'000 / (workers * workers) + 1'000,
               .tiny_iterations = 20,
               .countable = true},
              [&](std::uint64_t iterations) { return rounds_in_turn(workers, iterations); });
  }
  return suite.finish();
}
