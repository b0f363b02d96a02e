// Replays the streams that capture_send sends over TCP: N of them, dealt to however many workers
// there are.
//
//   capture_recv N [PORT] [flags]     for example: capture_recv 2 -w 3
//
// listens on N ports of this machine from PORT (8000 unless told otherwise), and prints, in any
// order,
//
//   replayed: 0
//   ...                               ten lines for each of the N senders

#include <leat/base/os/ready_watch.hpp>
#include <leat/base/os/socket.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/capture/event_bytes.hpp>

#include "arguments.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace df = leat::dataflow;

template <class T>
T require(leat::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

int main(int argc, char** argv) {
  const std::uint64_t senders = number(argc, argv, 1, "N", 1);
  const std::uint64_t ports = number(argc, argv, 2, "PORT", 8000);
  const auto watch = std::make_shared<leat::os::ReadyWatch>();  // wakes workers that wait for bytes
  const auto outcome = df::execute_from_args(argc, argv, [&](df::Worker& worker) {
    // [capture_recv]
    using leat::os::Listener, leat::os::WatchedSocket;
    using Events = df::EventReader<std::uint64_t, std::vector<std::uint64_t>, WatchedSocket>;
    std::vector<Listener> listeners;  // all at once: senders connect in any order
    for (std::uint64_t i = worker.index(); i < senders; i += worker.peers()) {
      const auto port = static_cast<std::uint16_t>(ports + i);
      listeners.push_back(require(Listener::open("127.0.0.1", port)));
    }
    std::vector<Events> sources;
    for (auto& listener : listeners)
      sources.emplace_back(WatchedSocket(require(listener.accept()), watch));
    worker.dataflow([&](auto& scope) {
      df::replay_into(scope, std::move(sources)) |
          df::inspect([](std::uint64_t record) { std::printf("replayed: %lu\n", record); });
    });
    // [/capture_recv]
  });
  return outcome.exit_code();
}
