// What does one round of agreement between workers cost, when there is nothing else to do?
//
// A loop whose only operator asks to be notified at the next time whenever one is complete: one
// round of the progress protocol per iteration, and no data. Also with messages carried as bytes, of
// which there are none here. The rival is the standard library's barrier.
#include "../support/flows.hpp"
#include "../support/suite.hpp"
#include "../support/workers.hpp"
#include "rivals.hpp"

namespace leat::bench {
namespace {

Sample rounds(const core::Config& config, std::uint64_t iterations) {
  const auto shifts = on_workers(
      config, [&](dataflow::Worker& worker) { return barrier_rounds(worker, iterations); });
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
  for (const std::size_t workers : {1U, 2U, 4U}) {
    auto config = with(workers);
    config.zerocopy = true;
    suite.run({.params = {{"workers", static_cast<std::int64_t>(workers)}, {"carried", "bytes"}},
               .iterations = workers > 2 ? 100'000U : 1'000'000U,
               .tiny_iterations = 100},
              [&](std::uint64_t iterations) { return rounds(config, iterations); });
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
