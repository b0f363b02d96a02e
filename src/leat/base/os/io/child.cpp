#include <leat/base/os/io/child.hpp>

#include <leat/base/os/io/transfer.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

extern char** environ;

namespace leat::os {
namespace {

Descriptor pidfd_of(int pid) noexcept {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void make_waiting(int descriptor) noexcept {  // the program expects that
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0) static_cast<void>(::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK));
}

}  // namespace

Result<Program> start_program(const std::vector<std::string>& words) {
  if (words.empty()) return Error{"program: asked to start one; found no words; name it first"};
  auto in = make_pipe();
  auto out = make_pipe();
  if (!in) return in.error();
  if (!out) return out.error();
  make_waiting(in->first.number());
  make_waiting(out->second.number());

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in->first.number(), 0);
  ::posix_spawn_file_actions_adddup2(&files, out->second.number(), 1);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);

  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Program program;
  const int problem =
      ::posix_spawnp(&program.pid, arguments[0], &files, &how, arguments.data(), environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  if (problem != 0) {
    return Error{"program: asked to start \"" + words[0] + "\"; found \"" + error_text(problem) +
                 "\"; look at the name and PATH"};
  }
  program.exit = pidfd_of(program.pid);
  program.input = std::move(in->second);
  program.output = std::move(out->first);
  if (!program.exit) {
    return Error{"program: asked to watch \"" + words[0] + "\"; found \"" + error_text(errno) +
                 "\"; this needs Linux 5.3"};
  }
  return program;
}

bool has_ended(const Program& program) noexcept {
  siginfo_t info{};
  const int answer =
      ::waitid(P_PID, static_cast<id_t>(program.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return answer != 0 || info.si_pid != 0;
}

ProgramEnd reap(const Program& program) noexcept {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(program.pid), &info, WEXITED) != 0) {
    if (errno != EINTR) return {-1, 0};  // somebody else took it
  }
  if (info.si_code == CLD_EXITED) return {info.si_status, 0};
  return {0, info.si_status};
}

void send_signal(const Program& program, int signal) noexcept {
  static_cast<void>(::kill(program.pid, signal));
}

void kill_program(const Program& program) noexcept { send_signal(program, SIGKILL); }

Result<Descriptor> watch_signals(std::span<const int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Descriptor descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (descriptor) return descriptor;
  return Error{"signals: asked to watch them; found \"" + error_text(errno) +
               "\"; close some descriptors"};
}

int try_take_signal(int descriptor) noexcept {
  signalfd_siginfo info{};
  for (;;) {
    const auto count = ::read(descriptor, &info, sizeof info);
    if (count == sizeof info) return static_cast<int>(info.ssi_signo);
    if (errno != EINTR) return 0;
  }
}

}  // namespace leat::os
