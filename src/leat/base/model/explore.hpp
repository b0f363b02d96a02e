// What      The model checker: runs a small concurrent test in every interleaving, within a bound
//           on preemptions, and with every value that the C++ memory model lets a load return.
// Shape     model::Result r = model::explore({.preemptions = 2}, [](model::Run& run) {
//             auto ring = std::make_shared<SpscRing<int, 2>>();
//             run.thread([=] { ring->try_push(1); });
//             run.thread([=] {
//               if (auto got = ring->try_pop()) model::require(*got == 1, "torn");
//             });
//             run.join();
//             model::require(ring->size_approx() <= 1, "one record at most is left");
//           });
//           EXPECT_TRUE(r.ok) << r.failure;
//           A broken twin runs the same body with one edge weakened, or one mutant on:
//           EXPECT_FALSE(model::explore({.weaken = {"publish"}}, body).ok);
// Protocol  The body runs once per execution, as thread T0; it makes fresh objects each time, adds
//           threads (T1, T2, ...) and joins them. Only leat::Atomic, leat::Plain, futexes and
//           spin_pause are seen; the body must do the same thing each time otherwise: no clock, no
//           random numbers, no addresses in decisions, no real threads, no std::mutex held across
//           an atomic operation.
// Limits    8 threads with T0, 256 seq_cst operations in one execution. Works only in code compiled
//           with LEAT_MODEL=1. An execution that ends early (a failure, or a promise not kept) is
//           left, not unwound: what its stacks owned leaks.
// Cost      About a microsecond an operation.
// Source    The search is that of CHESS (Musuvathi and Qadeer 2007: bounded preemptions), the
//           sampling that of Burckhardt and others (2010: probabilistic concurrency testing), with
//           surprises of the memory added as Gao and others do (2023). The memory model is
//           described in memory.hpp; docs/protocols/model_checker.md explains all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <leat/base/type_name.hpp>

namespace leat::model {

inline constexpr int kUnbounded = 1'000'000;

/// How to look at some executions of a test that is too large to look at all of them.
///
/// A bug that needs `depth` ordered steps in n threads of k steps is hit by one execution with a
/// probability of at least 1 / (n * k^(depth - 1)), whatever else the threads do. Surprises are
/// drawn beside that.
struct Sampling {
  /// How many; 0: look at all, within the bounds of Options. LEAT_MODEL_EXECUTIONS overrides it.
  std::uint64_t executions = 0;

  /// The same seed samples the same executions. LEAT_MODEL_SEED overrides it.
  std::uint64_t seed = 1;

  /// Each execution has depth - 1 steps, drawn at random, at which the thread that runs goes behind
  /// all others.
  int depth = 3;

  /// And so many operations with an outcome other than the ordinary: a stale load, a store that
  /// another one overtook, a spurious failure.
  int surprises = 2;
};

/// How far to look. The defaults suit a test of two or three threads with a few steps each.
struct Options {
  /// Switches away from a thread that could go on. Those at a block, a pause or an end are free.
  int preemptions = 2;

  /// Edges to weaken, by name: `publish`, or `SpscRing::publish` where a name is not enough, or
  /// `publish/acquire` and `publish/release` for one half. A weakened half is relaxed.
  std::vector<std::string> weaken{};

  /// Names for which LEAT_MUTANT is true.
  std::vector<std::string> mutants{};

  /// Loads that may read a store which is made only later (load buffering), at once open. Such
  /// outcomes need relaxed accesses; the search grows a lot.
  int promises = 0;

  /// How often a thread may read the same stale store in a row before it sees a newer one.
  int stale_repeats = 2;

  /// How often a thread may pause in a row before others must have made a step.
  int pauses = 2;

  /// Compare-exchanges that fail for no reason, and futex waits that return for no reason (or time
  /// out early, if they have a timeout), in one execution.
  int spurious_failures = 1;
  int spurious_wakeups = 1;

  /// Where to give up: `complete` is then false. And when one execution counts as endless.
  std::uint64_t executions_max = 2'000'000;
  int steps_max = 2'000;

  /// Instead of a search: preemptions are then bounded by nothing but the depth.
  Sampling sampling{};
};

/// What a search found.
struct Result {
  bool ok = false;        ///< No execution failed.
  bool complete = false;  ///< All executions within the bounds were tried; never of a sample.
  std::uint64_t executions = 0;
  std::string failure{};   ///< What broke, the schedule, and each step; empty if nothing did.
  std::string schedule{};  ///< Of the failing execution: `replay` takes it.
  std::map<std::string, std::uint64_t> outcomes{};  ///< What Run::outcome was told, and how often.
};

namespace internal {
class Engine;
}

/// One execution, to its body.
class Run {
 public:
  explicit Run(internal::Engine& engine) noexcept : engine_(engine) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Adds a thread. It starts at the next `join`; it sees all that happened so far.
  ///
  /// Returns: its number.
  int thread(std::function<void()> body);

  /// Starts the threads added since the last join and waits until all have ended.
  void join();

  /// Counts `what` in Result::outcomes, if the execution turns out to be a possible one.
  void outcome(std::string what);

  /// Calls the atomic at `object` so in the steps of a failure.
  void name(const void* object, std::string name);

 private:
  internal::Engine& engine_;
};

/// Runs `body` in every execution within the bounds of `options`, until one fails.
///
/// Threads:  one exploration at a time in one thread. With LEAT_MODEL_REPLAY=<schedule> in the
///           environment it replays that schedule instead and prints the steps on standard error.
[[nodiscard]] Result explore(const Options& options, const std::function<void(Run&)>& body);

/// Runs the one execution that `schedule` names; `failure` has its steps in any case.
[[nodiscard]] Result replay(const Options& options, std::string_view schedule,
                            const std::function<void(Run&)>& body);

/// Fails the execution unless `condition` holds.
void require(bool condition, std::string_view what);

/// The number of the calling model thread; -1 outside an exploration.
[[nodiscard]] int self() noexcept;

/// The name of edge `E` for Options::weaken.
template <class E>
[[nodiscard]] std::string edge() {
  return std::string(type_name<E>());
}

}  // namespace leat::model
