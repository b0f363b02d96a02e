#include <leat/base/os/socket.hpp>

#include <leat/base/check.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

namespace leat::os {
namespace {

std::string reason(int number) { return std::system_category().message(number); }

Error refused(const std::string& what, const std::string& address, std::uint16_t port, int number,
              const std::string& next) {
  return {"socket: asked to " + what + " " + address + ":" + std::to_string(port) + "; found \"" +
          reason(number) + "\"; " + next};
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
  error_ = Error{std::string("socket: ") + what + " failed: " + reason(errno)};
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
                 " failed: " + reason(errno)};
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
    return Error{"socket: no pair of sockets: " + reason(errno)};
  return std::pair(Socket(Descriptor(ends[0])), Socket(Descriptor(ends[1])));
}

}  // namespace leat::os
