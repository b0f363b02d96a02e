#include "machine.hpp"

#include <leat/base/os/affinity.hpp>

#include <fstream>
#include <utility>

namespace leat::bench {

namespace {

std::string first_line(const char* path, std::string otherwise) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? line : std::move(otherwise);
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string compiler() {
#if defined(__clang__)
  std::string name = "clang++ " + std::to_string(__clang_major__) + '.' +
                     std::to_string(__clang_minor__) + '.' + std::to_string(__clang_patchlevel__);
#else
  std::string name = "g++ " + std::to_string(__GNUC__) + '.' + std::to_string(__GNUC_MINOR__) +
                     '.' + std::to_string(__GNUC_PATCHLEVEL__);
#endif
#if !defined(__OPTIMIZE__)
  name += " not optimising";
#endif
  return name;
}

}  // namespace

Machine this_machine(std::string commit) {
  Machine machine;
  machine.cores = os::runnable_cpus();
  machine.cpu = cpu_model();
  machine.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "none");
  machine.kernel = first_line("/proc/sys/kernel/osrelease", "unknown");
  machine.compiler = compiler();
  machine.commit = std::move(commit);
  std::ifstream("/proc/loadavg") >> machine.load;
  return machine;
}

}  // namespace leat::bench
