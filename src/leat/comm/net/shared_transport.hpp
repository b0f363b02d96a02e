// What      Carries bytes between two processes of one host through two rings in memory that they
//           share. A Unix socket beside them wakes who sleeps, and ends when the other process does,
//           however it does.
// Shape     memory: the ring from who made it to who joined, then the ring back
// Protocol  The processes shake hands over the socket; the lower one makes the memory and sends its
//           descriptor. Bytes go through the rings. A byte on the socket wakes the other side, and is
//           sent only if that side says that it sleeps.
// Invariants  (1) Nothing has a name: when both processes are gone, nothing is left.
// Limits    Of a process that is killed while this one never sleeps, it is heard when `awake` is asked
//           next.
// Cost      No system call while both sides are awake.
#pragma once

#include <cstddef>
#include <memory>

#include <leat/base/os/shared_pages.hpp>
#include <leat/base/os/socket.hpp>
#include <leat/comm/net/byte_ring.hpp>
#include <leat/comm/net/transport.hpp>

namespace leat::comm {

class SharedTransport final : public Transport {
 public:
  static constexpr std::size_t kRingBytes = std::size_t{1} << 19;

  /// Makes the memory, and sends it to the process at the other end of `socket`.
  [[nodiscard]] static Result<std::unique_ptr<Transport>> make(os::Socket socket);
  /// Takes what the other process made.
  [[nodiscard]] static Result<std::unique_ptr<Transport>> join(os::Socket socket,
                                                               os::Descriptor memory);

  Io read(std::span<std::byte> into) override;
  Io write(std::span<const std::span<const std::byte>> parts) override;
  const Error& error() const noexcept override { return error_; }
  void finish_writing() noexcept override;
  int descriptor() const noexcept override { return socket_.descriptor(); }
  bool tells_of_room() const noexcept override { return false; }
  bool may_sleep() override;
  void awake() noexcept override;

 private:
  static constexpr std::size_t kBytes = 2 * ring_footprint(kRingBytes);

  SharedTransport(os::Socket socket, os::SharedPages pages, bool is_maker);
  void wake_peer() noexcept;

  os::Socket socket_;
  os::SharedPages pages_;
  ByteRingWriter out_;
  ByteRingReader in_;
  bool is_full_ = false;  // the last write did not fit
  bool is_gone_ = false;  // the socket ended: what is in the ring is all there will be
  bool is_broken_ = false;
  Error error_;
};

}  // namespace leat::comm
