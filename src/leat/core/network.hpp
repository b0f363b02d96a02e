// What      What a run of several processes can be told: how many they are, where they find each other,
//           whom they trust, and how long they wait. A part of Config.
#pragma once

#include <leat/base/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace leat::core {

/// What carries messages between processes. `--fabric`.
enum class FabricKind : std::uint8_t {
  automatic,  ///< tcp
  tcp,        ///< sockets, between any hosts
  shm,        ///< shared memory, between processes of one host
};

/// Memory, and whoever frees it.
struct OwnedBytes {
  std::shared_ptr<void> owner{};
  std::span<std::byte> memory{};
};

/// What the network tells whoever wants to hear (`Network::log`).
struct NetworkEvent {
  enum class Kind : std::uint8_t {
    link_started,  ///< the connection to `process` stands
    link_ended,    ///< it ended in order
    link_lost,     ///< it broke; `text` says how
    frame_sent,    ///< `source`, `target_*`, `channel`, `bytes` and `sequence` are of a frame
    frame_received,
    thread_started,  ///< the thread that looks after all links
    thread_ended,
    refused,  ///< a connection that came from nobody of the cluster; `text` says why
  };
  Kind kind = Kind::link_started;
  std::size_t process = 0;  ///< the other one
  std::uint8_t frame_kind = 0;
  std::uint32_t source = 0;
  std::uint32_t target_lower = 0;
  std::uint32_t target_upper = 0;
  std::uint64_t channel = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;
  std::string text{};
};

struct Network {
  /// How many processes there are, and which of them this is. `-n`, `-p`; LEAT_PROCESSES,
  /// LEAT_PROCESS.
  std::size_t processes = 1;
  std::size_t process = 0;

  /// `--fabric`; LEAT_FABRIC.
  FabricKind fabric = FabricKind::automatic;

  /// Where each process listens: `name:port`, `[IPv6 address]:port` or `unix:/path`. Of the own
  /// one's, separated by blanks, there may be several. Empty: `localhost:2101`, `localhost:2102`, ...
  /// `-h` reads them from a file, one line for each.
  std::vector<std::string> hosts{};

  /// Only processes that say the same word find each other. `--cluster`; LEAT_CLUSTER.
  std::string cluster = "leat";

  /// A file whose contents all processes know and nobody else does. `--secret-file`. Needed for
  /// addresses that are not this host's own, unless `insecure`.
  std::string secret_file{};
  /// Listen on any address without a secret. `--insecure`.
  bool insecure = false;

  /// How long processes wait for each other at the start. `--connect-timeout`, in seconds.
  Nanos connect_timeout = std::chrono::seconds(300);
  /// How long a peer may be silent before it counts as lost. `--peer-timeout`, in milliseconds. Less
  /// suits services that must notice soon; it must be longer than a process may be stopped or
  /// starved.
  Nanos peer_timeout = std::chrono::seconds(10);

  /// A listening socket that was inherited, in place of the own address; -1: none. LEAT_LISTEN.
  int listener = -1;
  /// Connected stream sockets, one for each process, in place of addresses; the own place is not
  /// looked at. Taken over.
  std::vector<int> sockets{};

  /// Makes buffers for messages that travel as bytes, of at least so many of them, aligned to 8: huge
  /// pages, pinned memory. Empty: plain memory. Called by any thread. Also without other processes, if
  /// `zerocopy`.
  std::function<OwnedBytes(std::size_t bytes)> refill{};
  /// How many buffers that nobody uses are kept, in each place that makes messages.
  std::size_t spares_max = 2;

  /// The longest message that is taken from a peer.
  std::uint64_t message_bytes_max = std::uint64_t{1} << 32;

  /// Hears of links and frames, if not empty. Called by any thread, under a lock: it must be quick.
  std::function<void(const NetworkEvent&)> log{};
  /// Called once for each peer that is lost, before the workers of this process are told.
  std::function<void(std::size_t process, const std::string& why)> on_peer_lost{};
};

}  // namespace leat::core
