// What      What can be done with a descriptor without waiting: moving bytes, connecting,
//           accepting; and how descriptors that do not wait are made.
// Protocol  A call that would have to wait says `again`: wait until the descriptor is ready, call
//           again. One that is interrupted by a signal is made again here.
// Limits    A descriptor whose peer is gone raises no SIGPIPE: writing says EPIPE.
#pragma once

#include <leat/base/os/descriptor.hpp>
#include <leat/base/os/error_text.hpp>
#include <leat/base/os/io/address.hpp>
#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace leat::os {

/// How much was done, or the number of the error.
struct [[nodiscard]] Transfer {
  std::size_t count = 0;
  int error = 0;

  [[nodiscard]] bool ok() const noexcept { return error == 0; }
  /// It would have to wait.
  [[nodiscard]] bool again() const noexcept;
  /// The process, or the machine, has no descriptor left.
  [[nodiscard]] bool out_of_descriptors() const noexcept;
};

/// Reads; 0 bytes are the end.
Transfer try_read(int descriptor, std::span<std::byte> into) noexcept;
Transfer try_write(int descriptor, std::span<const std::byte> bytes) noexcept;
Transfer try_receive_from(int socket, std::span<std::byte> into, Address& from) noexcept;
Transfer try_send_to(int socket, std::span<const std::byte> bytes, const Address& to) noexcept;

/// At a place in a file; these wait for the disk.
Transfer read_at(int file, std::span<std::byte> into, std::uint64_t offset) noexcept;
Transfer write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;
[[nodiscard]] Result<Descriptor> open_file(const std::string& path, bool write, bool create);

/// Sockets that do not wait, closed by exec.
[[nodiscard]] Result<Descriptor> listen_at(const Address& address, int backlog);
[[nodiscard]] Result<Descriptor> bind_datagrams(const Address& address);
/// Begins to connect. When the socket can be written, `connect_outcome` says how that ended.
[[nodiscard]] Result<Descriptor> begin_connect(const Address& address);
Transfer connect_outcome(int socket) noexcept;
Transfer try_accept(int listener, Descriptor& peer) noexcept;
[[nodiscard]] Address address_of(int socket) noexcept;
[[nodiscard]] Address peer_of(int socket) noexcept;
/// No more will be written.
void end_writing(int socket) noexcept;

/// Reading end, writing end.
[[nodiscard]] Result<std::pair<Descriptor, Descriptor>> make_pipe();
[[nodiscard]] Result<std::pair<Descriptor, Descriptor>> make_stream_pair();

}  // namespace leat::os
