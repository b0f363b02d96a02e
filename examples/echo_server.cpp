// A server that echoes lines, under a supervisor: each connection has an actor of its own, which waits for
// its client in plain code. Some requests make it fail: that ends that connection, and nothing else; and when
// the actor that accepts is killed, its supervisor starts it anew while all connections go on.
//
//   echo_server serve PORT [-w THREADS]       until Ctrl-C; try it with `nc 127.0.0.1 PORT`
//   echo_server try [CLIENTS] [-w THREADS]    serves itself CLIENTS clients (50), ten lines each
//
// Prints, of `try`:
//   50 clients: 490 lines came back, 5 connections failed
//   the door was opened 2 times
#include <leat/actor/io/process.hpp>
#include <leat/actor/io/stream.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/actor/supervise/names.hpp>
#include <leat/actor/supervise/supervisor.hpp>
#include <leat/base/atomic.hpp>

#include "arguments.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leat::actor;

// What is counted outlives actors that fail. Relaxed: figures for the end.
struct Counts {
  leat::Atomic<std::uint64_t> opened{0};
  leat::Atomic<std::uint64_t> failed{0};
};

// [connection]
void serve_client(Stream client, Counts& counts) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const Transfer got = client.read(buffer);
    if (!got.ok() || got.count == 0) return;
    const std::string_view text(reinterpret_cast<const char*>(buffer.data()), got.count);
    if (text.find("fail") != std::string_view::npos) {
      counts.failed.fetch_add_relaxed(1);
      throw std::runtime_error("a request that cannot be served");
    }
    if (!client.write_all(text).ok()) return;
  }
}
// [/connection]

// [door]
void keep_door(Listener& listener, const Supervisor& clients, Counts& counts) {
  counts.opened.fetch_add_relaxed(1);
  register_name("door");
  for (;;) {
    auto client = listener.accept();
    if (!client) {  // no descriptor is left: connections that end give some back
      sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    // The function of a child can be copied, a stream cannot: it waits in a box.
    auto box = std::make_shared<Stream>(std::move(*client));
    (void)clients.start_child({.run = [box, &counts] { serve_client(std::move(*box), counts); },
                               .restart = Restart::temporary});
  }
}
// [/door]

void serve(Listener& listener, Counts& counts, const std::function<void()>& meanwhile) {
  SupervisorOptions options;
  options.name = "echo";
  options.intensity = 10;
  const auto clients = Supervisor::start({.name = "clients"}, {});
  const auto tree = Supervisor::start(
      options, {{.name = "door", .run = [&] { keep_door(listener, clients, counts); }}});
  meanwhile();
  (void)tree.stop();
  (void)clients.stop();
}

// Ten lines, one of which may be one that cannot be served. Returns: how many came back.
int talk(std::uint16_t port, int number) {
  auto stream = Stream::connect("127.0.0.1", port);
  if (!stream) throw std::runtime_error(stream.error().message);
  int back = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string line = number % 10 == 0 && i == 8 ? "fail\n" : std::to_string(i) + "\n";
    if (!stream->write_all(line).ok()) break;
    std::string answer(line.size(), '\0');
    const Transfer got = stream->read_all(std::as_writable_bytes(std::span(answer)));
    if (!got.ok() || got.count < line.size()) break;
    back += answer == line ? 1 : 0;
  }
  return back;
}

void try_it(int clients) {
  auto listener = Listener::open("127.0.0.1", 0);
  if (!listener) throw std::runtime_error(listener.error().message);
  Counts counts;
  serve(*listener, counts, [&] {
    std::vector<JoinHandle<int>> handles;
    for (int i = 0; i < clients; ++i) {
      handles.push_back(spawn([i, port = listener->port()] { return talk(port, i); }));
      if (i == clients / 2) {
        while (!kill(whereis("door"))) yield_now();
      }
    }
    int lines = 0;
    for (auto& handle : handles) lines += handle.join();
    while (counts.opened.load_relaxed() < 2) sleep_for(std::chrono::milliseconds(1));
    std::printf("%d clients: %d lines came back, %llu connections failed\n", clients, lines,
                static_cast<unsigned long long>(counts.failed.load_relaxed()));
  });
  std::printf("the door was opened %llu times\n",
              static_cast<unsigned long long>(counts.opened.load_relaxed()));
}

void serve_for_ever(std::uint16_t port) {
  auto signals = SignalWatch::open({SIGINT, SIGTERM});
  auto listener = Listener::open("127.0.0.1", port);
  if (!listener) throw std::runtime_error(listener.error().message);
  Counts counts;
  serve(*listener, counts, [&] {
    std::printf("serving at port %u\n", listener->port());
    std::fflush(stdout);
    (void)signals->next();
  });
  std::printf("%llu connections failed\n",
              static_cast<unsigned long long>(counts.failed.load_relaxed()));
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t threads = 1;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "-w") {
      threads = std::strtoul(argv[i + 1], nullptr, 10);
      argc = i;
    }
  }
  // A thread that starts now has these signals blocked, as the runtime's threads then have.
  const int signals[] = {SIGINT, SIGTERM};
  (void)leat::os::watch_signals(signals);
  try {
    Runtime runtime(
        Config::exact(threads).on_lost_failure([](Pid, std::string_view, const Exit&) {}));
    const std::string_view role = word(argc, argv, 1);
    if (role == "serve") {
      const auto port = static_cast<std::uint16_t>(as_number(word(argc, argv, 2)).value_or(7007));
      runtime.run([port] { serve_for_ever(port); });
    } else {
      const auto clients = static_cast<int>(number(argc, argv, 2, "CLIENTS", 50));
      runtime.run([clients] { try_it(clients); });
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "echo_server: %s\n", e.what());
    return 1;
  }
}
