// What does a server of many connections cost, and do its timers stay in time meanwhile?
//
// A server on two workers, an actor for each connection, and a client in another process, also an actor for
// each: all connections are open at a time, and each sends 64 bytes and waits until they come back, again and
// again. An iteration is one such exchange; CPU time is the server's. An actor of the server sleeps from
// millisecond to millisecond: how late it is woken is a distribution of its own.
#include "../support/suite.hpp"

#include <leat/actor.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/histogram.hpp>
#include <leat/base/os/memory.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leat::bench {
namespace {

using namespace leat::actor;

using Message = std::array<std::byte, 64>;

void raise_descriptors(std::uint64_t wanted) {
  rlimit limit{};
  require(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "no limit of descriptors is known");
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted) {
    throw std::runtime_error("asked for " + std::to_string(wanted) +
                             " descriptors; found a limit of " + std::to_string(limit.rlim_max) +
                             "; raise it with ulimit -n");
  }
  limit.rlim_cur = wanted;
  require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit of descriptors stays");
}

bool exchange(Stream& stream, std::uint64_t number, std::uint64_t rounds) {
  Message message{};
  Message back{};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < message.size(); ++i) {
      message[i] = static_cast<std::byte>(number * 31 + round * 7 + i);
    }
    if (!stream.write_all(message).ok()) return false;
    if (stream.read_all(back).count != back.size() || back != message) return false;
  }
  return true;
}

// Returns: what the client's process ends with.
int run_client(std::uint16_t port, std::uint64_t connections, std::uint64_t rounds) {
  try {
    Runtime runtime(Config::exact(1));
    return runtime.run([&] {
      std::vector<Stream> streams;
      streams.reserve(connections);
      for (std::uint64_t i = 0; i < connections; ++i) {
        auto stream = Stream::connect("127.0.0.1", port);
        if (!stream) throw std::runtime_error(stream.error().message);
        streams.push_back(std::move(*stream));
      }
      std::vector<JoinHandle<bool>> handles;
      handles.reserve(connections);
      for (std::uint64_t i = 0; i < connections; ++i) {
        handles.push_back(spawn([stream = std::move(streams[i]), i, rounds]() mutable {
          return exchange(stream, i, rounds);
        }));
      }
      bool right = true;
      for (auto& handle : handles) right = handle.join() && right;
      return right ? 0 : 1;
    });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "client: %s\n", e.what());
    return 1;
  }
}

void serve(Stream client) {
  std::array<std::byte, 512> buffer;
  for (;;) {
    const Transfer got = client.read(buffer);
    if (!got.ok() || got.count == 0) return;
    if (!client.write_all(std::span(buffer).first(got.count)).ok()) return;
  }
}

// From millisecond to millisecond, until it is cancelled.
void keep_time(Histogram& late) {
  for (;;) {
    const Nanos deadline = deadline_after(std::chrono::milliseconds(1));
    sleep_until(deadline);
    late.record(static_cast<std::uint64_t>((now_here() - deadline).count()));
  }
}

Sample echo(std::uint64_t connections, std::uint64_t iterations) {
  raise_descriptors(connections + 100);
  Sample sample;
  Runtime runtime(Config::exact(2));
  int ends[2];
  require(::pipe(ends) == 0, "no pipe");
  // The client's process is made before there are connections; it is told the port.
  const pid_t client = ::fork();
  require(client >= 0, "no process");
  const std::uint64_t rounds = iterations / connections;
  if (client == 0) {
    std::uint16_t port = 0;
    if (::read(ends[0], &port, sizeof port) != sizeof port) ::_exit(1);
    ::_exit(run_client(port, connections, rounds));
  }
  runtime.run([&] {
    auto door = Listener::open("127.0.0.1", 0);
    if (!door) throw std::runtime_error(door.error().message);
    const std::uint16_t port = door->port();
    require(::write(ends[1], &port, sizeof port) == sizeof port, "nobody is told the port");
    const std::uint64_t before = os::current_rss_bytes();
    Histogram late;
    std::vector<JoinHandle<void>> handles;
    handles.reserve(connections);
    for (std::uint64_t i = 0; i < connections; ++i) {
      auto stream = door->accept();
      if (!stream) throw std::runtime_error(stream.error().message);
      handles.push_back(
          spawn([stream = std::move(*stream)]() mutable { serve(std::move(stream)); }));
    }
    const Nanos cpu = os::process_cpu();
    const Nanos begin = RealClock().now();
    auto clock = spawn([&late] { keep_time(late); });
    for (auto& handle : handles) handle.join();
    const Lap lap{begin, RealClock().now(), os::process_cpu() - cpu};
    clock.cancel();
    (void)clock.join_result();
    sample = Sample(lap, rounds * connections);
    sample.add(
        "bytes_per_connection", "B",
        static_cast<double>(os::current_rss_bytes() - before) / static_cast<double>(connections));
    sample.add("timer_late_p50_ns", "ns", static_cast<double>(late.quantile(0.5)));
    sample.add("timer_late_p99_ns", "ns", static_cast<double>(late.quantile(0.99)));
    sample.add("timer_late_longest_ns", "ns", static_cast<double>(late.max()));
  });
  int status = 0;
  require(::waitpid(client, &status, 0) == client && status == 0, "the client got a wrong answer");
  ::close(ends[0]);
  ::close(ends[1]);
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("actor_echo", argc, argv);
  for (const std::int64_t connections : {100, 10'000}) {
    const auto count = static_cast<std::uint64_t>(connections);
    suite.run(
        {.params = {{"connections", connections}}, .iterations = 200'000, .tiny_iterations = 50},
        [&](std::uint64_t iterations) { return echo(std::min(count, iterations), iterations); });
  }
  return suite.finish();
}
