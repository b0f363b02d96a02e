// What does a small dataflow pay for those beside it that have nothing to do, and what memory do
// these take?
//
// A thousand dataflows of a hundred operators each, through which a record has gone once, beside one
// small dataflow that gets a record each round. A round should cost what it costs alone, and an
// operator without anything to do should hold no buffers of records: its bytes are counted.
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/dataflow.hpp>

#include <malloc.h>

#include <cstddef>
#include <vector>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

struct Chain {
  df::Input<std::uint64_t> input;
  df::Probe<> probe;
};

// `operators` of them, the input and the probe included.
void build(df::Worker& worker, Chain& chain, std::uint64_t operators, std::uint64_t& seen) {
  worker.dataflow([&](auto& scope) {
    auto stream = scope.input(chain.input);
    for (std::uint64_t i = 3; i < operators; ++i) {
      stream = stream | df::map([](std::uint64_t record) { return record + 1; });
    }
    stream | df::inspect([&seen](std::uint64_t) { ++seen; }) | df::probe(chain.probe);
  });
}

std::size_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

Sample rounds(std::uint64_t idle, std::uint64_t operators, std::uint64_t iterations) {
  double bytes_per_operator = 0;
  Lap building;
  const auto shifts = on_workers(1, [&](df::Worker& worker) {
    std::uint64_t seen = 0;
    const std::size_t heap_before = heap_bytes();
    const Stopwatch build_watch;
    std::vector<Chain> chains(idle);
    for (auto& chain : chains) {
      build(worker, chain, operators, seen);
      chain.input.send(0);
      chain.input.advance_to(1);
    }
    building = build_watch.stop();
    for (int i = 0; i < 1000; ++i) worker.step();  // until the worker took back what they kept
    require(seen == idle, "a record did not go through");
    if (idle > 0) {
      bytes_per_operator =
          static_cast<double>(heap_bytes() - heap_before) / static_cast<double>(idle * operators);
    }

    Chain active;
    build(worker, active, 10, seen);
    for (int i = 0; i < 3; ++i) worker.step();
    const Stopwatch watch;
    for (std::uint64_t round = 0; round < iterations; ++round) {
      active.input.send(round);
      active.input.advance_to(round + 1);
      worker.step_while([&] { return active.probe.less_than(round + 1); });
    }
    const Lap lap = watch.stop();
    active.input.close();
    chains.clear();
    while (worker.step_or_park()) {
    }
    return Shift{lap, seen - idle, {}};
  });
  require(shifts[0].count == iterations, "records were lost");
  Sample sample(shifts[0].lap, iterations);
  sample.add("build_cpu_ns", "ns", static_cast<double>(building.cpu.count()));
  if (idle > 0) sample.add("bytes_per_operator", "B", bytes_per_operator);
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("idle", argc, argv);
  for (const std::int64_t dataflows : {0, 1'000}) {
    constexpr std::int64_t kOperators = 100;
    suite.run({.params = {{"dataflows", dataflows}, {"operators", kOperators}},
               .iterations = 50'000,
               .tiny_iterations = 50,
               .countable = true},
              [&](std::uint64_t iterations) {
                return rounds(static_cast<std::uint64_t>(dataflows), kOperators, iterations);
              });
  }
  return suite.finish();
}
