// What      Streams, listeners and datagrams in blocking style: a call returns when it is done, and
//           others run meanwhile. TCP, Unix sockets, pipes.
// Protocol  Listener door = *Listener::open("127.0.0.1", 8080);
//           for (;;) spawn([client = *door.accept()]() mutable {
//             std::array<std::byte, 4096> buffer;
//             for (;;) {
//               const Transfer got = client.read(buffer);
//               if (!got.ok() || got.count == 0) return;
//               if (!client.write_all(std::span(buffer).first(got.count)).ok()) return;
//             }
//           }).detach();
// Limits    One reader and one writer at a time. A deadline is a time of `now_here()`; when it
//           comes first the error is ETIMEDOUT. An actor that is cancelled while it waits has lost
//           nothing but what a `write_all` had not written yet.
// Cost      A call that need not wait: one system call.
#pragma once

#include <leat/actor/io/reactor.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leat::actor {

using os::Address;
using os::Transfer;

/// One end of a connection, or of a pipe.
class Stream {
 public:
  Stream() noexcept = default;
  explicit Stream(Polled polled) noexcept : polled_(std::move(polled)) {}
  /// Takes a descriptor that does not wait.
  [[nodiscard]] static Result<Stream> adopt(os::Descriptor descriptor);

  /// Connects. Of a name, to the first of its addresses that answers; names are looked up by
  /// another thread.
  [[nodiscard]] static Result<Stream> connect(const Address& to, Nanos deadline = kNever);
  [[nodiscard]] static Result<Stream> connect(const std::string& host, std::uint16_t port,
                                              Nanos deadline = kNever);
  [[nodiscard]] static Result<Stream> connect_path(const std::string& path,
                                                   Nanos deadline = kNever);

  /// Waits for bytes. Returns: how many came, at most `into.size()`; 0 is the end.
  Transfer read(std::span<std::byte> into, Nanos deadline = kNever);
  /// Waits until `into` is full, or the end: then the count is smaller.
  Transfer read_all(std::span<std::byte> into, Nanos deadline = kNever);
  /// Waits for room. Returns: how many were written, at least one.
  Transfer write(std::span<const std::byte> bytes, Nanos deadline = kNever);
  /// Waits until all are written; in case of an error the count says how many were.
  Transfer write_all(std::span<const std::byte> bytes, Nanos deadline = kNever);
  Transfer write_all(std::string_view text, Nanos deadline = kNever) {
    return write_all(std::as_bytes(std::span(text)), deadline);
  }

  /// The peer reads to the end of what was written; this end can still read.
  void end_writing() noexcept { os::end_writing(polled_.number()); }
  void close() noexcept { polled_.close(); }
  explicit operator bool() const noexcept { return static_cast<bool>(polled_); }

  [[nodiscard]] Address address() const noexcept { return os::address_of(polled_.number()); }
  [[nodiscard]] Address peer() const noexcept { return os::peer_of(polled_.number()); }
  [[nodiscard]] int descriptor() const noexcept { return polled_.number(); }

 private:
  Polled polled_;
};

/// Two ends of one connection.
[[nodiscard]] Result<std::pair<Stream, Stream>> stream_pair();
/// A pipe: what is read, and what is written.
[[nodiscard]] Result<std::pair<Stream, Stream>> pipe_pair();

/// Where others connect to.
class Listener {
 public:
  static constexpr int kBacklog = 4096;

  /// At `address` in numbers; at a free port if `port` is 0.
  [[nodiscard]] static Result<Listener> open(const std::string& address, std::uint16_t port);
  [[nodiscard]] static Result<Listener> open(const Address& address);
  /// In the file system. What lies there already is in the way.
  [[nodiscard]] static Result<Listener> open_path(const std::string& path);

  /// Waits for somebody to connect. An error is none of theirs: the process has no descriptors
  /// left, or the deadline came first; it may be called again.
  [[nodiscard]] Result<Stream> accept(Nanos deadline = kNever);

  [[nodiscard]] std::uint16_t port() const noexcept { return address().port(); }
  [[nodiscard]] Address address() const noexcept { return os::address_of(polled_.number()); }
  void close() noexcept { polled_.close(); }

 private:
  explicit Listener(Polled polled) noexcept : polled_(std::move(polled)) {}

  Polled polled_;
};

/// Datagrams: each is sent and received as a whole.
class Datagrams {
 public:
  /// At `address` in numbers; at a free port if `port` is 0.
  [[nodiscard]] static Result<Datagrams> open(const std::string& address, std::uint16_t port);
  [[nodiscard]] static Result<Datagrams> open(const Address& address);

  Transfer send_to(std::span<const std::byte> bytes, const Address& to, Nanos deadline = kNever);
  /// What does not fit into `into` is lost.
  Transfer receive_from(std::span<std::byte> into, Address& from, Nanos deadline = kNever);

  [[nodiscard]] Address address() const noexcept { return os::address_of(polled_.number()); }

 private:
  explicit Datagrams(Polled polled) noexcept : polled_(std::move(polled)) {}

  Polled polled_;
};

}  // namespace leat::actor
