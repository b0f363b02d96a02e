#include <leat/base/os/affinity.hpp>

#include <leat/base/os/error_text.hpp>

#include <sched.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace leat::os {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

constexpr int kCpusMax = 1 << 16;

void keep_lower(std::optional<double>& limit, double candidate) {
  if (!limit || candidate < *limit) limit = candidate;
}

// Version 2: "max 100000" or "150000 100000".
std::optional<double> read_cpu_max(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// Version 1: two files; a quota of -1 is none.
std::optional<double> read_cfs_quota(const std::filesystem::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return quota / period;
}

// A container may see its group's path as the host has it, where it is not mounted: the levels
// that are not there are passed over, and the root of the mount is the container's own group.
template <class Read>
void walk_up(const std::filesystem::path& mount, std::filesystem::path group, Read read,
             std::optional<double>& limit) {
  group = group.relative_path();
  while (true) {
    if (const std::optional<double> found = read(mount / group)) keep_lower(limit, *found);
    if (group.empty()) return;
    group = group.parent_path();
  }
}

bool names_cpu_controller(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) break;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

std::vector<int> cpus_allowed() {
  // The kernel refuses a set smaller than its own: grow until it accepts.
  for (int cpus = CPU_SETSIZE; cpus <= kCpusMax; cpus *= 2) {
    const CpuSet set(CPU_ALLOC(cpus));
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> allowed;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) allowed.push_back(cpu);
    }
    if (!allowed.empty()) return allowed;
    break;
  }
  return {0};
}

std::optional<double> cgroup_cpu_quota(const CgroupFiles& files) {
  std::optional<double> limit;
  std::ifstream membership(files.membership);
  std::string line;  // hierarchy:controllers:path; version 2 has hierarchy 0 and no controllers
  while (std::getline(membership, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::filesystem::path group = line.substr(second + 1);
    if (controllers.empty()) {
      walk_up(files.mount, group, read_cpu_max, limit);
    } else if (names_cpu_controller(controllers)) {
      const std::filesystem::path together = files.mount / controllers;
      std::error_code unreadable;
      const bool mounted_together = std::filesystem::exists(together, unreadable);
      walk_up(mounted_together ? together : files.mount / "cpu", group, read_cfs_quota, limit);
    }
  }
  return limit;
}

std::size_t runnable_cpus(const CgroupFiles& files) {
  const std::size_t allowed = cpus_allowed().size();
  const std::optional<double> quota = cgroup_cpu_quota(files);
  if (!quota || *quota >= static_cast<double>(allowed)) return allowed;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(*quota)));
}

Result<void> pin_this_thread(int cpu) {
  if (cpu < 0 || cpu >= kCpusMax) {
    return Error{"cannot pin a thread to CPU " + std::to_string(cpu) + ": no such CPU"};
  }
  const CpuSet set(CPU_ALLOC(cpu + 1));
  const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) != 0) {
    return Error{"cannot pin a thread to CPU " + std::to_string(cpu) + ": " + error_text(errno) +
                 "; the affinity mask of the process may not hold it"};
  }
  return {};
}

}  // namespace leat::os
