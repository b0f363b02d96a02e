#include <leat/base/os/cpu_time.hpp>

#include <ctime>

namespace leat::os {
namespace {

Nanos read(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace

Nanos thread_cpu() noexcept { return read(CLOCK_THREAD_CPUTIME_ID); }

Nanos process_cpu() noexcept { return read(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace leat::os
