// What does an epoch cost that moves records to the workers they belong to, and how many fit
// through?
//
// Each worker sends a batch, moves its input on and steps until the probe says that everybody is
// done. One record per epoch asks for the latency, 100 000 for the throughput.
#include "../support/flows.hpp"
#include "../support/suite.hpp"

namespace leat::bench {
namespace {

Sample epochs(const core::Config& config, std::uint64_t batch, std::uint64_t iterations) {
  Histogram latencies;  // of worker 0
  const auto shifts = on_workers(config, [&](dataflow::Worker& worker) {
    return exchange_epochs(worker, batch, iterations, &latencies);
  });
  std::uint64_t received = 0;
  for (const auto& shift : shifts) received += shift.count;
  require(received == iterations * batch * config.workers, "records were lost or doubled");
  const Lap lap = joined_lap(shifts);
  Sample sample(lap, iterations);
  sample.add("records_per_s", "1/s",
             static_cast<double>(received) * 1e9 / static_cast<double>(lap.wall().count()));
  sample.add_distribution(latencies);
  return sample;
}

core::Config with(std::size_t workers, core::NotifyRule notify = core::NotifyRule::edge) {
  core::Config config;
  config.workers = workers;
  config.notify = notify;
  return config;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("exchange", argc, argv);
  for (const std::size_t workers : {1U, 2U}) {
    for (const std::uint64_t batch : {1U, 100'000U}) {
      suite.run({.params = {{"workers", static_cast<std::int64_t>(workers)},
                            {"batch", static_cast<std::int64_t>(batch)}},
                 .iterations = batch == 1 ? 200'000U : 500U,
                 .tiny_iterations = batch == 1 ? 50U : 2U,
                 .countable = workers == 1},
                [&](std::uint64_t iterations) { return epochs(with(workers), batch, iterations); });
    }
  }
  // notify: 0 edge, 1 per_message, 2 first_then_trailing, 3 on_done.
  suite.sweep(
      {.knobs = {{"workers", 1, {1, 2, 4, 8}}, {"notify", 0, {0, 1, 2, 3}}, {"batch", 1, {1}}},
       .tiny_iterations = 50},
      [](const Point& point) {
        return std::uint64_t{200'000} / (point.count("workers") > 2 ? 10U : 1U);
      },
      [](const Point& point, std::uint64_t iterations) {
        return epochs(
            with(point.count("workers"), static_cast<leat::core::NotifyRule>(point["notify"])),
            point.count("batch"), iterations);
      });
  return suite.finish();
}
