#include <leat/base/os/socket.hpp>

#include <leat/base/check.hpp>
#include <leat/base/os/error_text.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace leat::os {
namespace {

Error refused(const std::string& what, const std::string& address, std::uint16_t port, int number,
              const std::string& next) {
  return {"socket: asked to " + what + " " + address + ":" + std::to_string(port) + "; found \"" +
          error_text(number) + "\"; " + next};
}

Result<sockaddr_in> address_of(const std::string& address, std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) == 1) return to;
  return Error{"socket: asked an IPv4 address; found \"" + address +
               "\"; write four numbers, as in 127.0.0.1"};
}

// Nobody listens, and the kernel gave our own end the very port that we try: it met itself.
bool met_itself(int descriptor) {
  sockaddr_in own{};
  sockaddr_in peer{};
  socklen_t own_size = sizeof own;
  socklen_t peer_size = sizeof peer;
  return ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         own.sin_port == peer.sin_port && own.sin_addr.s_addr == peer.sin_addr.s_addr;
}

Descriptor new_socket() { return Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Socket::Socket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {
  const int flags = ::fcntl(descriptor_.number(), F_GETFL);
  LEAT_CHECK(flags >= 0 && ::fcntl(descriptor_.number(), F_SETFL, flags | O_NONBLOCK) == 0,
             "a socket that is none");
  const int yes = 1;  // of no use to other sockets than TCP's, which say so
  static_cast<void>(::setsockopt(descriptor_.number(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
}

Io Socket::failed(const char* what) {
  error_ = Error{std::string("socket: ") + what + " failed: " + error_text(errno)};
  return {IoState::broken, 0};
}

Io Socket::read(std::span<std::byte> into) {
  for (;;) {
    const auto count = ::recv(descriptor_.number(), into.data(), into.size(), 0);
    if (count > 0) return {IoState::some, static_cast<std::size_t>(count)};
    if (count == 0) return {IoState::over, 0};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::none, 0};
    if (errno != EINTR) return failed("reading");
  }
}

Io Socket::write(std::span<const std::byte> bytes) {
  for (;;) {
    const auto count = ::send(descriptor_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) return {IoState::some, static_cast<std::size_t>(count)};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::none, 0};
    if (errno != EINTR) return failed("writing");
  }
}

Io Socket::write(std::span<const std::span<const std::byte>> parts) {
  std::array<iovec, 64> vectors{};
  const std::size_t count = std::min(parts.size(), vectors.size());
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  for (;;) {
    const auto written = ::sendmsg(descriptor_.number(), &message, MSG_NOSIGNAL);
    if (written >= 0) return {IoState::some, static_cast<std::size_t>(written)};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::none, 0};
    if (errno != EINTR) return failed("writing");
  }
}

void Socket::finish_writing() noexcept {
  static_cast<void>(::shutdown(descriptor_.number(), SHUT_WR));
}

bool Socket::send_descriptor(int descriptor) {
  char byte = 0;
  iovec one{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &one;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  for (;;) {
    if (::sendmsg(descriptor_.number(), &message, MSG_NOSIGNAL) == 1) return true;
    if (errno != EINTR) return false;
  }
}

Io Socket::receive_descriptor(Descriptor& into) {
  char byte = 0;
  iovec one{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &one;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  for (;;) {
    const auto count = ::recvmsg(descriptor_.number(), &message, MSG_CMSG_CLOEXEC);
    if (count == 0) return {IoState::over, 0};
    if (count < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::none, 0};
      if (errno != EINTR) return failed("reading");
      continue;
    }
    const cmsghdr* const control = CMSG_FIRSTHDR(&message);
    if (control != nullptr && control->cmsg_level == SOL_SOCKET &&
        control->cmsg_type == SCM_RIGHTS && control->cmsg_len == CMSG_LEN(sizeof(int))) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(control), sizeof number);
      into = Descriptor(number);
    }
    return {IoState::some, 1};
  }
}

bool Socket::is_of_same_user() const noexcept {
  ucred who{};
  socklen_t size = sizeof who;
  return ::getsockopt(descriptor_.number(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         who.uid == ::geteuid();
}

Result<Listener> Listener::open(const std::string& address, std::uint16_t port) {
  auto where = address_of(address, port);
  if (!where) return std::move(where).error();
  Descriptor descriptor = new_socket();
  const int yes = 1;
  auto* const at = reinterpret_cast<sockaddr*>(&*where);
  socklen_t size = sizeof *where;
  if (!descriptor ||
      ::setsockopt(descriptor.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(descriptor.number(), at, size) != 0 || ::listen(descriptor.number(), SOMAXCONN) != 0 ||
      ::getsockname(descriptor.number(), at, &size) != 0) {
    return refused("listen on", address, port, errno, "choose a port that nobody uses");
  }
  return Listener(std::move(descriptor), ntohs(where->sin_port));
}

Result<Socket> Listener::accept() {
  for (;;) {
    Descriptor peer(::accept4(descriptor_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer) return Socket(std::move(peer));
    if (errno == EINTR || errno == ECONNABORTED) continue;
    return Error{"socket: accepting on port " + std::to_string(port_) +
                 " failed: " + error_text(errno)};
  }
}

Result<Socket> connect_to(const std::string& address, std::uint16_t port, Nanos patience) {
  auto where = address_of(address, port);
  if (!where) return std::move(where).error();
  const RealClock clock;
  const Nanos deadline = clock.now() + patience;
  Nanos pause = std::chrono::milliseconds(1);
  for (;;) {
    Descriptor descriptor = new_socket();
    int problem = ECONNREFUSED;
    if (!descriptor ||
        ::connect(descriptor.number(), reinterpret_cast<sockaddr*>(&*where), sizeof *where) != 0) {
      problem = errno;
    } else if (!met_itself(descriptor.number())) {
      return Socket(std::move(descriptor));
    }
    const Nanos left = deadline - clock.now();
    if ((problem != ECONNREFUSED && problem != EINTR) || left <= Nanos{0})
      return refused("connect to", address, port, problem, "start whoever listens there first");
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min<Nanos>(2 * pause, std::chrono::milliseconds(50));
  }
}

Result<std::pair<Socket, Socket>> socket_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{"socket: no pair of sockets: " + error_text(errno)};
  return std::pair(Socket(Descriptor(ends[0])), Socket(Descriptor(ends[1])));
}

}  // namespace leat::os
