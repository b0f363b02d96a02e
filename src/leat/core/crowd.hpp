// What      How many worker threads of the process could run at this moment, beside the CPUs they
//           may run on: who polls while there are more threads than CPUs takes time from those he
//           waits for.
// Protocol  A worker (or link) thread enters when it starts, leaves when it parks or ends, and
//           enters again when it wakes.
// Ordering  All relaxed: a guess about the near future, which carries nothing else.
// Limits    Threads of one process. For sibling processes of a launch give each its share of the
//           CPUs.
// Cost      enter, leave: one read-modify-write of a shared line beside a system call. crowded: one
//           load.
// Source    Ours.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>

#include <cstdint>

namespace leat::core {

class alignas(kCacheLine) Crowd {
 public:
  /// `cpus`: CPUs that the process may use: affinity mask and cgroup quota counted, shared with
  /// nobody.
  explicit Crowd(std::uint32_t cpus) noexcept : cpus_(cpus) {}

  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  /// The calling thread can run from now on.
  void enter() noexcept { runnable_.fetch_add_relaxed(1); }

  /// The calling thread is about to sleep, or ends.
  void leave() noexcept { runnable_.fetch_sub_relaxed(1); }

  /// Whether there were more runnable threads than CPUs a moment ago.
  [[nodiscard]] bool crowded() const noexcept { return runnable_.load_relaxed() > cpus_; }

  [[nodiscard]] std::uint32_t runnable_approx() const noexcept { return runnable_.load_relaxed(); }
  [[nodiscard]] std::uint32_t cpus() const noexcept { return cpus_; }

 private:
  Atomic<std::uint32_t> runnable_{0};
  std::uint32_t cpus_;
};

}  // namespace leat::core
