// What      Runtime: where actors run. A program makes one, or several with different settings, and
//           calls `run` with the first actor's function.
// Protocol  Runtime runtime(Config::exact(2));
//           const int n = runtime.run([] { return spawn([] { return 42; }).join(); });
//           Destroyed, it cancels what still runs, daemons included, and waits for it.
// Limits    Must outlive all handles of its actors. `run` is called by one plain thread at a time.
//           In the child of a fork a runtime with threads is none: it says so when it is used, and its
//           end does nothing.
// Source    smarm's Runtime; Tokio's for the current-thread one.
#pragma once

#include <leat/actor/config.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/stack/stack_report.hpp>
#include <leat/actor/supervise/shutdown.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace leat::actor {

class Scheduler;

class Runtime {
 public:
  /// Throws: UsageError if this machine cannot run actors.
  explicit Runtime(Config config = Config::current_thread());
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Runs `f` as an actor, and returns when it and all others but daemons have ended.
  ///
  /// Returns: what `f` returned. Throws: what it threw; UsageError if the caller is an actor.
  /// Threads: a plain one. Without threads of its own the runtime runs in it meanwhile.
  template <class F>
  internal::ValueOf<F> run(F&& f) {
    auto main = spawn(SpawnOptions{.name = "main"}, std::forward<F>(f));
    wait_until_quiet();
    return main.join();
  }

  /// Starts an actor. Threads: any. Without threads of its own the runtime runs it in `run`.
  template <class F>
  JoinHandle<internal::ValueOf<F>> spawn(const SpawnOptions& options, F&& f) {
    using Closure = std::decay_t<F>;
    internal::check_closure<Closure>();
    if (is_here()) return actor::spawn(options, std::forward<F>(f));
    Actor& actor = internal::vacant_from_outside(*scheduler_);
    try {
      internal::store<Closure>(actor, std::forward<F>(f));
      actor.type = &internal::TypeOf<Closure>::kType;
      internal::move_in(actor, nullptr, options);
    } catch (...) {
      give_back(actor);
      throw;
    }
    internal::start_from_outside(*scheduler_, actor);
    return JoinHandle<internal::ValueOf<F>>(actor);
  }
  template <class F>
  JoinHandle<internal::ValueOf<F>> spawn(F&& f) {
    return spawn(SpawnOptions{}, std::forward<F>(f));
  }

  /// Has an actor end at its next call that may wait. Returns: whether it lives. Threads: any.
  bool cancel(Pid pid) noexcept;
  [[nodiscard]] bool is_alive(Pid pid) const noexcept;

  /// Ends all its actors in order, daemons too; see supervise/shutdown.hpp. Without threads of its own the
  /// runtime runs in the caller meanwhile. Threads: a plain one, beside one that is in `run` if the
  /// runtime has threads. Throws: UsageError if the caller is an actor: there is `shut_down_others`.
  ShutdownReport shut_down(const ShutdownOptions& options = {});

  [[nodiscard]] const Config& config() const noexcept;

  /// What its workers have done so far; exact while nothing runs.
  struct Stats {
    std::uint64_t turns = 0;           ///< times that an actor was chosen to run
    std::uint64_t steals = 0;          ///< times that a worker took work of another
    std::uint64_t sleeps = 0;          ///< times that a worker went to sleep
    std::size_t stowed = 0;            ///< actors whose stacks are put away now
    std::vector<Nanos> time_of_group;  ///< how long actors of each group ran; empty without groups
  };
  [[nodiscard]] Stats stats() const noexcept;

  /// How deep actors used their stacks, by kind, those who used most first; of those that were measured
  /// (Config::measure_stacks) and have ended. Threads: any.
  [[nodiscard]] std::vector<StackUse> stack_use() const;

  /// For what is built on it.
  [[nodiscard]] Scheduler& scheduler() noexcept { return *scheduler_; }

 private:
  [[nodiscard]] bool is_here() const noexcept;
  void wait_until_quiet();
  void give_back(Actor& actor) noexcept;

  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace leat::actor
