#include <leat/base/os/io/address.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

namespace leat::os {

Address Address::of(const void* raw, std::size_t bytes) noexcept {
  Address address;
  address.size_ = static_cast<std::uint32_t>(std::min(bytes, address.bytes_.size()));
  std::memcpy(address.bytes_.data(), raw, address.size_);
  return address;
}

Result<Address> Address::parse(const std::string& text, std::uint16_t port) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) return of(&four, sizeof four);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  if (inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) return of(&six, sizeof six);
  return Error{"address: asked an address in numbers; found \"" + text +
               "\"; write it as in 127.0.0.1 or ::1, or look the name up"};
}

Result<Address> Address::path(const std::string& path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof un.sun_path) {
    return Error{"address: asked a path of 1 to " + std::to_string(sizeof un.sun_path - 1) +
                 " bytes; found " + std::to_string(path.size()) + "; choose a shorter folder"};
  }
  std::memcpy(un.sun_path, path.data(), path.size());
  return of(&un, offsetof(sockaddr_un, sun_path) + path.size() + (path[0] == '\0' ? 0 : 1));
}

int Address::family() const noexcept {
  sa_family_t family = AF_UNSPEC;
  if (size_ >= sizeof family) std::memcpy(&family, bytes_.data(), sizeof family);
  return family;
}

std::uint16_t Address::port() const noexcept {
  if (family() == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, bytes_.data(), sizeof four);
    return ntohs(four.sin_port);
  }
  if (family() == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, bytes_.data(), sizeof six);
    return ntohs(six.sin6_port);
  }
  return 0;
}

std::string Address::text() const {
  char digits[INET6_ADDRSTRLEN] = {};
  if (family() == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, bytes_.data(), sizeof four);
    inet_ntop(AF_INET, &four.sin_addr, digits, sizeof digits);
    return std::string(digits) + ":" + std::to_string(port());
  }
  if (family() == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, bytes_.data(), sizeof six);
    inet_ntop(AF_INET6, &six.sin6_addr, digits, sizeof digits);
    return "[" + std::string(digits) + "]:" + std::to_string(port());
  }
  if (family() == AF_UNIX && size_ > offsetof(sockaddr_un, sun_path)) {
    const auto* const path =
        reinterpret_cast<const char*>(bytes_.data()) + offsetof(sockaddr_un, sun_path);
    if (path[0] == '\0')
      return "@" + std::string(path + 1, size_ - offsetof(sockaddr_un, sun_path) - 1);
    return std::string(path, strnlen(path, size_ - offsetof(sockaddr_un, sun_path)));
  }
  return "nowhere";
}

Result<std::vector<Address>> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (problem != 0) {
    return Error{"address: asked for \"" + host + "\"; found \"" + ::gai_strerror(problem) +
                 "\"; look at the name, and at the machine's resolver"};
  }
  std::vector<Address> found;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    const Address address = Address::of(at->ai_addr, at->ai_addrlen);
    if (std::find(found.begin(), found.end(), address) == found.end()) found.push_back(address);
  }
  ::freeaddrinfo(list);
  return found;
}

}  // namespace leat::os
