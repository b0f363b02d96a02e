// What does one round of agreement between workers cost, when there is nothing else to do?
//
// A loop whose only operator asks to be notified at the next time whenever one is complete: one
// round of the progress protocol per iteration, and no data. The rival is the standard library's
// barrier.
#include "../support/suite.hpp"
#include "../support/workers.hpp"
#include "rivals.hpp"

#include <leat/dataflow.hpp>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

Sample rounds(const core::Config& config, std::uint64_t iterations) {
  const auto shifts = on_workers(config, [&](df::Worker& worker) {
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
    return Shift{watch.stop(), rounds, {}};
  });
  for (const auto& shift : shifts) require(shift.count == iterations, "a worker missed rounds");
  Sample sample(joined_lap(shifts), iterations);
  add_coordination(sample, shifts, iterations);
  return sample;
}

core::Config with(std::size_t workers, Nanos idle_spin = core::Config().idle_spin) {
  core::Config config;
  config.workers = workers;
  config.idle_spin = idle_spin;
  return config;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("barrier", argc, argv);
  for (const std::size_t workers : {1U, 2U, 4U}) {
    suite.run({.params = {{"workers", static_cast<std::int64_t>(workers)}},
               .iterations = workers > 2 ? 100'000U : 1'000'000U,
               .tiny_iterations = 100,
               .countable = workers == 1},
              [&](std::uint64_t iterations) { return rounds(with(workers), iterations); });
  }
  for (const std::size_t workers : {2U, 4U}) {
    suite.run(
        {.params = {{"rival", "std::barrier"}, {"workers", static_cast<std::int64_t>(workers)}},
         .iterations = 100'000,
         .tiny_iterations = 100},
        [&](std::uint64_t iterations) { return std_barrier_rounds(workers, iterations); });
  }
  suite.sweep(
      {.knobs = {{"workers", 1, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}},
                 {"idle_spin_us", 10, {0, 1, 10}}},
       .tiny_iterations = 100},
      [](const Point& point) { return 1'000'000 / (point.count("workers") > 2 ? 50U : 1U); },
      [](const Point& point, std::uint64_t iterations) {
        return rounds(
            with(point.count("workers"), std::chrono::microseconds(point["idle_spin_us"])),
            iterations);
      });
  return suite.finish();
}
