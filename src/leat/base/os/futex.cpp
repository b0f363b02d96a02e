#include <leat/base/os/futex.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#if defined(LEAT_MODEL) && LEAT_MODEL
#include <leat/base/model/hooks.hpp>
#endif

namespace leat::os {
namespace {

static_assert(sizeof(Atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "the kernel reads the word through the address of the Atomic");

int in_scope(int operation, FutexScope scope) noexcept {
  return scope == FutexScope::process ? operation | FUTEX_PRIVATE_FLAG : operation;
}

}  // namespace

void futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout, FutexScope scope) noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
  if (model::internal::futex_wait(&word, expected, timeout.has_value())) return;
#endif
  timespec left{};
  if (timeout) {
    const auto ns = std::max<std::chrono::nanoseconds::rep>(timeout->count(), 0);
    left.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    left.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  }
  // All results (woken, EAGAIN, ETIMEDOUT, EINTR) mean the same to the caller: look again.
  ::syscall(SYS_futex, static_cast<const void*>(&word), in_scope(FUTEX_WAIT, scope), expected,
            timeout ? &left : nullptr, nullptr, 0);
}

int futex_wake(Atomic<std::uint32_t>& word, int n, FutexScope scope) noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
  if (const int woken = model::internal::futex_wake(&word, n); woken >= 0) return woken;
#endif
  const long woken = ::syscall(SYS_futex, static_cast<void*>(&word), in_scope(FUTEX_WAKE, scope), n,
                               nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<int>(woken);
}

}  // namespace leat::os
