// What does a dataflow cost that has nothing to do, beside one that has?
//
// Many dataflows, each a chain of maps in a region; each round touches one of them, in turn, and
// steps until it is through. A round should not depend on how many dataflows there are, and without
// a record not on how long they are.
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/base/os/memory.hpp>
#include <leat/dataflow.hpp>

#include <algorithm>
#include <vector>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

struct Chain {
  df::Input<std::uint64_t> input;
  df::Probe<> probe;
};

void build(df::Worker& worker, Chain& chain, std::uint64_t length, std::uint64_t& seen) {
  worker.dataflow([&](auto& scope) {
    auto stream = scope.input(chain.input);
    auto out = scope.region("chain", [&](auto& inner) {
      auto inside = stream | df::enter(inner);
      for (std::uint64_t i = 0; i < length; ++i) {
        inside = inside | df::map([](std::uint64_t record) { return record + 1; });
      }
      return inside | df::inspect([&seen](std::uint64_t record) { seen += record; }) |
             df::leave(scope);
    });
    out | df::probe(chain.probe);
  });
}

Sample rounds(std::uint64_t dataflows, std::uint64_t length, bool with_record,
              std::uint64_t iterations) {
  Histogram latencies;
  std::uint64_t steps_most = 0;
  Lap building;
  const auto shifts = on_workers(1, [&](df::Worker& worker) {
    std::uint64_t seen = 0;
    std::vector<Chain> chains(dataflows);
    const Stopwatch build_watch;
    for (auto& chain : chains) build(worker, chain, length, seen);
    building = build_watch.stop();
    for (int i = 0; i < 3; ++i) worker.step();  // what every dataflow does once

    const RealClock clock;
    const Stopwatch watch;
    Nanos before = clock.now();
    for (std::uint64_t round = 0; round < iterations; ++round) {
      auto& [input, probe] = chains[round % dataflows];
      if (with_record) input.send(0);
      input.advance_to(round + 1);
      std::uint64_t steps = 0;
      while (probe.less_than(input.time())) {
        worker.step();
        ++steps;
      }
      steps_most = std::max(steps_most, steps);
      const Nanos now = clock.now();
      latencies.record(static_cast<std::uint64_t>((now - before).count()));
      before = now;
    }
    const Lap lap = watch.stop();
    chains.clear();
    while (worker.step_or_park()) {
    }
    return Shift{lap, seen, {}};
  });
  require(shifts[0].count == (with_record ? iterations * length : 0),
          "records were lost or missed maps");
  Sample sample(shifts[0].lap, iterations);
  sample.add_distribution(latencies);
  sample.add("steps_most", "1", static_cast<double>(steps_most));
  sample.add("build_cpu_ns", "ns", static_cast<double>(building.cpu.count()));
  sample.add("peak_rss_bytes", "B", static_cast<double>(os::peak_rss_bytes()));
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("event_driven", argc, argv);
  struct Shape {
    std::uint64_t dataflows;
    bool with_record;
  };
  for (const auto [many, one_record] : {Shape{10, false}, Shape{10, true}, Shape{1'000, false}}) {
    constexpr std::uint64_t kLength = 10;
    suite.run({.params = {{"dataflows", static_cast<std::int64_t>(many)},
                          {"length", static_cast<std::int64_t>(kLength)},
                          {"record", std::int64_t{one_record}}},
               .iterations = 100'000,
               .tiny_iterations = 50,
               .countable = true},
              [&, dataflows = many, with_record = one_record](std::uint64_t iterations) {
                return rounds(dataflows, kLength, with_record, iterations);
              });
  }
  return suite.finish();
}
