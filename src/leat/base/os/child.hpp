// What      A program that is started, whose output is read here, and whose end is waited for.
// Protocol  start; read `out` and `err` when their descriptors can be read; ask `look` for its end.
// Invariants  (1) A child ends when its parent does, however that comes.
// Limits    Signals that are blocked here are not blocked in the child. What the child's own children
//           write comes here as well; they may outlive it.
// Source    fork(2), execvpe(3), pidfd_open(2).
#pragma once

#include <leat/base/byte_io.hpp>
#include <leat/base/os/descriptor.hpp>
#include <leat/base/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::os {

/// The end of a pipe that is read. Threads: one at a time.
class PipeEnd {
 public:
  PipeEnd() = default;
  explicit PipeEnd(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  /// Reads what has come. Never waits.
  [[nodiscard]] Io read(std::span<std::byte> into);
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }

 private:
  Descriptor descriptor_;
  Error error_;
};

struct ChildSpec {
  std::vector<std::string> words{};  // the program, looked up as a shell does, and its arguments
  std::vector<std::pair<std::string, std::string>> environment{};  // in place of or besides our own
  std::vector<int> inherits{};  // descriptors that it gets under the same numbers
};

/// How a child ended.
struct ChildEnd {
  int code = 0;    // if it ended by itself
  int signal = 0;  // if a signal ended it

  /// As a shell says it.
  [[nodiscard]] int exit_code() const noexcept { return signal != 0 ? 128 + signal : code; }
};

class Child {
 public:
  /// Errors: the program cannot be run.
  [[nodiscard]] static Result<Child> start(const ChildSpec& spec);

  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        end_(std::exchange(other.end_, std::nullopt)),
        watch_(std::move(other.watch_)),
        out_(std::move(other.out_)),
        err_(std::move(other.err_)) {}
  Child& operator=(Child&&) = delete;
  /// Ends it, if it has not ended, and waits for that.
  ~Child();

  [[nodiscard]] int pid() const noexcept { return pid_; }
  /// Can be read when it has ended.
  [[nodiscard]] int descriptor() const noexcept { return watch_.number(); }
  [[nodiscard]] PipeEnd& out() noexcept { return out_; }
  [[nodiscard]] PipeEnd& err() noexcept { return err_; }

  /// How it ended, if it has. Never waits.
  [[nodiscard]] std::optional<ChildEnd> look();
  /// Sends a signal, if it has not ended.
  void send(int signal) noexcept;

 private:
  Child(int pid, Descriptor watch, PipeEnd out, PipeEnd err) noexcept
      : pid_(pid), watch_(std::move(watch)), out_(std::move(out)), err_(std::move(err)) {}

  int pid_;
  std::optional<ChildEnd> end_;
  Descriptor watch_;  // a pidfd
  PipeEnd out_;
  PipeEnd err_;
};

}  // namespace leat::os
