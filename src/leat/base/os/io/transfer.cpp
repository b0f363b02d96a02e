#include <leat/base/os/io/transfer.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace leat::os {
namespace {

template <class Call>
Transfer done(Call call) noexcept {
  for (;;) {
    const auto count = call();
    if (count >= 0) return {static_cast<std::size_t>(count), 0};
    if (errno != EINTR) return {0, errno};
  }
}

Error refused(const std::string& what, const Address& address, int number, const char* next) {
  return {"socket: asked to " + what + " " + address.text() + "; found \"" + error_text(number) +
          "\"; " + next};
}

Descriptor socket_for(const Address& address, int type) {
  return Descriptor(::socket(address.family(), type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* raw(const Address& address) noexcept {
  return static_cast<const sockaddr*>(address.raw());
}
socklen_t raw_size(const Address& address) noexcept {
  return static_cast<socklen_t>(address.raw_bytes());
}

// Of no use to other sockets than TCP's, which say so.
void do_not_delay(int socket) noexcept {
  const int yes = 1;
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
}

// What is no socket cannot be written to without the signal: it is held back, and taken away.
Transfer write_without_signal(int descriptor, std::span<const std::byte> bytes) noexcept {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  sigset_t pending;
  ::sigpending(&pending);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const Transfer put = done([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
  if (put.error == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec now{};
    while (::sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return put;
}

}  // namespace

bool Transfer::again() const noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINPROGRESS;
}
bool Transfer::out_of_descriptors() const noexcept { return error == EMFILE || error == ENFILE; }

Transfer try_read(int descriptor, std::span<std::byte> into) noexcept {
  return done([&] { return ::read(descriptor, into.data(), into.size()); });
}
Transfer try_write(int descriptor, std::span<const std::byte> bytes) noexcept {
  const Transfer sent =
      done([&] { return ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  if (sent.error != ENOTSOCK) return sent;
  return write_without_signal(descriptor, bytes);
}
Transfer try_receive_from(int socket, std::span<std::byte> into, Address& from) noexcept {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  const Transfer got = done([&] {
    size = sizeof peer;
    return ::recvfrom(socket, into.data(), into.size(), 0, reinterpret_cast<sockaddr*>(&peer),
                      &size);
  });
  if (got.ok()) from = Address::of(&peer, size);
  return got;
}
Transfer try_send_to(int socket, std::span<const std::byte> bytes, const Address& to) noexcept {
  return done([&] {
    return ::sendto(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL, raw(to), raw_size(to));
  });
}

Transfer read_at(int file, std::span<std::byte> into, std::uint64_t offset) noexcept {
  return done([&] { return ::pread(file, into.data(), into.size(), static_cast<off_t>(offset)); });
}
Transfer write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  return done(
      [&] { return ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
}
Result<Descriptor> open_file(const std::string& path, bool write, bool create) {
  const int flags = (write ? O_RDWR : O_RDONLY) | (create ? O_CREAT : 0) | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), flags, 0666));
  if (file) return file;
  return Error{"file: asked to open \"" + path + "\"; found \"" + error_text(errno) +
               "\"; look at the path and its rights"};
}

Result<Descriptor> listen_at(const Address& address, int backlog) {
  Descriptor socket = socket_for(address, SOCK_STREAM);
  const int yes = 1;
  if (!socket ||
      (address.family() != AF_UNIX &&
       ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) ||
      ::bind(socket.number(), raw(address), raw_size(address)) != 0 ||
      ::listen(socket.number(), backlog) != 0) {
    return refused("listen at", address, errno, "choose an address that nobody uses");
  }
  return socket;
}

Result<Descriptor> bind_datagrams(const Address& address) {
  Descriptor socket = socket_for(address, SOCK_DGRAM);
  if (!socket || ::bind(socket.number(), raw(address), raw_size(address)) != 0) {
    return refused("receive at", address, errno, "choose an address that nobody uses");
  }
  return socket;
}

Result<Descriptor> begin_connect(const Address& address) {
  Descriptor socket = socket_for(address, SOCK_STREAM);
  if (!socket) return refused("connect to", address, errno, "close some descriptors");
  do_not_delay(socket.number());
  if (::connect(socket.number(), raw(address), raw_size(address)) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    return refused("connect to", address, errno, "start whoever listens there first");
  }
  return socket;
}

Transfer connect_outcome(int socket) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return {0, errno};
  if (error != 0) return {0, error};
  // Ready may have been said before it was connected.
  sockaddr_storage peer{};
  size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0) return {};
  return {0, errno == ENOTCONN ? EINPROGRESS : errno};
}

Transfer try_accept(int listener, Descriptor& peer) noexcept {
  for (;;) {
    const int number = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (number >= 0) {
      peer = Descriptor(number);
      do_not_delay(number);
      return {1, 0};
    }
    // Who went away before we came does not concern the caller.
    if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO) return {0, errno};
  }
}

Address address_of(int socket) noexcept {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  return Address::of(&own, size);
}
Address peer_of(int socket) noexcept {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  return Address::of(&peer, size);
}

void end_writing(int socket) noexcept { static_cast<void>(::shutdown(socket, SHUT_WR)); }

Result<std::pair<Descriptor, Descriptor>> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error{"pipe: asked for one; found \"" + error_text(errno) +
                 "\"; close some descriptors"};
  }
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}
Result<std::pair<Descriptor, Descriptor>> make_stream_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return Error{"socket: asked for a pair; found \"" + error_text(errno) +
                 "\"; close some descriptors"};
  }
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

}  // namespace leat::os
