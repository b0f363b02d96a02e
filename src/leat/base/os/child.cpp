#include <leat/base/os/child.hpp>

#include <leat/base/os/error_text.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace leat::os {

namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

std::optional<Pipe> new_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Error failed(const std::string& program, int number) {
  return {"start: asked to run \"" + program + "\"; found \"" + error_text(number) + "\""};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Our own variables, but for those that the child gets another value of.
std::vector<std::string> environment_of(const ChildSpec& spec) {
  std::vector<std::string> all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string own = *at;
    bool is_replaced = false;
    for (const auto& [name, value] : spec.environment) {
      is_replaced = is_replaced || own.starts_with(name + "=");
    }
    if (!is_replaced) all.push_back(own);
  }
  for (const auto& [name, value] : spec.environment) all.push_back(name + "=" + value);
  return all;
}

}  // namespace

Io PipeEnd::read(std::span<std::byte> into) {
  for (;;) {
    const auto count = ::read(descriptor_.number(), into.data(), into.size());
    if (count > 0) return {IoState::some, static_cast<std::size_t>(count)};
    if (count == 0) return {IoState::over, 0};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::none, 0};
    if (errno == EINTR) continue;
    error_ = Error{"pipe: reading failed: " + error_text(errno)};
    return {IoState::broken, 0};
  }
}

Result<Child> Child::start(const ChildSpec& spec) {
  if (spec.words.empty()) return Error{"start: asked to run a program; found no words"};
  auto out = new_pipe();
  auto err = new_pipe();
  auto trouble = new_pipe();  // says why the program could not be run, or closes when it runs
  if (!out || !err || !trouble) return failed(spec.words.front(), errno);
  // All memory that the child needs: between fork and exec it may ask for none.
  std::vector<std::string> words = spec.words;
  std::vector<std::string> variables = environment_of(spec);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failed(spec.words.front(), errno);
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    bool good = ::getppid() == parent && ::dup2(out->write.number(), STDOUT_FILENO) >= 0 &&
                ::dup2(err->write.number(), STDERR_FILENO) >= 0;
    for (const int descriptor : spec.inherits) good = good && ::fcntl(descriptor, F_SETFD, 0) == 0;
    if (good) ::execvpe(argv[0], argv.data(), envp.data());
    const int number = errno;
    static_cast<void>(!::write(trouble->write.number(), &number, sizeof number));
    ::_exit(127);
  }
  out->write.close();
  err->write.close();
  trouble->write.close();
  int number = 0;
  ssize_t count = 0;
  do {
    count = ::read(trouble->read.number(), &number, sizeof number);
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    ::waitpid(pid, nullptr, 0);
    return failed(spec.words.front(), number);
  }
  for (const int end : {out->read.number(), err->read.number()}) {
    static_cast<void>(::fcntl(end, F_SETFL, O_NONBLOCK));
  }
  return Child(pid, Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
               PipeEnd(std::move(out->read)), PipeEnd(std::move(err->read)));
}

Child::~Child() {
  if (pid_ < 0 || end_) return;
  send(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<ChildEnd> Child::look() {
  if (end_ || pid_ < 0) return end_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  ChildEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else {
    end.code = WEXITSTATUS(status);
  }
  end_ = end;
  return end_;
}

void Child::send(int signal) noexcept {
  if (pid_ > 0 && !end_) static_cast<void>(::kill(pid_, signal));
}

}  // namespace leat::os
