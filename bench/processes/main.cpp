// What do a round of agreement and an epoch of one record cost between two processes of one host?
//
// The program starts itself once more as the second process; both have one worker, pinned to a core each.
// Over shared memory and over TCP on loopback. Beside them stand the same dataflows with two threads, in
// the benches barrier and exchange, and what two processes can do at best that only write to a socket and
// read from it.
#include "../support/flows.hpp"
#include "../support/suite.hpp"

#include <leat/base/os/child.hpp>
#include <leat/base/os/endpoint.hpp>
#include <leat/base/os/socket.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <unistd.h>

namespace leat::bench {
namespace {

/// What the second process is told, in words.
struct Part {
  std::string work;    // barrier, exchange, or socket: no dataflow
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

Shift run_part(const Part& part, const core::Config& config) {
  return on_workers(config,
                    [&](dataflow::Worker& worker) {
                      return part.work == "barrier" ? barrier_rounds(worker, part.iterations)
                                                    : exchange_epochs(worker, 1, part.iterations);
                    })
      .front();
}

/// As many bytes as a round of progress has, to and fro: what two half round trips take.
Lap talk(os::Socket& socket, bool begins, std::uint64_t iterations) {
  std::array<std::byte, 136> frame{};
  const auto move = [&](auto once) {
    for (std::size_t done = 0; done < frame.size();) {
      const Io io = once(std::span(frame).subspan(done));
      require(io.state == IoState::some || io.state == IoState::none, "it broke");
      if (io.state == IoState::some) done += io.bytes;
    }
  };
  const auto send = [&] {
    move([&](std::span<std::byte> left) { return socket.write(std::span<const std::byte>(left)); });
  };
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    if (begins) send();
    move([&](std::span<std::byte> left) { return socket.read(left); });
    if (!begins) send();
  }
  return watch.stop();
}

os::Socket call(const std::string& place) {
  auto calling = os::Connecting::begin(os::Endpoint::look_up(place)->front());
  require(calling.has_value(), "it cannot be called");
  for (;;) {
    auto socket = calling->look();
    require(socket.has_value(), "it does not answer");
    if (*socket) return std::move(**socket);
  }
}

Sample sockets(std::uint64_t iterations) {
  auto door = os::Doorway::open(os::Endpoint::look_up("127.0.0.1:0")->front());
  require(door.has_value(), "no port is free");
  auto second = os::Child::start({.words = {"/proc/self/exe", "--second", "socket", "tcp",
                                            door->text(), std::to_string(iterations)}});
  require(second.has_value(), "the second process does not start");
  std::optional<os::Socket> socket;
  while (!socket) {
    auto came = door->accept();
    require(came.has_value(), "nobody comes");
    if (*came) socket.emplace(std::move(**came));
  }
  Lap lap;
  std::thread([&] {  // not this one: who is started by a pinned thread is pinned, too
    pin_by_index(0);
    lap = talk(*socket, true, iterations);
  })
      .join();
  return Sample(lap, iterations);
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
    if (part.work == "socket") {
      pin_by_index(1);
      auto socket = call(part.place);
      talk(socket, false, part.iterations);
      return 0;
    }
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
  suite.run({.params = {{"rival", "socket"}}, .iterations = 20'000U, .tiny_iterations = 100},
            [](std::uint64_t iterations) { return sockets(iterations); });
  return suite.finish();
}
