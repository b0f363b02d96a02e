// What does one trip of a record around a loop cost, to the worker it belongs to and on?
//
// Records go round: exchange, add one, and again while the time is below the bound. With two
// workers a record changes worker each time; progress goes with it.
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/dataflow.hpp>

#include <numeric>
#include <vector>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

Sample rounds(std::size_t workers, std::uint64_t elements, std::uint64_t iterations,
              bool as_bytes = false) {
  core::Config config;
  config.workers = workers;
  config.zerocopy = as_bytes;
  const auto shifts = on_workers(config, [&](df::Worker& worker) {
    std::uint64_t sum = 0;
    worker.dataflow([&](auto& scope) {
      std::vector<std::uint64_t> own;
      for (std::uint64_t i = worker.index(); i < elements; i += worker.peers()) own.push_back(i);
      auto [handle, cycle] = df::feedback<std::uint64_t>(scope, 1);
      auto branches =
          df::to_stream(scope, std::move(own)) | df::concat(std::move(cycle)) |
          df::exchange([](const std::uint64_t& record) { return record; }) |
          df::map_in_place([](std::uint64_t& record) { ++record; }) |
          df::branch_when([iterations](std::uint64_t time) { return time + 1 < iterations; });
      branches.if_true | df::connect_loop(std::move(handle));
      branches.if_false | df::sink(df::pipeline, "sum", [&sum](auto& input) {
        input.for_each([&](auto& message) {
          sum = std::accumulate(message.records().begin(), message.records().end(), sum);
        });
      });
    });
    const Stopwatch watch;
    while (worker.step_or_park()) {
    }
    return Shift{watch.stop(), sum, {}};
  });
  std::uint64_t sum = 0;
  for (const auto& shift : shifts) sum += shift.count;
  require(sum == elements * (elements - 1) / 2 + elements * iterations,
          "records were lost or missed rounds");
  Sample sample(joined_lap(shifts), iterations);
  add_coordination(sample, shifts, iterations);
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("pingpong", argc, argv);
  for (const std::size_t workers : {1U, 2U, 4U}) {
    for (const std::uint64_t elements : {1U, 1'000U}) {
      suite.run({.params = {{"workers", static_cast<std::int64_t>(workers)},
                            {"elements", static_cast<std::int64_t>(elements)}},
                 .iterations = elements == 1 && workers <= 2 ? 200'000U : 20'000U,
                 .tiny_iterations = 50,
                 .countable = workers == 1},
                [&](std::uint64_t iterations) { return rounds(workers, elements, iterations); });
    }
  }
  // The same where messages between workers are carried as bytes.
  for (const std::size_t workers : {2U, 4U}) {
    suite.run({.params = {{"workers", static_cast<std::int64_t>(workers)},
                          {"elements", 1},
                          {"carried", "bytes"}},
               .iterations = workers > 2 ? 20'000U : 200'000U,
               .tiny_iterations = 50},
              [&](std::uint64_t iterations) { return rounds(workers, 1, iterations, true); });
  }
  return suite.finish();
}
