// What      Where stream sockets meet: addresses of TCP over IPv4 and IPv6, names included, and of
//           Unix sockets; and connecting to them and accepting there without waiting.
// Shape     name:port    [IPv6]:port    unix:/path    unix:@name (no file: Linux's own name space)
// Limits    Looking up a name may wait for whoever knows it.
#pragma once

#include <leat/base/os/descriptor.hpp>
#include <leat/base/os/socket.hpp>
#include <leat/base/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leat::os {

/// One address, in the words of the kernel.
class Endpoint {
 public:
  /// What `text` means; a name may have several addresses, the better ones first.
  [[nodiscard]] static Result<std::vector<Endpoint>> look_up(const std::string& text);

  /// Whether only this host can reach it.
  [[nodiscard]] bool is_local() const noexcept;
  [[nodiscard]] bool is_unix() const noexcept;
  /// As it would be written.
  [[nodiscard]] std::string text() const;
  /// The same address with another port. Requires: it is one of TCP.
  [[nodiscard]] Endpoint with_port(std::uint16_t port) const;

 private:
  friend class Connecting;
  friend class Doorway;

  std::vector<std::uint8_t> address_;  // a sockaddr
};

/// A connection that is being made.
class Connecting {
 public:
  /// Begins to connect. Never waits.
  [[nodiscard]] static Result<Connecting> begin(const Endpoint& to);

  /// Looks how far it is: a socket, an error, or nothing yet. Never waits.
  [[nodiscard]] Result<std::optional<Socket>> look();
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }

 private:
  Connecting(Descriptor descriptor, std::string to) noexcept
      : descriptor_(std::move(descriptor)), to_(std::move(to)) {}

  Descriptor descriptor_;
  std::string to_;
};

/// Where others connect to; accepting never waits.
class Doorway {
 public:
  [[nodiscard]] static Result<Doorway> open(const Endpoint& at);
  /// Takes over a socket that listens already.
  [[nodiscard]] static Result<Doorway> adopt(Descriptor listening);

  /// Somebody who connected; nothing if nobody has.
  [[nodiscard]] Result<std::optional<Socket>> accept();
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }
  /// Where it listens, as it would be written, with the port that a 0 became.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_local() const;

  /// The descriptor, to be inherited by a program that is started. It is this object's no more.
  [[nodiscard]] Descriptor release() && { return std::move(descriptor_); }

 private:
  explicit Doorway(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
};

}  // namespace leat::os
