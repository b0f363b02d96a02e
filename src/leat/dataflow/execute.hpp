// What      Runs a dataflow program: one function, on every worker.
// Protocol  `execute` starts the workers, calls the function on each of them at once (through a
//           const reference: what it captures by reference is shared), and then steps each worker
//           until its dataflows have ended.
// Errors    Nothing is thrown here: the outcome has each worker's value or its exception,
//           untouched. When one worker fails the others stop promptly.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/result.hpp>
#include <leat/comm/net/open_fabric.hpp>
#include <leat/comm/spawn.hpp>
#include <leat/core/config.hpp>
#include <leat/dataflow/worker.hpp>

namespace leat::dataflow {

namespace internal {
// What a function that returns nothing returns.
template <class R>
using ValueOf = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

/// Prints how workers failed; returns the exit code.
/// The first of them is worker `first`.
int report(const std::vector<comm::Ending>& endings, std::size_t first);
int report(const Error& refusal, int exit_code, bool is_help);
/// What `execute_from_args` makes of a command line.
struct CommandLine {
  core::Config config;
  std::vector<std::string> words;  // that are no flags
  std::optional<Error> refusal;
  int exit_code = 0;
  bool is_help = false;
};
CommandLine read_command_line(int argc, const char* const* argv);
template <class F>
concept TakesWords = std::is_invocable_v<const F&, Worker&, const std::vector<std::string>&>;
const Clock& steady_clock();
}  // namespace internal

/// How a run ended: per worker of this process its value, or the exception that left it.
template <class R>
class [[nodiscard]] Outcome {
 public:
  using Value = internal::ValueOf<R>;

  Outcome(std::vector<std::optional<Value>> values, std::vector<comm::Ending> endings,
          std::size_t first_worker = 0)
      : values_(std::move(values)), endings_(std::move(endings)), first_worker_(first_worker) {}
  Outcome(Error refusal, int exit_code, bool is_help)
      : refusal_(std::move(refusal)), exit_code_(exit_code), is_help_(is_help) {}

  /// Whether every worker returned.
  [[nodiscard]] bool ok() const noexcept {
    if (refusal_) return false;
    for (const auto& ending : endings_) {
      if (ending.error) return false;
    }
    return true;
  }
  /// How many workers ran in this process; 0 if none did.
  [[nodiscard]] std::size_t workers() const noexcept { return endings_.size(); }
  /// The number of the first of them. Below, `index` counts from it.
  [[nodiscard]] std::size_t first_worker() const noexcept { return first_worker_; }
  /// How worker `index` ended.
  [[nodiscard]] const comm::Ending& ending(std::size_t index) const { return endings_.at(index); }
  /// What worker `index` returned. Requires: it did; checked.
  [[nodiscard]] Value& value(std::size_t index) {
    LEAT_CHECK(values_.at(index).has_value(), "the value of a worker that failed");
    return *values_[index];
  }
  /// Why nothing was run, if nothing was: the command line was wrong, or asked for help.
  [[nodiscard]] const std::optional<Error>& refusal() const noexcept { return refusal_; }

  /// Throws what the failed worker with the lowest index threw, if one failed.
  void rethrow() const {
    if (refusal_) throw std::invalid_argument(refusal_->message);
    for (const auto& ending : endings_) {
      if (ending.error && !ending.stopped) std::rethrow_exception(ending.error);
    }
  }
  /// Prints what went wrong, if anything did, to standard error, and help to standard output.
  ///
  /// Returns: 0; 1 if a worker failed; 2 if the command line was wrong.
  [[nodiscard]] int exit_code() const {
    return refusal_ ? internal::report(*refusal_, exit_code_, is_help_)
                    : internal::report(endings_, first_worker_);
  }

 private:
  std::vector<std::optional<Value>> values_;
  std::vector<comm::Ending> endings_;
  std::size_t first_worker_ = 0;
  std::optional<Error> refusal_;
  int exit_code_ = 0;
  bool is_help_ = false;
};

/// Runs `f(Worker&)` on every worker of this process, and waits for all. If there are several processes
/// (`config.network`), finds the others first, and waits until they have ended, too.
///
/// Returns: how the workers of this process ended. If another process failed or was lost, that is how
/// all of them did. A refusal, if the processes did not find each other.
template <class F>
auto execute(const core::Config& config, const F& f) {
  static_assert(std::is_invocable_v<const F&, Worker&>,
                "execute: the function runs on several workers at once and is called through a "
                "const reference; "
                "a `mutable` lambda cannot be. Keep state inside it, per worker");
  using R = std::invoke_result_t<const F&, Worker&>;
  auto fabric = comm::open_fabric(config, internal::steady_clock());
  if (!fabric) return Outcome<R>(std::move(fabric).error(), config.workers == 0 ? 2 : 1, false);
  std::vector<std::optional<internal::ValueOf<R>>> values(config.workers);
  const Nanos begin = internal::steady_clock().now();  // what the logs of all workers count from
  auto endings = comm::run_workers(**fabric, [&](comm::Seat& seat, std::string& where) {
    Worker worker(seat, config, &internal::steady_clock(), begin);
    struct NoteWhere {
      const Worker& worker;
      std::string& where;
      ~NoteWhere() { where = worker.thrower(); }
    };
    const NoteWhere note{worker, where};
    if constexpr (std::is_void_v<R>) {
      f(worker);
      values[seat.place()].emplace();
    } else {
      values[seat.place()].emplace(f(worker));
    }
    while (worker.has_dataflows()) worker.step_or_park();
  });
  return Outcome<R>(std::move(values), std::move(endings), (*fabric)->first_worker());
}

/// The same with the command line's flags: `-w N`, `--idle-spin MICROS`, ... (`--help` lists them).
///
/// Words that are not flags are the program's own: an `f(Worker&, const std::vector<std::string>&)`
/// gets them, in their order and without `argv[0]`.
template <class F>
auto execute_from_args(int argc, const char* const* argv, const F& f) {
  static_assert(std::is_invocable_v<const F&, Worker&> || internal::TakesWords<F>,
                "execute_from_args: the function runs on several workers at once and is called "
                "through a const reference, with a worker or with a worker and the words; a "
                "`mutable` lambda cannot be. Keep state inside it, per worker");
  auto line = internal::read_command_line(argc, argv);
  const auto run = [&](Worker& worker) {
    if constexpr (internal::TakesWords<F>) {
      return f(worker, std::as_const(line.words));
    } else {
      return f(worker);
    }
  };
  using R = std::invoke_result_t<decltype(run), Worker&>;
  if (line.refusal) return Outcome<R>(std::move(*line.refusal), line.exit_code, line.is_help);
  return execute(line.config, run);
}
template <class F>
auto execute_from_args(int argc, char** argv, const F& f) {
  return execute_from_args(argc, const_cast<const char* const*>(argv), f);
}

/// Runs `f(Worker&)` with one worker on the caller's thread, until its dataflows have ended.
///
/// Errors: what `f` or an operator throws comes through.
template <class F>
auto execute_directly(F&& f) {
  comm::Fabric fabric(1);
  const core::Config config;
  struct Seated {
    comm::Seat& seat;
    explicit Seated(comm::Seat& s) : seat(s) { seat.enter(); }
    ~Seated() { seat.leave(); }
  };
  const Seated seated(fabric.seat(0));
  Worker worker(seated.seat, config, &internal::steady_clock());
  if constexpr (std::is_void_v<std::invoke_result_t<F&, Worker&>>) {
    f(worker);
    while (worker.has_dataflows()) worker.step_or_park();
  } else {
    auto result = f(worker);
    while (worker.has_dataflows()) worker.step_or_park();
    return result;
  }
}

/// Runs one dataflow, built by `build(Scope<std::uint64_t>&)`, on the caller's thread until it has
/// ended.
template <class Build>
auto example(Build&& build) {
  return execute_directly(
      [&](Worker& worker) { return worker.dataflow(std::forward<Build>(build)); });
}

}  // namespace leat::dataflow
