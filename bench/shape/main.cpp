// Do very wide graphs cost what their size says, and no more?
//
// One operator with n inputs and n outputs, each input linked to one output; and a region through
// which n edges pass. Time and memory should grow with n, not with its square, and nothing may
// recurse n deep.
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/base/os/memory.hpp>
#include <leat/dataflow.hpp>

#include <vector>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;
using Batch = std::vector<std::uint64_t>;
using Stream = df::Stream<std::uint64_t, Batch>;

// One operator; what comes in at a port goes out at the port of the same number.
std::vector<Stream> through_operator(df::Scope<std::uint64_t>& scope, const Stream& stream,
                                     std::uint32_t ports) {
  df::OperatorBuilder<std::uint64_t> builder(scope.state(), "ports");
  std::vector<df::InputPort<std::uint64_t, Batch>> inputs;
  std::vector<df::OutputPort<std::uint64_t, Batch>> outputs;
  std::vector<Stream> streams;
  for (std::uint32_t i = 0; i < ports; ++i) {
    auto [port, out] = builder.new_output<Batch>(std::vector<df::LinkTo<std::uint64_t>>{});
    outputs.push_back(std::move(port));
    streams.push_back(std::move(out));
    inputs.push_back(builder.new_input(stream, df::pipeline, {df::LinkTo<std::uint64_t>{i, {}}}));
    builder.set_interest(i, progress::FrontierInterest::never);
  }
  builder.build([&](auto) {
    return [inputs = std::move(inputs), outputs = std::move(outputs)]() mutable {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i].for_each(
            [&](auto& message) { outputs[i].session(message).give_batch(message.records()); });
      }
    };
  });
  return streams;
}

// A region that only lets edges through.
std::vector<Stream> through_region(df::Scope<std::uint64_t>& scope, const Stream& stream,
                                   std::uint32_t edges) {
  std::vector<Stream> streams;
  scope.region("edges", [&](auto& inner) {
    for (std::uint32_t i = 0; i < edges; ++i)
      streams.push_back(stream | df::enter(inner) | df::leave(scope));
  });
  return streams;
}

template <class Through>
Sample build_and_run(std::uint32_t ports, std::uint64_t rounds, const Through& through) {
  Lap building;
  const auto shifts = on_workers(1, [&](df::Worker& worker) {
    std::uint64_t seen = 0;
    df::Input<std::uint64_t> input;
    df::Probe<> probe;
    const Stopwatch watch;
    worker.dataflow([&](auto& scope) {
      df::concatenate(scope, through(scope, scope.input(input), ports)) |
          df::inspect_batch([&seen](std::uint64_t, const Batch& batch) { seen += batch.size(); }) |
          df::probe(probe);
    });
    building = watch.stop();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      input.send(round);
      input.advance_to(round + 1);
      worker.step_while([&] { return probe.less_than(input.time()); });
    }
    input.close();
    while (worker.step_or_park()) {
    }
    return Shift{watch.stop(), seen, {}};
  });
  require(shifts[0].count == rounds * ports, "records were lost or doubled");
  Sample sample;
  const auto wall = static_cast<double>(shifts[0].lap.wall().count());
  sample.add("wall_ns", "ns", wall);
  sample.add("cpu_ns", "ns", static_cast<double>(shifts[0].lap.cpu.count()));
  sample.add("build_cpu_ns", "ns", static_cast<double>(building.cpu.count()));
  sample.add("wall_ns_per_port", "ns", wall / ports);
  sample.add("peak_rss_bytes", "B", static_cast<double>(os::peak_rss_bytes()));
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("shape", argc, argv);
  for (const std::uint32_t ports : {1'000U, 10'000U, 100'000U}) {
    const auto run = [&](const char* kind, const auto& through) {
      suite.run({.params = {{"kind", kind}, {"ports", std::int64_t{ports}}},
                 .iterations = 10,
                 .tiny_iterations = 1},
                [&](std::uint64_t rounds) { return build_and_run(ports, rounds, through); });
    };
    run("operator", through_operator);
    run("region", through_region);
  }
  return suite.finish();
}
