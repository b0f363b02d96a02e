#include <leat/base/os/process.hpp>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace leat::os {
namespace {

// "aa89525d-c0d9-4a15-85c1-769cec36ef75": 32 hexadecimal digits in two words.
std::array<std::uint64_t, 2> read_boot_id() {
  std::array<std::uint64_t, 2> id{};
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  if (!(file >> text)) return id;
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const bool decimal = c >= '0' && c <= '9';
    if ((!decimal && (c < 'a' || c > 'f')) || digits == 32) return {};
    const auto digit = static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
    id[digits / 16] = id[digits / 16] << 4 | digit;
    ++digits;
  }
  return digits == 32 ? id : std::array<std::uint64_t, 2>{};
}

// The 22nd word of `stat`. The second, the program's name, is in parentheses and may hold anything.
std::uint64_t read_start_time(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  if (!std::getline(file, text)) return 0;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  std::string word;
  for (int i = 3; i < 22; ++i) rest >> word;
  std::uint64_t start = 0;
  return rest >> start ? start : 0;
}

std::uint64_t read_pid_namespace() {
  struct stat facts{};
  if (::stat("/proc/self/ns/pid", &facts) != 0) return 0;
  return facts.st_ino;
}

}  // namespace

ProcessIdentity this_process() {
  // Per thread, so that a child that was forked while others looked finds no lock held.
  static thread_local ProcessIdentity known;
  const auto pid = static_cast<std::uint64_t>(::getpid());
  // A forked child finds its parent here. A child that has its own pid namespace may have its
  // parent's number, but only in a program that made the namespace itself, by a system call.
  if (known.pid != pid) {
    known = {read_boot_id(), read_pid_namespace(), pid, read_start_time("self")};
  }
  return known;
}

std::string program_name() {
  std::error_code unreadable;
  const std::string name =
      std::filesystem::read_symlink("/proc/self/exe", unreadable).filename().string();
  return unreadable || name.empty() ? "?" : name;
}

Life life_of(const ProcessIdentity& process) {
  const ProcessIdentity self = this_process();
  if (process.pid == 0) return Life::dead;
  const std::array<std::uint64_t, 2> none{};
  if (process.boot == none || self.boot == none) return Life::unknown;
  if (process.boot != self.boot) return Life::dead;
  if (process.pid_namespace == 0 || process.pid_namespace != self.pid_namespace) {
    return Life::unknown;
  }
  // Not /proc: where it hides the processes of other users, they would seem dead.
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return Life::dead;
  const std::uint64_t start = read_start_time(std::to_string(process.pid));
  if (start == 0 || process.start_time == 0) return Life::unknown;
  return start == process.start_time ? Life::alive : Life::dead;
}

std::uint32_t effective_user() noexcept { return ::geteuid(); }

}  // namespace leat::os
