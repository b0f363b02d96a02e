// What      On which CPUs, and on how many at once, this process may run.
// Shape     runnable = min(CPUs in the affinity mask, CPU quota of the control group rounded up)
// Limits    The quota is what files say at this moment; an administrator may change it later. A
//           quota that cannot be read counts as none.
// Cost      System calls and file reads: for set-up, not for loops.
#pragma once

#include <leat/base/result.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace leat::os {

/// The CPUs on which the calling thread may run, ascending; never empty.
[[nodiscard]] std::vector<int> cpus_allowed();

/// Where the files of control groups stand; tests point it elsewhere.
struct CgroupFiles {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path mount = "/sys/fs/cgroup";
};

/// How much CPU time per unit of time the control groups of this process grant.
///
/// The tightest limit on the way from its group up to the root, of both versions: `cpu.max` in
/// version 2, `cpu.cfs_quota_us` and `cpu.cfs_period_us` in version 1.
/// Returns: CPUs, as in 1.5; nothing if there is no limit.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const CgroupFiles& files = {});

/// How many threads of this process can run at the same moment; at least 1.
[[nodiscard]] std::size_t runnable_cpus(const CgroupFiles& files = {});

/// Keeps the calling thread on `cpu` from now on.
///
/// Returns: an error that names the CPU and the reason if the system refuses.
Result<void> pin_this_thread(int cpu);

}  // namespace leat::os
