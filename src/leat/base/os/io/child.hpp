// What      Programs that run beside this one, and signals that come as bytes: both as descriptors
//           that become readable.
// Protocol  `start_program`; its `exit` becomes readable when the program has ended; then `reap`.
// Limits    SIGCHLD is neither used nor changed: others may handle it. Who waits for any child of
//           the process (wait, waitpid(-1)) takes ours along.
// Source    pidfd_open(2), signalfd(2), posix_spawn(3).
#pragma once

#include <leat/base/os/descriptor.hpp>
#include <leat/base/result.hpp>

#include <span>
#include <string>
#include <vector>

namespace leat::os {

struct Program {
  int pid = 0;
  Descriptor exit;    ///< a pidfd
  Descriptor input;   ///< what we write is its standard input
  Descriptor output;  ///< its standard output is what we read
};

/// Starts a program, found by PATH; its standard error is ours.
[[nodiscard]] Result<Program> start_program(const std::vector<std::string>& words);

/// How a program ended: its exit code, or the signal that ended it.
struct ProgramEnd {
  int code = 0;
  int signal = 0;
};
/// Whether it has ended, and `reap` will not wait.
[[nodiscard]] bool has_ended(const Program& program) noexcept;
/// Takes the end of a program; waits for it.
[[nodiscard]] ProgramEnd reap(const Program& program) noexcept;
void send_signal(const Program& program, int signal) noexcept;
/// Has it end at once (SIGKILL).
void kill_program(const Program& program) noexcept;

/// A descriptor from which these signals of the process are read. They are blocked in the calling
/// thread: block them before other threads start, or those get them.
[[nodiscard]] Result<Descriptor> watch_signals(std::span<const int> signals);
/// The next signal; 0 if there is none.
[[nodiscard]] int try_take_signal(int descriptor) noexcept;

}  // namespace leat::os
