#include <leat/base/os/memory.hpp>

#include <fstream>
#include <limits>
#include <string>

namespace leat::os {
namespace {

// Not getrusage: its maximum survives exec, so a small program started by a large one would
// report the large one's peak.
std::uint64_t read_status_kib(const char* field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == field) {
      std::uint64_t kib = 0;
      status >> kib;
      return kib;
    }
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

std::uint64_t peak_rss_bytes() { return read_status_kib("VmHWM:") * 1024; }

std::uint64_t current_rss_bytes() { return read_status_kib("VmRSS:") * 1024; }

}  // namespace leat::os
