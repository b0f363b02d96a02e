// What      Who a process is, in words that another process understands, now or after a crash; and
//           whether such a one still runs.
// Shape     boot id, pid namespace, pid, start time. A pid alone names nobody for long: it is given
//           out again, and a container has its own.
// Limits    `life_of` knows only processes of its own boot and pid namespace; of others it says so.
//           Whoever holds a lock in a shared file is known better by that (shared_file.hpp).
// Cost      this_process: a copy, after the first call; files are read once per thread. life_of:
//           one system call and one small file.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace leat::os {

struct ProcessIdentity {
  std::array<std::uint64_t, 2> boot{};  // the kernel's boot id; zeros where there is none to read
  std::uint64_t pid_namespace = 0;      // its inode
  std::uint64_t pid = 0;                // within that namespace; 0 is nobody
  std::uint64_t start_time = 0;         // in ticks since the boot; 0 where it cannot be read

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// The calling process; in a forked child that child.
[[nodiscard]] ProcessIdentity this_process();

/// The name of the calling program: the last part of its path. "?" where it cannot be read.
[[nodiscard]] std::string program_name();

enum class Life : std::uint8_t {
  alive,
  dead,     // proved: no process of that pid, or one that started at another time
  unknown,  // of another pid namespace, or nobody may look
};

/// Whether `process` still runs. A process of an earlier boot is dead.
[[nodiscard]] Life life_of(const ProcessIdentity& process);

/// The user whose rights the calling process has.
[[nodiscard]] std::uint32_t effective_user() noexcept;

}  // namespace leat::os
