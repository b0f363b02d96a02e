#include <leat/base/os/ready_watch.hpp>

#include <leat/base/check.hpp>
#include <leat/base/os/thread_name.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace leat::os {

namespace {

epoll_event armed(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  event.data.fd = descriptor;
  return event;
}

}  // namespace

ReadyWatch::ReadyWatch()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), quit_(::eventfd(0, EFD_CLOEXEC)) {
  LEAT_CHECK(epoll_ && quit_, "no descriptor left to watch others");
  epoll_event quit{};
  quit.events = EPOLLIN;
  quit.data.fd = quit_.number();
  LEAT_CHECK(::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, quit_.number(), &quit) == 0,
             "a watch cannot be told to end");
  thread_ = std::thread([this] { watch(); });
}

ReadyWatch::~ReadyWatch() {
  const std::uint64_t one = 1;
  LEAT_CHECK(::write(quit_.number(), &one, sizeof one) == sizeof one,
             "a watch cannot be told to end");
  thread_.join();
}

void ReadyWatch::add(int descriptor, Function<void()> on_ready) {
  const std::lock_guard lock(mutex_);
  LEAT_CHECK(calls_.emplace(descriptor, std::move(on_ready)).second, "a descriptor is added twice");
}

void ReadyWatch::arm(int descriptor) {
  const std::lock_guard lock(mutex_);
  LEAT_CHECK(calls_.contains(descriptor), "a descriptor is armed that was not added");
  epoll_event event = armed(descriptor);
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_MOD, descriptor, &event) == 0) return;
  LEAT_CHECK(
      errno == ENOENT && ::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0,
      "a descriptor cannot be watched");
}

void ReadyWatch::remove(int descriptor) {
  const std::lock_guard lock(mutex_);
  calls_.erase(descriptor);
  epoll_event none{};
  // Fails if it was never armed.
  static_cast<void>(::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor, &none));
}

void ReadyWatch::watch() {
  set_thread_name("leat:ready");
  std::array<epoll_event, 16> events{};
  for (;;) {
    const int count =
        ::epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), -1);
    LEAT_CHECK(count >= 0 || errno == EINTR, "waiting for descriptors failed");
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == quit_.number()) return;
      const std::lock_guard lock(mutex_);
      const auto at = calls_.find(descriptor);
      if (at != calls_.end()) at->second();
    }
  }
}

}  // namespace leat::os
