// What      What the tests of segments share: a folder of their own, and child processes.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace leat::core {

/// A folder in shared memory that goes with the test.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = "/dev/shm/leat-test-XXXXXX";
    const char* const made = ::mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr);
    path_ = pattern;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// A forked process that runs `body` and ends with what it returns.
class ChildProcess {
 public:
  template <class Body>
  explicit ChildProcess(Body&& body) {
    EXPECT_EQ(::pipe(words_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that was killed leaves nobody behind
      ::close(words_[0]);
      if constexpr (std::is_void_v<decltype(body(*this))>) {
        body(*this);
        ::_exit(0);
      } else {
        ::_exit(body(*this));
      }
    }
    ::close(words_[1]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) kill();
    ::close(words_[0]);
  }

  /// In the child: tells the parent that it came so far.
  void say(char word) const { static_cast<void>(!::write(words_[1], &word, 1)); }
  /// In the child: waits to be killed.
  [[noreturn]] static void wait_for_ever() {
    while (true) ::pause();
  }
  /// In the parent: waits for the child's next word; 0 if it ended without.
  [[nodiscard]] char listen() const {
    char word = 0;
    while (::read(words_[0], &word, 1) < 0 && errno == EINTR) {
    }
    return word;
  }
  /// In the parent: the child's exit status; -1 if it was killed.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int kill() {
    ::kill(pid_, SIGKILL);
    return wait();
  }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  std::array<int, 2> words_{};
  pid_t pid_ = -1;
};

}  // namespace leat::core
