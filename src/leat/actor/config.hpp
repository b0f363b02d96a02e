// What      Config: what a runtime of actors is told. Start with `exact` or `current_thread`, change
//           what you need: Config::exact(2).timeslice_cycles(150'000).
// Limits    Values are checked where they are given, and refused with a UsageError.
// Source    smarm's Config.
#pragma once

#include <leat/actor/pid.hpp>
#include <leat/actor/stack/stack.hpp>
#include <leat/base/clock.hpp>
#include <leat/core/idle_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat::actor {

class Exit;

/// Allocations between two looks at the clock of the processor.
inline constexpr std::uint32_t kDefaultAllocInterval = 128;
/// How long an actor may run before it is asked to let others run; about 0.14 ms at 2.1 GHz.
inline constexpr std::uint64_t kDefaultTimesliceCycles = 300'000;

/// A scheduling group: actors that together get a share of each worker's time. 0 is that of all who
/// are in no other.
enum class Group : std::uint8_t { common = 0 };

/// An actor that does not let others run.
struct Stall {
  Pid pid;
  std::string name;
  std::size_t worker = 0;
  Nanos time{0};                   ///< for so long at least
  std::vector<std::string> calls;  ///< under way in it, the innermost first
};

class Config {
 public:
  static constexpr std::size_t kThreadsMax = 1024;
  static constexpr std::size_t kGroupsMax = 16;

  /// A runtime with `threads` worker threads of its own, from 1 to kThreadsMax.
  static Config exact(std::size_t threads);
  /// A runtime without threads: its actors run in whoever calls `Runtime::run`, meanwhile.
  static Config current_thread();
  /// The same, and time is virtual: it stands while an actor can run, and jumps to the next timer
  /// when none can. `now_here()` starts at 0.
  static Config virtual_time();

  /// Look at the time slice after each `allocations` allocations of an actor; 0: never.
  Config& alloc_interval(std::uint32_t allocations);
  /// How many cycles of the processor's clock an actor may run on; 0: each look ends its turn.
  Config& timeslice_cycles(std::uint64_t cycles);
  /// Slices by a thread that ticks each `period` instead of by the processor's clock: an actor's turn
  /// is over when it has ticked since the first look. The default where that clock is not steady.
  Config& timeslice_tick(Nanos period);
  /// How many idle stacks are kept for ever. Default: 4 for each thread.
  Config& stack_pool_cap(std::size_t stacks);
  /// How large an actor's stack is, its guard included.
  Config& stack(StackClass size);
  /// How long a worker with nothing to do polls before it sleeps.
  Config& idle_spin(Nanos most);
  /// Where time comes from; it must outlive the runtime. Not for `virtual_time`.
  Config& clock(const Clock& source);
  /// Called, by the worker, with each failure that nobody joins: the actor, its name, why. Default:
  /// a line on standard error.
  Config& on_lost_failure(std::function<void(Pid, std::string_view name, const Exit&)> tell);

  /// Called with each message that its receiver will never see, since it has ended: whose it was, and
  /// its type. By whoever sends it, or by the worker on which the receiver ends. Default: it is counted.
  Config& on_dead_letter(std::function<void(Pid, std::string_view type)> tell);

  /// Slows down who sends to an actor that has more than so many messages in its mailbox, and did not
  /// bound it: after each such message the sender waits until there are half as many, but not for long,
  /// and not if it has too many itself; so actors that send to each other in a circle go on. Default: 0,
  /// nobody. It is for actors of the same runtime; signals, and `try_send`, are exempt.
  Config& slow_senders_above(std::size_t messages);

  /// Has `tell` called, by a thread of its own, when an actor has run for `after` without letting others
  /// run; once for each such turn. Workers that do not sleep are interrupted by a signal twice in that time.
  /// Not with virtual time.
  Config& on_stall(Nanos after, std::function<void(const Stall&)> tell);

  /// An actor that overflows its stack, reads through null or divides by zero ends alone, killed;
  /// without this the process ends, and says which actor it was. Its frames are not unwound: what
  /// they own leaks. Default: false.
  Config& contain_faults(bool contain);
  /// Gives a scheduling group `shares` of each worker's time, as long as it has actors that can run;
  /// what others do not need is everybody's. Whoever is in no group is in Group::common, which has 100
  /// shares unless it is given others. Cost: each turn then reads the clock, and sorts by group.
  Config& group(Group which, std::uint32_t shares);
  static constexpr std::uint32_t kCommonShares = 100;

  /// How long an actor that may be stowed (SpawnOptions::stows) waits until its stack is put away.
  /// Default: 100 ms.
  Config& stow_after(Nanos idle);
  /// While the process has more resident memory than that they are stowed at once. Default: no limit.
  Config& stow_above(std::size_t resident_bytes);

  /// Has the depth of one of `every` actors' stacks measured: Runtime::stack_use. Default: 0, of none.
  Config& measure_stacks(std::uint32_t every);

  /// For tests: each actor goes on on another worker after each wait and each yield, unless it is
  /// pinned: finds what was kept of a thread where it should not be. Default: false.
  Config& migrate_always(bool migrate);
  /// For simulations: how many workers there are, none of which has a thread.
  Config& simulated_workers(std::size_t workers);

  /// Takes LEAT_ALLOC_INTERVAL and LEAT_TIMESLICE_CYCLES from the environment, where they are set.
  /// Throws: UsageError if one is no number.
  Config& from_environment();

  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }  ///< 0: current thread
  [[nodiscard]] std::size_t workers() const noexcept {
    return threads_ == 0 ? simulated_ : threads_;
  }
  [[nodiscard]] std::uint32_t alloc_interval() const noexcept { return alloc_interval_; }
  [[nodiscard]] std::uint64_t timeslice_cycles() const noexcept { return timeslice_cycles_; }
  /// 0: by the processor's clock.
  [[nodiscard]] Nanos timeslice_tick() const noexcept { return timeslice_tick_; }
  [[nodiscard]] std::size_t stack_pool_cap() const noexcept {
    return stack_pool_cap_.value_or(4 * workers());
  }
  [[nodiscard]] StackClass stack() const noexcept { return stack_; }
  [[nodiscard]] Nanos idle_spin() const noexcept { return idle_spin_; }
  [[nodiscard]] const Clock* clock() const noexcept { return clock_; }
  [[nodiscard]] bool contains_faults() const noexcept { return contain_faults_; }
  /// By group; 0: there is no such group. Empty: there are none.
  [[nodiscard]] const std::vector<std::uint32_t>& shares() const noexcept { return shares_; }
  [[nodiscard]] Nanos stow_after() const noexcept { return stow_after_; }
  [[nodiscard]] std::size_t stow_above() const noexcept { return stow_above_; }
  [[nodiscard]] std::uint32_t measure_stacks() const noexcept { return measure_stacks_; }
  [[nodiscard]] bool migrates_always() const noexcept { return migrate_always_; }
  [[nodiscard]] bool is_virtual_time() const noexcept { return virtual_time_; }
  [[nodiscard]] const auto& on_lost_failure() const noexcept { return on_lost_failure_; }
  [[nodiscard]] const auto& on_dead_letter() const noexcept { return on_dead_letter_; }
  /// 0: nobody is slowed down.
  [[nodiscard]] std::size_t slow_senders_above() const noexcept { return slow_senders_above_; }
  [[nodiscard]] const auto& on_stall() const noexcept { return on_stall_; }
  [[nodiscard]] Nanos stall_after() const noexcept { return stall_after_; }

 private:
  Config();

  std::size_t threads_ = 0;
  std::size_t simulated_ = 1;
  bool virtual_time_ = false;
  bool contain_faults_ = false;
  bool migrate_always_ = false;
  std::uint32_t measure_stacks_ = 0;
  std::uint32_t alloc_interval_ = kDefaultAllocInterval;
  std::uint64_t timeslice_cycles_ = kDefaultTimesliceCycles;
  Nanos timeslice_tick_{0};
  Nanos stow_after_ = std::chrono::milliseconds(100);
  std::size_t stow_above_ = std::numeric_limits<std::size_t>::max();
  std::vector<std::uint32_t> shares_;
  std::optional<std::size_t> stack_pool_cap_;
  StackClass stack_ = StackClass::k64KiB;
  Nanos idle_spin_ = core::IdlePolicy::kIdleSpin;
  const Clock* clock_ = nullptr;
  std::function<void(Pid, std::string_view, const Exit&)> on_lost_failure_;
  std::function<void(Pid, std::string_view)> on_dead_letter_;
  std::function<void(const Stall&)> on_stall_;
  Nanos stall_after_{0};
  std::size_t slow_senders_above_ = 0;
};

}  // namespace leat::actor
