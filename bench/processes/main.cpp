// What do a round of agreement and an epoch of one record cost between two processes of one host?
//
// The program starts itself once more as the second process; both have one worker, pinned to a core each.
// Over shared memory and over TCP on loopback. Beside them stand the same with two threads in the benches
// barrier and exchange.
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/base/os/child.hpp>
#include <leat/base/os/endpoint.hpp>
#include <leat/dataflow.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace leat::bench {
namespace {

namespace df = leat::dataflow;

/// What the second process is told, in words.
struct Part {
  std::string work;    // barrier or exchange
  std::string fabric;  // shm or tcp
  std::string place;   // the cluster, or the address of the first process
  std::uint64_t iterations = 0;
};

core::Config config_of(const Part& part, std::size_t process) {
  core::Config config;
  config.workers = 1;
  config.network.processes = 2;
  config.network.process = process;
  if (part.fabric == "shm") {
    config.network.fabric = core::FabricKind::shm;
    config.network.cluster = part.place;
  } else {
    config.network.hosts = {part.place, "127.0.0.1:1"};
  }
  return config;
}

Shift barrier(df::Worker& worker, std::uint64_t iterations) {
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
}

Shift exchange(df::Worker& worker, std::uint64_t iterations) {
  std::uint64_t received = 0;
  df::Input<std::uint64_t> input;
  df::Probe<> probe;
  worker.dataflow([&](auto& scope) {
    scope.input(input) | df::exchange([](std::uint64_t record) { return record; }) |
        df::inspect([&](std::uint64_t) { ++received; }) | df::probe(probe);
  });
  const Stopwatch watch;
  for (std::uint64_t epoch = 0; epoch < iterations; ++epoch) {
    input.send(epoch + worker.index());
    input.advance_to(epoch + 1);
    worker.step_or_park_while([&] { return probe.less_than(input.time()); });
  }
  const Lap lap = watch.stop();
  input.close();
  while (worker.step_or_park()) {
  }
  return Shift{lap, received, {}};
}

Shift run_part(const Part& part, const core::Config& config) {
  return on_workers(config,
                    [&](df::Worker& worker) {
                      return part.work == "barrier" ? barrier(worker, part.iterations)
                                                    : exchange(worker, part.iterations);
                    })
      .front();
}

Sample both(Part part) {
  core::Config config;
  if (part.fabric == "shm") {
    part.place = "bench-" + std::to_string(::getpid());
    config = config_of(part, 0);
  } else {
    auto door = os::Doorway::open(os::Endpoint::look_up("127.0.0.1:0")->front());
    require(door.has_value(), "no port is free");
    part.place = door->text();
    config = config_of(part, 0);
    config.network.listener = ::dup(door->descriptor());
  }
  auto second = os::Child::start({.words = {"/proc/self/exe", "--second", part.work, part.fabric,
                                            part.place, std::to_string(part.iterations)}});
  require(second.has_value(), "the second process does not start");
  const Shift shift = run_part(part, config);
  require(shift.count == part.iterations, "rounds or records are missing");
  Sample sample(shift.lap, part.iterations);
  add_coordination(sample, {shift}, part.iterations);
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  if (argc == 6 && std::string_view(argv[1]) == "--second") {
    const Part part{argv[2], argv[3], argv[4], std::strtoull(argv[5], nullptr, 10)};
    return run_part(part, config_of(part, 1)).count == part.iterations ? 0 : 1;
  }
  Suite suite("processes", argc, argv);
  for (const char* const work : {"barrier", "exchange"}) {
    for (const char* const fabric : {"shm", "tcp"}) {
      suite.run({.params = {{"work", work}, {"fabric", fabric}},
                 .iterations = std::string_view(work) == "barrier" ? 100'000U : 20'000U,
                 .tiny_iterations = 100},
                [&](std::uint64_t iterations) { return both({work, fabric, {}, iterations}); });
    }
  }
  return suite.finish();
}
