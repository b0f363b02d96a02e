#include <leat/base/os/signal_mask.hpp>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace leat::os {

std::uint64_t signal_mask() noexcept {
  std::uint64_t mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return mask;
}

void call_in_child_of_fork(void (*call)()) noexcept {
  static const int registered = ::pthread_atfork(nullptr, nullptr, call);
  static_cast<void>(registered);
}

}  // namespace leat::os
