// The process around the command: words in, text out, Ctrl-C.
#include <leat/base/clock.hpp>
#include <leat/base/os/interrupt.hpp>
#include "command.hpp"
#include "compute.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "terminal.hpp"
#include "version.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

void print(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

/// Prints to standard output and makes sure that it arrived.
int finish(const Outcome& outcome) {
  print(stdout, outcome.out);
  if (std::ferror(stdout) != 0) {
    print(stderr, std::string("leat: standard output: ") + std::strerror(errno) + "\n");
    return static_cast<int>(ExitCode::runtime);
  }
  print(stderr, outcome.err);
  return static_cast<int>(outcome.code);
}

int run(const RunPackages& options) {
  const RealClock clock;
  const Look err = look_of_stream(2);
  Progress progress(
      {.redraw = err.is_terminal, .columns = err.columns, .utf8 = err.utf8},
      [](std::string_view text) { print(stderr, text); }, clock);

  // Whoever takes the turn first decides: the result is printed whole, or nothing is.
  std::mutex turn;
  bool is_done = false;
  const os::InterruptWatcher watcher([&](int signal) {
    const std::lock_guard lock(turn);
    if (is_done) return;
    progress.stop();
    std::_Exit(128 + signal);
  });
  Outcome outcome;
  {
    const ProgressTicker ticker(progress);
    outcome = run_packages(options, PackagePlaces{}, look_of_stream(1), err, progress, compute);
  }
  const std::lock_guard lock(turn);
  is_done = true;
  return finish(outcome);
}

}  // namespace
}  // namespace leat::tool

int main(int argc, char** argv) {
  using namespace leat::tool;
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto parsed = parse_command(words);
  if (const auto* failure = std::get_if<Failure>(&parsed)) {
    return finish({failure->code, "", "leat: " + failure->message + "\n"});
  }
  const auto& command = std::get<Command>(parsed);
  if (const auto* help = std::get_if<ShowHelp>(&command)) {
    return finish({ExitCode::ok, std::string(help->of_run ? run_help_text() : help_text()), ""});
  }
  if (std::holds_alternative<ShowVersion>(command)) {
    return finish({ExitCode::ok, std::string("leat ") + kVersion + "\n", ""});
  }
  return run(std::get<RunPackages>(command));
}
