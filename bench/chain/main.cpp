// What does an operator cost that only passes on?
//
// A chain of maps. Each round sends one record through all of it, or only moves the time on, and
// steps until the probe says that the end has seen it. Divided by the length it is the cost of one
// operator.
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/dataflow.hpp>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

Sample rounds(std::uint64_t length, bool with_record, std::uint64_t iterations) {
  const auto shifts = on_workers(1, [&](df::Worker& worker) {
    std::uint64_t seen = 0;
    df::Input<std::uint64_t> input;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      auto stream = scope.input(input);
      for (std::uint64_t i = 0; i < length; ++i) {
        stream = stream | df::map([](std::uint64_t record) { return record + 1; });
      }
      stream | df::inspect([&seen](std::uint64_t record) { seen += record; }) | df::probe(probe);
    });
    const Stopwatch watch;
    for (std::uint64_t round = 0; round < iterations; ++round) {
      if (with_record) input.send(0);
      input.advance_to(round + 1);
      worker.step_while([&] { return probe.less_than(input.time()); });
    }
    const Lap lap = watch.stop();
    input.close();
    while (worker.step_or_park()) {
    }
    return Shift{lap, seen, {}};
  });
  require(shifts[0].count == (with_record ? iterations * length : 0),
          "records were lost or missed maps");
  Sample sample(shifts[0].lap, iterations);
  sample.add(
      "cpu_ns_per_operator", "ns",
      static_cast<double>(shifts[0].lap.cpu.count()) / static_cast<double>(iterations * length));
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("chain", argc, argv);
  for (const std::uint64_t length : {1, 10, 100, 1000}) {
    for (const bool with_record : {false, true}) {
      suite.run({.params = {{"length", static_cast<std::int64_t>(length)},
                            {"record", std::int64_t{with_record}}},
                 .iterations = 1'000'000 / (length + 9),
                 .tiny_iterations = 20,
                 .countable = true},
                [&](std::uint64_t iterations) { return rounds(length, with_record, iterations); });
    }
  }
  return suite.finish();
}
