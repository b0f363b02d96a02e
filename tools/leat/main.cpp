// The process around the command: words in, text out, Ctrl-C.
#include <leat/base/clock.hpp>
#include <leat/base/os/error_text.hpp>
#include <leat/base/os/interrupt.hpp>
#include <leat/core/options.hpp>
#include "command.hpp"
#include "compute.hpp"
#include "launch/options.hpp"
#include "launch/run.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "queues/options.hpp"
#include "queues/run.hpp"
#include "terminal.hpp"
#include "tiles/options.hpp"
#include "tiles/run.hpp"
#include "version.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
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
    print(stderr, std::string("leat: standard output: ") + os::error_text(errno) + "\n");
    return static_cast<int>(ExitCode::runtime);
  }
  print(stderr, outcome.err);
  return static_cast<int>(outcome.code);
}

int run(RunPackages options) {
  const RealClock clock;
  // Whether this is one of several processes, `leat launch` says in the environment.
  const char* const name = "leat";
  const auto around = core::parse_args(1, &name);
  if (!around) return finish({ExitCode::usage, "", "leat: " + around.error().message + "\n"});
  const core::Network& network = around->config.network;
  options.processes = network.processes;
  options.process = network.process;
  if (!options.workers && std::getenv("LEAT_WORKERS") != nullptr) {
    options.workers = around->config.workers;
  }
  const Look err = look_of_stream(2);
  Progress progress(
      {.redraw = err.is_terminal, .columns = err.columns, .utf8 = err.utf8},
      [&](std::string_view text) {
        if (options.process == 0) print(stderr, text);
      },
      clock);

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
    outcome = run_packages(options, PackagePlaces{}, look_of_stream(1), err, progress,
                           [&](const DependencyGraph& graph, const ComputeOptions& asked,
                               Progress& shown) { return compute(graph, asked, shown, network); });
  }
  const std::lock_guard lock(turn);
  is_done = true;
  return finish(outcome);
}

/// Runs until it is done or the process is ended: nothing of it has to be put away.
int run(const RunQueues& options) {
  const RealClock clock;
  QueuesWorld world{clock, [](std::string_view text) { print(stdout, text); },
                    [](std::string_view text) { print(stderr, text); },
                    [](Nanos time) { std::this_thread::sleep_for(time); }};
  const ExitCode code = run_queues(options, world);
  return finish({code, "", ""});
}

bool read_line() {
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c == '\n') return true;
  }
  return false;
}

/// `leat tiles`, `record` or `replay`: what stands behind its name, until it is done or Ctrl-C.
template <class Options>
int run_tile_command(const std::variant<Options, ShowTileHelp, Failure>& parsed,
                     ExitCode (*run)(const Options&, TilesWorld&)) {
  if (const auto* failure = std::get_if<Failure>(&parsed)) {
    return finish({failure->code, "", "leat: " + failure->message + "\n"});
  }
  if (const auto* help = std::get_if<ShowTileHelp>(&parsed)) {
    return finish({ExitCode::ok, std::string(help->text), ""});
  }
  const RealClock clock;
  std::atomic<bool> stopped = false;
  const os::InterruptWatcher watcher([&](int) { stopped = true; });
  TilesWorld world{clock,
                   [](std::string_view text) { print(stdout, text); },
                   [](std::string_view text) { print(stderr, text); },
                   [](Nanos time) { std::this_thread::sleep_for(time); },
                   [&] { return stopped.load(); },
                   read_line};
  return finish({run(std::get<Options>(parsed), world), "", ""});
}

int run(const RunLaunch& options) {
  const RealClock clock;
  std::atomic<int> signal{0};
  const os::InterruptWatcher watcher([&](int number) { signal = number; });
  return run_launch(
      options, {clock, [](std::string_view text) { print(stdout, text); },
                [](std::string_view text) { print(stderr, text); }, [&] { return signal.load(); }});
}

}  // namespace
}  // namespace leat::tool

int main(int argc, char** argv) {
  using namespace leat::tool;
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!words.empty() && words.front() == "queues") {
    const auto queues = parse_queues(std::span(words).subspan(1));
    if (const auto* failure = std::get_if<Failure>(&queues)) {
      return finish({failure->code, "", "leat: " + failure->message + "\n"});
    }
    if (const auto* options = std::get_if<RunQueues>(&queues)) return run(*options);
    return finish({ExitCode::ok, std::string(queues_help_text()), ""});
  }
  if (!words.empty() && words.front() == "tiles") {
    return run_tile_command(parse_tiles(std::span(words).subspan(1)), run_tiles);
  }
  if (!words.empty() && words.front() == "record") {
    return run_tile_command(parse_record(std::span(words).subspan(1)), run_record);
  }
  if (!words.empty() && words.front() == "replay") {
    return run_tile_command(parse_replay(std::span(words).subspan(1)), run_replay);
  }
  if (!words.empty() && words.front() == "launch") {
    const auto launch = parse_launch(std::span(words).subspan(1));
    if (const auto* failure = std::get_if<Failure>(&launch)) {
      return finish({failure->code, "", "leat: " + failure->message + "\n"});
    }
    if (const auto* options = std::get_if<RunLaunch>(&launch)) return run(*options);
    return finish({ExitCode::ok, std::string(launch_help_text()), ""});
  }
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
