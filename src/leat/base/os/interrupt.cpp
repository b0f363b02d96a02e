#include <leat/base/os/interrupt.hpp>

#include <leat/base/check.hpp>
#include <leat/base/os/thread_name.hpp>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace leat::os {
namespace {

sigset_t watched_signals(WatchQuit quit) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (quit == WatchQuit::yes) sigaddset(&set, SIGQUIT);
  return set;
}

[[noreturn]] void die_of(int signal) noexcept {
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
  _exit(128 + signal);
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

InterruptWatcher::InterruptWatcher(Function<void(int)> on_interrupt, WatchQuit quit)
    : on_interrupt_(std::move(on_interrupt)) {
  const sigset_t set = watched_signals(quit);
  pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  quit_ = eventfd(0, EFD_CLOEXEC);
  LEAT_CHECK(signals_ >= 0 && quit_ >= 0, "no descriptor left to watch for interrupts");
  thread_ = std::thread([this] { watch(); });
}

InterruptWatcher::~InterruptWatcher() {
  const std::uint64_t one = 1;
  LEAT_CHECK(write(quit_, &one, sizeof one) == sizeof one, "the interrupt watcher cannot be told");
  thread_.join();
  close(signals_);
  close(quit_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void InterruptWatcher::watch() {
  set_thread_name("leat:interrupt");
  while (true) {
    pollfd files[2] = {{signals_, POLLIN, 0}, {quit_, POLLIN, 0}};
    if (poll(files, 2, -1) < 0) {
      LEAT_CHECK(errno == EINTR, "waiting for interrupts failed");
      continue;
    }
    if ((files[0].revents & POLLIN) != 0) {
      signalfd_siginfo info{};
      if (read(signals_, &info, sizeof info) != sizeof info) continue;
      const int signal = static_cast<int>(info.ssi_signo);
      if (!on_interrupt_) die_of(signal);
      Function<void(int)> call = std::exchange(on_interrupt_, nullptr);
      call(signal);
    }
    if ((files[1].revents & POLLIN) != 0) return;
  }
}

}  // namespace leat::os
