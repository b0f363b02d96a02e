// What      A supervisor: an actor that starts others, and starts them anew when they end as they
//           should not; that ends them in order when it ends itself; and that gives up when they
//           fail too often.
// Protocol  Supervisor tree = Supervisor::start(
//               {.strategy = Strategy::one_for_all, .intensity = 3, .period = seconds(5)},
//               {{.name = "store", .run = run_store}, {.name = "server", .run = run_server}});
//           ...
//           tree.stop();
//           A child of a supervisor may be a supervisor: `supervisor_child(options, children)`.
// Shape     One list of children, in the order of starting, and a table from Pid to child.
//             a child ends -> Restart says whether it is to run again
//               no:  it is taken note of (temporary: forgotten)
//               yes: too many restarts within the period? then the supervisor ends all, and
//                    itself, and its own supervisor decides
//                    else Strategy says who is stopped with it, in the reverse order of starting,
//                    and started again in that order; after a pause, if Backoff says so
// Invariants
//   (1) Children are stopped in the reverse order of starting, each before the next is asked to.
//   (2) A child is asked to end (Exit::shutdown), has its grace, and is then killed. Who does not
//       end even then, for it never waits or swallows it, is told to `on_straggler` and left behind.
//   (3) At most `intensity` restarts happen within any `period`; the next failure ends it.
//   (4) When the supervisor ends, in whatever way, its children are told to end.
// Limits    `run` is copied for each start. A child has no name twice. A start is done when the
//           actor is there; that its function got going is not waited for.
//           A child that was cancelled, or killed, counts as failed.
// Cost      Some 200 bytes a child beside its actor. Start, restart and removal do not depend on
//           how many children there are.
// Source    Erlang's supervisor, DynamicSupervisor of Elixir, backoff of Akka.
#pragma once

#include <leat/actor/exit.hpp>
#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/pid.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::actor {

/// Who is started anew with a child that failed.
enum class Strategy : unsigned char {
  one_for_one,   ///< nobody
  one_for_all,   ///< all others
  rest_for_one,  ///< those that were started after it
};

/// When a child is started anew.
enum class Restart : unsigned char {
  permanent,  ///< always
  transient,  ///< if it did not end normally, nor by a shutdown
  temporary,  ///< never; it is forgotten then
};

/// When a supervisor ends because of `significant` children that ended and are not restarted.
enum class AutoShutdown : unsigned char { never, any_significant, all_significant };

/// How long a supervisor waits before it starts a child anew: `first`, and `factor` times as long
/// after each further failure, up to `most`; each time shorter by up to `jitter` of it, drawn. A
/// child that lived for `most` begins anew.
struct Backoff {
  Nanos first{0};
  double factor = 2;
  Nanos most = std::chrono::seconds(30);
  double jitter = 0;
};

/// What a child does: a function of its own; what it returns is dropped, but an Exit.
class ChildFunction {
 public:
  ChildFunction() = default;
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, ChildFunction> && std::is_invocable_v<F&>)
  ChildFunction(F f)  // NOLINT: a function is one
      : call_([f = std::move(f)]() mutable -> Exit {
          if constexpr (std::is_same_v<std::invoke_result_t<F&>, Exit>) {
            return f();
          } else {
            (void)f();
            return Exit::normal();
          }
        }) {}

  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  Exit operator()() { return call_(); }

 private:
  std::function<Exit()> call_;
};

struct ChildSpec {
  std::string name = {};  ///< none: it can be had by its Pid only
  ChildFunction run = {};
  Restart restart = Restart::permanent;
  /// How long it may take to end; 0: it is killed at once; kNever: as long as it takes.
  Nanos grace = std::chrono::seconds(5);
  bool significant = false;    ///< see AutoShutdown; not for permanent children
  bool is_supervisor = false;  ///< for reports
  bool pinned = false;         ///< see SpawnOptions
  Backoff backoff = {};
};

struct SupervisorOptions {
  std::string name = "supervisor";
  Strategy strategy = Strategy::one_for_one;
  unsigned intensity = 1;  ///< restarts within `period`
  Nanos period = std::chrono::seconds(5);
  AutoShutdown auto_shutdown = AutoShutdown::never;
  /// How long a killed child may take to end before it is left behind.
  Nanos patience = std::chrono::seconds(1);
  /// Called by the supervisor for each child that does not end though it was killed. Default: a
  /// line on standard error.
  std::function<void(Pid, std::string_view name)> on_straggler = {};
  std::uint64_t seed = 1;  ///< for jitter
};

struct ChildReport {
  std::string name;
  Pid pid;  ///< none: it does not run
  Restart restart = Restart::permanent;
  bool is_supervisor = false;
  bool waits_for_restart = false;  ///< its backoff is not over
  std::uint64_t restarts = 0;
};

struct ChildCounts {
  std::size_t specs = 0;
  std::size_t active = 0;
  std::size_t supervisors = 0;
  std::size_t workers = 0;
};

/// A supervisor's name, and what it can be asked. Copies are of the same one.
///
/// Threads: actors of its runtime. Calls wait for the supervisor to answer, and throw Cancelled if
/// the caller is to end. If it has ended they say so as an Error.
class Supervisor {
 public:
  Supervisor() noexcept = default;
  /// One that runs already.
  explicit Supervisor(Pid pid) noexcept : pid_(pid) {}

  /// Starts a supervisor, which ends when the caller ends. Returns when its children are started.
  ///
  /// Throws: UsageError on a plain thread, or if the options make no sense.
  static Supervisor start(const SupervisorOptions& options, std::vector<ChildSpec> children);
  static Supervisor start(std::vector<ChildSpec> children);

  [[nodiscard]] Pid pid() const noexcept { return pid_; }

  /// Starts another child, behind the others.
  Result<Pid> start_child(ChildSpec spec) const;
  /// Ends a child; it is not started anew, but can be by `restart_child`. A temporary one is
  /// forgotten.
  Result<void> stop_child(std::string_view name) const;
  Result<void> stop_child(Pid pid) const;
  Result<Pid> restart_child(std::string_view name) const;
  /// Forgets a child that does not run.
  Result<void> forget_child(std::string_view name) const;
  /// In the order of starting.
  [[nodiscard]] std::vector<ChildReport> children() const;
  [[nodiscard]] ChildCounts count() const;
  /// The Pid of the child with that name; none if it does not run, or nobody has it.
  [[nodiscard]] Pid child(std::string_view name) const;

  /// Ends the children in order, then the supervisor. Returns: how it ended; no_actor if it had
  /// already.
  Exit stop() const;
  /// Waits until it has ended.
  Exit wait() const;

 private:
  Pid pid_;
};

/// Supervises in the running actor, until it is told to end. Returns: how it is to end.
Exit supervise(const SupervisorOptions& options, const std::vector<ChildSpec>& children);

/// A child that is a supervisor: it may take as long as it needs to end.
[[nodiscard]] ChildSpec supervisor_child(const SupervisorOptions& options,
                                         std::vector<ChildSpec> children);

}  // namespace leat::actor
