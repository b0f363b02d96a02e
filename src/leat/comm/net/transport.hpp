// What      What carries bytes between two processes, in order and both ways: a socket, or rings in
//           shared memory. Links stand on it and know no more of it.
// Protocol  Whoever waits until something comes asks `may_sleep` right before it sleeps on
//           `descriptor`, and says `awake` afterwards.
// Threads   One at a time.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <leat/base/byte_io.hpp>
#include <leat/base/os/socket.hpp>
#include <leat/base/result.hpp>

namespace leat::comm {

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Reads what has come, at most `into.size()` bytes. Never waits.
  [[nodiscard]] virtual Io read(std::span<std::byte> into) = 0;
  /// Writes the parts one after the other, as far as there is room. Never waits.
  [[nodiscard]] virtual Io write(std::span<const std::span<const std::byte>> parts) = 0;
  /// Why it is broken.
  [[nodiscard]] virtual const Error& error() const noexcept = 0;
  /// Nothing is written any more.
  virtual void finish_writing() noexcept = 0;

  /// Can be read when something has come, or the peer is gone.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  /// Whether `descriptor` tells when there is room to write again.
  [[nodiscard]] virtual bool tells_of_room() const noexcept { return true; }
  /// Says that somebody will sleep on the descriptor. Returns: false if there is something already.
  [[nodiscard]] virtual bool may_sleep() { return true; }
  /// Nobody sleeps any more. Asked now and then too while nobody does: it looks after the peer.
  virtual void awake() noexcept {}
};

/// A connected stream socket.
class SocketTransport final : public Transport {
 public:
  explicit SocketTransport(os::Socket socket) : socket_(std::move(socket)) {}

  Io read(std::span<std::byte> into) override { return socket_.read(into); }
  Io write(std::span<const std::span<const std::byte>> parts) override {
    return socket_.write(parts);
  }
  const Error& error() const noexcept override { return socket_.error(); }
  void finish_writing() noexcept override { socket_.finish_writing(); }
  int descriptor() const noexcept override { return socket_.descriptor(); }

 private:
  os::Socket socket_;
};

}  // namespace leat::comm
