// What      Programs that an actor starts and waits for, signals that it waits for, and files: in
//           blocking style.
// Protocol  Process sort = *Process::start({"sort", "-n"});
//           sort.input().write_all("2\n1\n");   sort.input().close();   ...
//           sort.output().read(buffer) ... const ProgramEnd end = *sort.wait();
// Limits    Signals: block them in main before the runtime is made (SignalWatch does it for the
//           thread it is made in), or threads that do not block them get them.
#pragma once

#include <leat/actor/io/stream.hpp>
#include <leat/base/os/io/child.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::actor {

using os::ProgramEnd;

/// A program that runs beside this one. Dropped, it is killed, and its end taken.
class Process {
 public:
  /// Starts a program, found by PATH, with these words. Its standard error is ours.
  [[nodiscard]] static Result<Process> start(const std::vector<std::string>& words);
  Process(Process&&) noexcept = default;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] int pid() const noexcept { return program_.pid; }
  /// What is written here the program reads.
  [[nodiscard]] Stream& input() noexcept { return input_; }
  /// What the program writes.
  [[nodiscard]] Stream& output() noexcept { return output_; }
  void signal(int number) const noexcept { os::send_signal(program_, number); }

  /// Waits until it has ended. Returns: nothing if `deadline` came first. Throws: Cancelled.
  std::optional<ProgramEnd> wait(Nanos deadline = kNever);

 private:
  Process(os::Program program, Polled exit, Stream input, Stream output) noexcept
      : program_(std::move(program)),
        exit_(std::move(exit)),
        input_(std::move(input)),
        output_(std::move(output)) {}

  os::Program program_;
  Polled exit_;
  Stream input_;
  Stream output_;
  std::optional<ProgramEnd> end_;
};

/// Signals of the process as something to wait for.
class SignalWatch {
 public:
  [[nodiscard]] static Result<SignalWatch> open(std::initializer_list<int> signals);

  /// The next of them; 0 if `deadline` came first. Throws: Cancelled.
  int next(Nanos deadline = kNever);

 private:
  explicit SignalWatch(Polled polled) noexcept : polled_(std::move(polled)) {}

  Polled polled_;
};

/// A file, read and written by another thread, so that its actor alone waits for the disk.
class File {
 public:
  enum class Mode : unsigned char { read, write, create };

  [[nodiscard]] static Result<File> open(const std::string& path, Mode mode = Mode::read);

  /// Returns: how many bytes were read; fewer than asked for at the end of the file only.
  Transfer read_at(std::span<std::byte> into, std::uint64_t offset) const;
  Transfer write_at(std::span<const std::byte> bytes, std::uint64_t offset) const;

 private:
  explicit File(os::Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  os::Descriptor descriptor_;
};

}  // namespace leat::actor
