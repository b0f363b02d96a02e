// What      TCP connections over IPv4, as ways in and out for bytes (byte_io.hpp), and how they come
//           about: one side listens and accepts, the other connects. endpoint.hpp has other addresses,
//           and ways to meet that do not wait.
// Protocol  Setting up waits; reading and writing never do. A peer that closed its end in order shows
//           as `over`, any other end as `broken`.
// Limits    Addresses are numbers ("127.0.0.1"): names are not looked up.
#pragma once

#include <leat/base/byte_io.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/os/descriptor.hpp>
#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace leat::os {

/// One end of a connection. Threads: one at a time.
class Socket {
 public:
  /// Takes over a connected stream socket.
  explicit Socket(Descriptor descriptor);

  /// Reads what has come, at most `into.size()` bytes. Never waits.
  [[nodiscard]] Io read(std::span<std::byte> into);
  /// Writes what there is room for. Never waits.
  [[nodiscard]] Io write(std::span<const std::byte> bytes);
  /// Writes the parts one after the other, at most the first 64 of them, in one call. Never waits.
  [[nodiscard]] Io write(std::span<const std::span<const std::byte>> parts);
  /// Says that nothing is written any more; the peer reads to the end.
  void finish_writing() noexcept;

  /// Writes one byte with a copy of `descriptor`. Requires: a Unix socket with room. False if it
  /// failed.
  [[nodiscard]] bool send_descriptor(int descriptor);
  /// Reads one byte, and the descriptor that came with it, if one did.
  [[nodiscard]] Io receive_descriptor(Descriptor& into);
  /// Whether the other end is a process of the same user. Requires: a Unix socket.
  [[nodiscard]] bool is_of_same_user() const noexcept;

  /// Why it is broken.
  [[nodiscard]] const Error& error() const noexcept { return error_; }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }

 private:
  Io failed(const char* what);

  Descriptor descriptor_;
  Error error_;
};

/// Where others connect to.
class Listener {
 public:
  /// Listens on `port` of `address`; on a free one if `port` is 0.
  [[nodiscard]] static Result<Listener> open(const std::string& address, std::uint16_t port);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Waits for somebody to connect.
  [[nodiscard]] Result<Socket> accept();

 private:
  Listener(Descriptor descriptor, std::uint16_t port) noexcept
      : descriptor_(std::move(descriptor)), port_(port) {}

  Descriptor descriptor_;
  std::uint16_t port_;
};

/// Connects to `port` of `address`; tries for as long as `patience` while nobody listens there.
[[nodiscard]] Result<Socket> connect_to(const std::string& address, std::uint16_t port,
                                        Nanos patience = Nanos{0});

/// Two ends of one connection within this process.
[[nodiscard]] Result<std::pair<Socket, Socket>> socket_pair();

}  // namespace leat::os
