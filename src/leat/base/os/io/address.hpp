// What      Address: where a socket is: an IPv4 or IPv6 address and a port, or a path in the file
//           system.
// Limits    `parse` knows numbers only; `look_up` asks the machine's resolver, and may wait for
//           long.
#pragma once

#include <leat/base/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leat::os {

class Address {
 public:
  Address() noexcept = default;

  /// As in "127.0.0.1" or "::1".
  [[nodiscard]] static Result<Address> parse(const std::string& text, std::uint16_t port);
  /// A socket in the file system; a path that begins with a zero byte is in no file system.
  [[nodiscard]] static Result<Address> path(const std::string& path);
  /// From the kernel: a sockaddr.
  [[nodiscard]] static Address of(const void* raw, std::size_t bytes) noexcept;

  [[nodiscard]] int family() const noexcept;  ///< AF_INET, AF_INET6, AF_UNIX
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// As in "127.0.0.1:80", "[::1]:80", "/run/x".
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const void* raw() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t raw_bytes() const noexcept { return size_; }

  friend bool operator==(const Address&, const Address&) = default;

 private:
  alignas(8) std::array<std::byte, 128> bytes_{};
  std::uint32_t size_ = 0;
};

/// What `host` stands for, most wanted first; numbers stand for themselves. Waits for the resolver.
[[nodiscard]] Result<std::vector<Address>> look_up(const std::string& host, std::uint16_t port);

}  // namespace leat::os
