// What      ReadyWatch: one thread that waits for descriptors on behalf of threads that must not
//           wait, and calls a function when there is something to read. WatchedSocket: a socket
//           that has its reader woken so.
// Protocol  `add` a descriptor with the function to call; `arm` it after a read that found nothing.
//           When something is there, or comes, or the peer is gone, the function is called once;
//           then `arm` again. `remove` before the descriptor is closed.
// Invariants
//   (1) What came between the read that found nothing and `arm` is not missed: the kernel looks
//       when it is armed.
//   (2) After `remove` returned, the function is not running and will not be called.
// Threads   `add`, `arm` and `remove` by any. Functions run on the watch's thread, one after the
//           other; they must not wait, nor use the watch.
// Cost      arm: one system call.
// Source    epoll(7), one shot at a time.
#pragma once

#include <leat/base/byte_io.hpp>
#include <leat/base/function.hpp>
#include <leat/base/os/socket.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

namespace leat::os {

class ReadyWatch {
 public:
  ReadyWatch();
  ReadyWatch(const ReadyWatch&) = delete;
  ReadyWatch& operator=(const ReadyWatch&) = delete;
  /// Waits for a call under way.
  ~ReadyWatch();

  void add(int descriptor, Function<void()> on_ready);
  /// Requires: it was added; checked.
  void arm(int descriptor);
  void remove(int descriptor);

 private:
  void watch();

  Descriptor epoll_;
  Descriptor quit_;  // an eventfd
  std::mutex mutex_;
  std::unordered_map<int, Function<void()>> calls_;  // guarded by mutex_, also while one is called
  std::thread thread_;
};

/// A socket whose reader is woken when there is something after a read that found nothing.
class WatchedSocket {
 public:
  WatchedSocket(Socket socket, std::shared_ptr<ReadyWatch> watch)
      : socket_(std::move(socket)), watch_(std::move(watch)) {}
  WatchedSocket(WatchedSocket&& other) noexcept
      : socket_(std::move(other.socket_)),
        watch_(std::move(other.watch_)),
        is_added_(std::exchange(other.is_added_, false)) {}
  WatchedSocket& operator=(WatchedSocket&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(watch_, other.watch_);
    std::swap(is_added_, other.is_added_);
    return *this;
  }
  ~WatchedSocket() {
    if (is_added_) watch_->remove(socket_.descriptor());
  }

  [[nodiscard]] Io read(std::span<std::byte> into) {
    const Io io = socket_.read(into);
    if (io.state == IoState::none && is_added_) watch_->arm(socket_.descriptor());
    return io;
  }
  [[nodiscard]] Io write(std::span<const std::byte> bytes) { return socket_.write(bytes); }
  [[nodiscard]] const Error& error() const noexcept { return socket_.error(); }

  /// Has `wake` called, by the watch's thread, when there is something after `read` found nothing.
  /// Once.
  void wake_by(Function<void()> wake) {
    watch_->add(socket_.descriptor(), std::move(wake));
    is_added_ = true;
  }

 private:
  Socket socket_;
  std::shared_ptr<ReadyWatch> watch_;
  bool is_added_ = false;
};

}  // namespace leat::os
