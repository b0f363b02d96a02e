#include <leat/base/os/process_fence.hpp>

#include <leat/base/check.hpp>
#include <leat/base/sanitizers.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace leat::os {
namespace {

#if LEAT_TSAN || (defined(LEAT_MODEL) && LEAT_MODEL)
#define LEAT_NO_PROCESS_FENCE 1
#endif

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

bool process_fence_ready() noexcept {
#if defined(LEAT_NO_PROCESS_FENCE)
  return false;
#else
  static const bool ready = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
                            membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  return ready;
#endif
}

void process_fence() noexcept {
  LEAT_CHECK(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
             "a process-wide fence was asked for where there is none");
}

}  // namespace leat::os
