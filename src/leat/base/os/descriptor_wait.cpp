#include <leat/base/os/descriptor_wait.hpp>

#include <leat/base/check.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace leat::os {

namespace {
epoll_event event_for(int descriptor, bool for_writing) {
  epoll_event event{};
  event.events = EPOLLIN | (for_writing ? EPOLLOUT : 0U);
  event.data.fd = descriptor;
  return event;
}
}  // namespace

DescriptorWait::DescriptorWait()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  LEAT_CHECK(epoll_ && wake_, "no descriptor left to wait for others");
  add(wake_.number());
}

DescriptorWait::~DescriptorWait() = default;

void DescriptorWait::add(int descriptor, bool for_writing) {
  epoll_event event = event_for(descriptor, for_writing);
  LEAT_CHECK(::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0,
             "a descriptor cannot be waited for");
}

void DescriptorWait::watch_writing(int descriptor, bool whether) {
  epoll_event event = event_for(descriptor, whether);
  LEAT_CHECK(::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, descriptor, &event) == 0,
             "a descriptor is not waited for");
}

void DescriptorWait::remove(int descriptor) noexcept {
  epoll_event none{};
  static_cast<void>(::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor, &none));
}

bool DescriptorWait::wait(std::optional<Nanos> timeout) {
  std::array<epoll_event, 16> events{};
  int millis = -1;
  if (timeout) {  // rounded up: a short wait is no busy one
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(*timeout).count();
    millis = static_cast<int>(std::clamp<std::int64_t>(whole, 0, 1'000'000'000));
  }
  const int count =
      ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), millis);
  LEAT_CHECK(count >= 0 || errno == EINTR, "waiting for descriptors failed");
  bool ready = false;
  for (int i = 0; i < count; ++i) {
    if (events[static_cast<std::size_t>(i)].data.fd != wake_.number()) {
      ready = true;
      continue;
    }
    std::uint64_t calls = 0;
    static_cast<void>(::read(wake_.number(), &calls, sizeof calls));
  }
  return ready;
}

void DescriptorWait::wake() noexcept {
  const std::uint64_t one = 1;
  // Fails only if it is woken already.
  static_cast<void>(::write(wake_.number(), &one, sizeof one));
}

}  // namespace leat::os
