#include <leat/base/os/endpoint.hpp>

#include <leat/base/os/error_text.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace leat::os {
namespace {

Error refused(const std::string& what, const std::string& where, int number,
              const std::string& next) {
  return {"socket: asked to " + what + " " + where + "; found \"" + error_text(number) + "\"; " +
          next};
}

Error no_address(const std::string& text, const std::string& found) {
  return {"address \"" + text + "\": expected name:port, [IPv6]:port or unix:/path, found " +
          found};
}

// A sockaddr in bytes that may stand anywhere.
struct Storage {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bytes); }
};

Storage storage_of(const std::vector<std::uint8_t>& address) {
  Storage to;
  to.size = static_cast<socklen_t>(std::min(address.size(), sizeof to.bytes));
  std::memcpy(&to.bytes, address.data(), to.size);
  return to;
}

template <class T>
T as(const Storage& storage) {
  T address{};
  std::memcpy(&address, &storage.bytes,
              std::min<std::size_t>(sizeof address, sizeof storage.bytes));
  return address;
}

std::string text_of(const Storage& at) {
  char text[INET6_ADDRSTRLEN] = "";
  switch (at.bytes.ss_family) {
    case AF_INET: {
      const auto v4 = as<sockaddr_in>(at);
      inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
      return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
    }
    case AF_INET6: {
      const auto v6 = as<sockaddr_in6>(at);
      inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
      return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
    }
    case AF_UNIX: {
      const auto un = as<sockaddr_un>(at);
      const std::size_t length =
          at.size > offsetof(sockaddr_un, sun_path) ? at.size - offsetof(sockaddr_un, sun_path) : 0;
      std::string path(un.sun_path, std::min(length, sizeof un.sun_path));
      if (!path.empty() && path.front() == '\0') {
        path.front() = '@';
      } else {
        path = path.c_str();  // without the end that the kernel counts
      }
      return "unix:" + path;
    }
    default:
      return "?";
  }
}

bool is_local_address(const Storage& at) {
  if (at.bytes.ss_family == AF_UNIX) return true;
  if (at.bytes.ss_family == AF_INET) {
    return (ntohl(as<sockaddr_in>(at).sin_addr.s_addr) >> 24) == 127;
  }
  const auto v6 = as<sockaddr_in6>(at);
  if (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) return true;
  return IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[12] == 127;
}

Result<Descriptor> new_socket(const Storage& at) {
  Descriptor made(::socket(at.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made) return made;
  return Error{"socket: no descriptor for one: " + error_text(errno)};
}

}  // namespace

Result<std::vector<Endpoint>> Endpoint::look_up(const std::string& text) {
  std::vector<Endpoint> found;
  if (text.starts_with("unix:")) {
    const std::string path = text.substr(5);
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof un.sun_path) {
      return no_address(text, path.empty() ? "no path" : "a path that is too long");
    }
    std::memcpy(un.sun_path, path.data(), path.size());
    std::size_t size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
    if (path.front() == '@') {
      un.sun_path[0] = '\0';
      --size;
    }
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&un);
    found.emplace_back().address_.assign(bytes, bytes + size);
    return found;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return no_address(text, "no port");
  std::string name = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  if (name.size() >= 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  } else if (name.find(':') != std::string::npos) {
    return no_address(text, "an IPv6 address without brackets");
  }
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (name.empty() || problem != std::errc{} || end != port.data() + port.size() ||
      number > 65535) {
    return no_address(text, name.empty() ? "no name" : "the port \"" + port + "\"");
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), port.c_str(), &hints, &list); code != 0) {
    return Error{"address \"" + text + "\": nobody knows the name \"" + name +
                 "\": " + ::gai_strerror(code)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, &::freeaddrinfo);
  // IPv4 first, so that both sides of a name with several addresses begin with the same one.
  for (const int family : {AF_INET, AF_INET6}) {
    for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
      if (at->ai_family != family) continue;
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(at->ai_addr);
      found.emplace_back().address_.assign(bytes, bytes + at->ai_addrlen);
    }
  }
  if (found.empty()) return no_address(text, "a name without an address");
  return found;
}

bool Endpoint::is_local() const noexcept { return is_local_address(storage_of(address_)); }
bool Endpoint::is_unix() const noexcept { return storage_of(address_).bytes.ss_family == AF_UNIX; }
std::string Endpoint::text() const { return text_of(storage_of(address_)); }

Endpoint Endpoint::with_port(std::uint16_t port) const {
  Endpoint other = *this;
  // The port has the same place in both.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const std::uint16_t network = htons(port);
  std::memcpy(other.address_.data() + offsetof(sockaddr_in, sin_port), &network, sizeof network);
  return other;
}

Result<Connecting> Connecting::begin(const Endpoint& to) {
  Storage where = storage_of(to.address_);
  auto made = new_socket(where);
  if (!made) return std::move(made).error();
  if (::connect(made->number(), where.get(), where.size) != 0 && errno != EINPROGRESS) {
    return refused("connect to", to.text(), errno, "start who listens there");
  }
  return Connecting(std::move(*made), to.text());
}

Result<std::optional<Socket>> Connecting::look() {
  int problem = 0;
  socklen_t size = sizeof problem;
  if (::getsockopt(descriptor_.number(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) {
    problem = errno;
  }
  if (problem != 0) return refused("connect to", to_, problem, "start who listens there");
  Storage peer;
  peer.size = sizeof peer.bytes;
  if (::getpeername(descriptor_.number(), peer.get(), &peer.size) != 0) {
    if (errno == ENOTCONN) return std::optional<Socket>();
    return refused("connect to", to_, errno, "start who listens there");
  }
  // Where nobody listens a socket may meet itself: its own port was the one it looked for.
  Storage own;
  own.size = sizeof own.bytes;
  if (peer.bytes.ss_family != AF_UNIX &&
      ::getsockname(descriptor_.number(), own.get(), &own.size) == 0 && own.size == peer.size &&
      std::memcmp(&own.bytes, &peer.bytes, own.size) == 0) {
    return refused("connect to", to_, ECONNREFUSED, "start who listens there");
  }
  return std::optional<Socket>(Socket(std::move(descriptor_)));
}

Result<Doorway> Doorway::open(const Endpoint& at) {
  Storage where = storage_of(at.address_);
  auto made = new_socket(where);
  if (!made) return std::move(made).error();
  const int yes = 1;
  if (where.bytes.ss_family == AF_UNIX) {
    // The name of a socket that nobody listens at any more is in the way.
    const auto un = as<sockaddr_un>(where);
    struct stat found{};
    if (un.sun_path[0] != '\0' && ::lstat(un.sun_path, &found) == 0 && S_ISSOCK(found.st_mode)) {
      const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (probe && ::connect(probe.number(), where.get(), where.size) != 0 &&
          errno == ECONNREFUSED) {
        static_cast<void>(::unlink(un.sun_path));
      }
    }
  } else {
    static_cast<void>(::setsockopt(made->number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
    if (where.bytes.ss_family == AF_INET6) {
      static_cast<void>(::setsockopt(made->number(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes));
    }
  }
  if (::bind(made->number(), where.get(), where.size) != 0 ||
      ::listen(made->number(), SOMAXCONN) != 0) {
    return refused("listen at", at.text(), errno, "choose an address of this host that is free");
  }
  return Doorway(std::move(*made));
}

Result<Doorway> Doorway::adopt(Descriptor listening) {
  int listens = 0;
  socklen_t size = sizeof listens;
  const int number = listening.number();
  if (::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
    return Error{"socket: descriptor " + std::to_string(number) +
                 ": expected a socket that listens, found another thing, or none"};
  }
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0 || ::fcntl(number, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
    return Error{"socket: descriptor " + std::to_string(number) + ": " + error_text(errno)};
  }
  return Doorway(std::move(listening));
}

Result<std::optional<Socket>> Doorway::accept() {
  for (;;) {
    Descriptor peer(::accept4(descriptor_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer) return std::optional<Socket>(Socket(std::move(peer)));
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::optional<Socket>();
    // What one peer did, or that there are many, is no reason to stop listening.
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return std::optional<Socket>();
    }
    return Error{"socket: accepting at " + text() + " failed: " + error_text(errno)};
  }
}

std::string Doorway::text() const {
  Storage at;
  at.size = sizeof at.bytes;
  if (::getsockname(descriptor_.number(), at.get(), &at.size) != 0) return "?";
  return text_of(at);
}

bool Doorway::is_local() const {
  Storage at;
  at.size = sizeof at.bytes;
  return ::getsockname(descriptor_.number(), at.get(), &at.size) == 0 && is_local_address(at);
}

}  // namespace leat::os
