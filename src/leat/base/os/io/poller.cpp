#include <leat/base/os/io/poller.hpp>

#include <leat/base/check.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace leat::os {
namespace {

constexpr std::uint64_t kBell = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Poller::Poller()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  LEAT_CHECK(epoll_ && bell_, "no descriptor left to watch others");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kBell;
  LEAT_CHECK(::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, bell_.number(), &event) == 0,
             "a poller cannot be woken");
}

int Poller::add(int descriptor, std::uint64_t token) noexcept {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token;
  return ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

void Poller::remove(int descriptor) noexcept {
  epoll_event none{};
  static_cast<void>(::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor, &none));
}

std::size_t Poller::wait(std::span<Readiness> into, std::optional<Nanos> timeout) noexcept {
  std::array<epoll_event, 64> events;
  int milliseconds = -1;
  if (timeout) {  // rounded up: never early
    const auto most = std::numeric_limits<int>::max() - 1;
    milliseconds =
        static_cast<int>(std::clamp<Nanos::rep>((timeout->count() + 999'999) / 1'000'000, 0, most));
  }
  const int most = static_cast<int>(std::min(into.size(), events.size()));
  const int count = ::epoll_wait(epoll_.number(), events.data(), most, milliseconds);
  LEAT_CHECK(count >= 0 || errno == EINTR, "waiting for descriptors failed");
  std::size_t ready = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == kBell) {
      std::uint64_t rings = 0;
      static_cast<void>(!::read(bell_.number(), &rings, sizeof rings));
      continue;
    }
    const std::uint32_t what = event.events;
    const bool broken = (what & (EPOLLERR | EPOLLHUP)) != 0;
    into[ready++] = {event.data.u64, broken || (what & (EPOLLIN | EPOLLRDHUP)) != 0,
                     broken || (what & EPOLLOUT) != 0};
  }
  return ready;
}

void Poller::ring() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(bell_.number(), &one, sizeof one));
}

}  // namespace leat::os
