// A program that is built without run-time type information, against a library that has it: a loop, an
// exchange, an operator of its own, results per time, fuel and weights, a cancelled dataflow, and an
// exception that crosses the library.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow.hpp>

#ifdef __GXX_RTTI
#error "this file is to be built with -fno-rtti"
#endif

namespace df = leat::dataflow;

namespace {

std::size_t run(std::size_t workers, bool fails) {
  leat::core::Config config;
  config.workers = workers;
  auto outcome = df::execute(config, [&](df::Worker& worker) {
    std::size_t passes = 0;
    df::Input<int> input;
    worker.dataflow([&](auto& scope) {
      auto stream = scope.input(input);
      scope.iterative("halve", [&](auto& inner) {
        auto [handle, loop] = df::loop_variable<int>(inner, 1);
        auto all = stream | df::enter(inner) | df::concat(loop) | df::exchange(df::hash);
        all | df::map([](int x) { return x / 2; }) | df::filter([](int x) { return x > 0; }) |
            df::connect_loop(std::move(handle));
        all | df::unary<int>(df::pipeline, "counts", [&](auto, const df::OperatorInfo&) {
          return [&](auto& in, auto&) {
            in.for_each([&](auto& message) {
              passes += message.records().size();
              if (fails) (void)message.retain(1);
            });
          };
        });
      });
    });
    for (int x = 0; x < 4; ++x) input.send(8);
    input.close();
    worker.step_or_park_while([&] { return worker.has_dataflows(); });
    return passes;
  });
  outcome.rethrow();
  std::size_t passes = 0;
  for (std::size_t index = 0; index < workers; ++index) passes += outcome.value(index);
  return passes;
}

// On this thread, without a clock: sums per time while a dataflow beside it is cancelled.
long sums() {
  leat::comm::Fabric fabric(1);
  leat::core::Config config;
  config.records_per_activation = 2;
  df::Worker worker(fabric.seat(0), config, nullptr);
  df::Input<int> input;
  df::Input<int> in_vain;
  df::Probe<> probe;
  long sum = 0;
  worker.dataflow({.name = "sums", .weight = 2}, [&](auto& scope) {
    scope.input(input) | df::flat_map<int>([](int x, auto& out) {
      for (int i = 0; i < x; ++i) out(x);
    }) | df::delay([](int, std::uint64_t time) { return time + 1; }) |
        df::accumulate(0L, [](long& all, const std::vector<int>& xs) {
          for (int x : xs) all += x;
        }) | df::inspect([&](long all) { sum += all; });
  });
  worker.dataflow([&](auto& scope) {
    scope.input(in_vain) | df::inspect([&](int) { sum = -1000; }) | df::probe(probe);
  });
  in_vain.send(1);
  in_vain.flush();
  worker.cancel(1);
  for (int x = 1; x <= 3; ++x) input.send(x);
  input.close();
  while (worker.step()) {
  }
  return probe.cut_short() ? sum : -1;
}

}  // namespace

int main() {
  if (const long sum = sums(); sum != 1 + 4 + 9) {
    std::printf("a sum of %ld\n", sum);
    return 1;
  }
  for (std::size_t workers = 1; workers <= 2; ++workers) {
    // 8, 4, 2 and 1, of each of 4 records.
    if (const std::size_t passes = run(workers, false); passes != 16 * workers) {
      std::printf("%zu workers: %zu passes\n", workers, passes);
      return 1;
    }
    try {
      run(workers, true);
    } catch (const leat::UsageError& error) {
      std::printf("%s\n", error.what());
      continue;
    }
    std::printf("nothing was thrown\n");
    return 1;
  }
  return 0;
}
