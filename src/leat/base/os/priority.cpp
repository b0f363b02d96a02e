#include <leat/base/os/priority.hpp>

#include <leat/base/os/error_text.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <string>

namespace leat::os {
namespace {

id_t this_thread() noexcept { return static_cast<id_t>(syscall(SYS_gettid)); }

Error refused(const std::string& asked, int why) {
  std::string next = "; without the right to it (CAP_SYS_NICE) leave it out";
  if (why != EPERM && why != EACCES) next.clear();
  return Error{"thread priority: asked for " + asked + "; found " + error_text(why) + next};
}

}  // namespace

Result<void> set_thread_niceness(int niceness) {
  const std::string asked = "niceness " + std::to_string(niceness);
  if (niceness < kNicenessMin || niceness > kNicenessMax) {
    return Error{"thread priority: asked for " + asked + "; found a range of -20 to 19"};
  }
  if (setpriority(PRIO_PROCESS, this_thread(), niceness) != 0) return refused(asked, errno);
  return {};
}

int thread_niceness() noexcept { return getpriority(PRIO_PROCESS, this_thread()); }

Result<void> set_thread_real_time(RealTime policy, int priority) {
  const bool is_real = policy != RealTime::none;
  const std::string asked = std::string(is_real ? "a real-time policy" : "the usual policy") +
                            " of priority " + std::to_string(priority);
  if (is_real ? priority < 1 || priority > 99 : priority != 0) {
    return Error{"thread priority: asked for " + asked + "; found a range of " +
                 (is_real ? "1 to 99" : "0 alone")};
  }
  sched_param param{};
  param.sched_priority = priority;
  const int scheme = policy == RealTime::fifo          ? SCHED_FIFO
                     : policy == RealTime::round_robin ? SCHED_RR
                                                       : SCHED_OTHER;
  if (sched_setscheduler(0, scheme, &param) != 0) return refused(asked, errno);
  return {};
}

RealTime thread_real_time() noexcept {
  switch (sched_getscheduler(0)) {
    case SCHED_FIFO:
      return RealTime::fifo;
    case SCHED_RR:
      return RealTime::round_robin;
    default:
      return RealTime::none;
  }
}

ThreadTroubles thread_troubles() noexcept {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return {};
  return {static_cast<std::uint64_t>(usage.ru_nivcsw), static_cast<std::uint64_t>(usage.ru_nvcsw),
          static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt)};
}

}  // namespace leat::os
