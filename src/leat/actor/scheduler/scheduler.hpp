// What      Scheduler: one runtime from the inside: its workers and threads, its slots and stacks,
//           and how others reach its actors. Authors see Runtime.
// Invariants
//   (1) `started` and `ended` only grow; ended is never more than started. Read all of ended first,
//       then all of started: if they are equal, nothing was alive between the two.
// Limits    Internal.
#pragma once

#include <leat/actor/config.hpp>
#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/preempt/ticker.hpp>
#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/scheduler/idle_workers.hpp>
#include <leat/actor/scheduler/inbox.hpp>
#include <leat/actor/scheduler/parts.hpp>
#include <leat/actor/scheduler/slots.hpp>
#include <leat/actor/scheduler/stower.hpp>
#include <leat/actor/scheduler/worker.hpp>
#include <leat/actor/stack/stack_pool.hpp>
#include <leat/actor/stack/stack_report.hpp>
#include <leat/actor/supervise/names.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace leat::actor {

namespace internal {
/// The runtimes of the process, linked by `next_`: for debuggers, see tools/gdb/leat_actors.py.
extern Scheduler* first_scheduler;
}  // namespace internal

class Scheduler {
  struct over : Edge {};   // who ends the runtime -> its workers
  struct count : Edge {};  // foreign starts -> who adds them up

 public:
  /// `stepped`: its workers get no threads; whoever made it steps them.
  explicit Scheduler(Config config, bool stepped = false);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  /// Cancels what still runs and waits for it.
  ~Scheduler();

  /// Has an actor run that was filled in by a plain thread. Threads: any.
  void start_from_outside(Actor& actor) noexcept;
  /// Throws: std::bad_alloc; UsageError in the child of a fork.
  [[nodiscard]] Actor& vacant_from_outside() {
    check_threads("to start an actor");
    return *slots_.take(1);
  }

  /// Wakes an actor of this runtime. Requires: it cannot go away meanwhile. Threads: any.
  void wake(Actor& actor) noexcept;

  /// Parks an actor that the caller claimed (RunState), or has it run if it was woken meanwhile.
  /// Threads: any; of a solo worker its own, or whoever would run it.
  void let_go_of_claimed(Actor& actor) noexcept;

  /// Runs, or waits, until all but daemons have ended. Threads: a plain one; one at a time.
  void run_until_quiet();
  /// Runs, or waits, until that actor has ended, whose handle the caller has. Threads: the same.
  void run_until_ended(Actor& actor);

  /// Has the actor end at its next call that may wait. Returns: whether it lives. Threads: any.
  bool cancel(Pid pid) noexcept;
  [[nodiscard]] bool is_alive(Pid pid) noexcept;
  void cancel(Actor& actor) noexcept;

  /// Wakes whoever waits for quiet, if it is. Workers ask now and then, and before they sleep.
  ///
  /// Returns: whether somebody waits and it is.
  bool look_for_quiet() noexcept {
    const std::uint32_t awaited = awaited_.load_relaxed();  // asked again before each sleep
    return awaited != kNothing && tell_quiet(awaited);
  }

  /// Gives a parent the news of its child's end. Returns: whether it lives.
  bool deliver(internal::LetterPtr farewell, Pid parent) noexcept;

  [[nodiscard]] Names& names() noexcept { return names_; }
  [[nodiscard]] Parts& parts() noexcept { return parts_; }

  /// Takes note of a message that came too late for its receiver, and tells who wants to know.
  void dead_letter(Pid to, std::string_view type) noexcept {
    dead_letters_.fetch_add_relaxed(1);  // a figure for reports
    if (config_.on_dead_letter()) config_.on_dead_letter()(to, type);
  }
  [[nodiscard]] std::uint64_t dead_letters() const noexcept { return dead_letters_.load_relaxed(); }

  /// Ends the tenancy of an actor that has ended, was left, and has no handle: nothing of it stays.
  /// `mark`: the caller's.
  void vacate(Actor& actor, SoloMark* mark) noexcept;
  /// The same from a plain thread, or another runtime; its slot is given back.
  void recycle_from_outside(Actor& actor) noexcept;

  /// Hands a failure that nobody will look at to who wants to know.
  void tell_failure(Pid pid, std::string_view name, const Exit& exit) const noexcept;

  /// A number for an actor with a name or a parent, in the order of starting. Threads: any.
  [[nodiscard]] std::uint64_t next_place() noexcept {
    return places_.fetch_add_relaxed(1) + 1;  // it orders nothing but numbers
  }

  /// Called where an actor is about to take a lock, and nowhere if it is the only worker's; a
  /// simulation chooses there who goes on.
  using Point = void (*)(void* context, Actor& self);
  void set_point(Point call, void* context) noexcept {
    point_ = call;
    point_context_ = context;
  }
  void point(Actor& self) const {
    if (point_ != nullptr) point_(point_context_, self);
  }

  /// The same where an actor has allocated, if its program links leat::actor_preempt; whether the
  /// allocation is to fail.
  using Allocated = bool (*)(void* context, Actor& self);
  void set_allocated(Allocated call) noexcept { allocated_ = call; }
  [[nodiscard]] bool has_allocated() const noexcept { return allocated_ != nullptr; }
  [[nodiscard]] bool allocated(Actor& self) const { return allocated_(point_context_, self); }

  /// Whether nothing lives; `daemons`: not even daemons.
  [[nodiscard]] bool is_quiet(bool daemons) const noexcept;

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  /// The virtual clock, if time is virtual.
  [[nodiscard]] SettableClock* virtual_clock() noexcept { return virtual_clock_.get(); }
  [[nodiscard]] Slots& slots() noexcept { return slots_; }
  [[nodiscard]] StackPool& stacks() noexcept { return stacks_; }
  [[nodiscard]] Stower& stower() noexcept { return stower_; }
  [[nodiscard]] StackReport& stack_report() noexcept { return stack_report_; }
  [[nodiscard]] Sharing sharing() const noexcept {
    return config_.workers() == 1 ? Sharing::solo : Sharing::shared;
  }
  /// The number of a group. Throws: UsageError if the configuration does not have it.
  [[nodiscard]] std::uint8_t known_group(Group group) const;
  [[nodiscard]] Inbox& inbox() noexcept { return inbox_; }
  [[nodiscard]] IdleWorkers& idle() noexcept { return idle_; }
  [[nodiscard]] std::size_t worker_count() const noexcept { return workers_.size(); }
  [[nodiscard]] Worker& worker(std::size_t index) noexcept { return *workers_[index]; }
  /// What its turns go by instead of the processor's clock; null: they go by that.
  [[nodiscard]] Ticker* ticker() noexcept { return ticker_.get(); }

  /// Whether this is the child of a fork, and its threads stayed with the parent.
  [[nodiscard]] bool was_left_by_threads() const noexcept;
  /// Throws: UsageError if so.
  void check_threads(const char* what) const;

  [[nodiscard]] bool stopping() const noexcept { return stopping_.load_acquire(over{}); }

 private:
  // What whoever runs the runtime waits for.
  static constexpr std::uint32_t kNothing = 0;
  static constexpr std::uint32_t kAllButDaemons = 1;
  static constexpr std::uint32_t kAll = 2;
  static constexpr std::uint32_t kOneActor = 3;

  bool tell_quiet(std::uint32_t awaited) noexcept;
  [[nodiscard]] bool has_come(std::uint32_t awaited) const noexcept;
  void vacate_failed(Actor& actor, SoloMark* mark) noexcept;
  void await_quiet(std::uint32_t awaited);
  void enlist() noexcept;
  void delist() noexcept;
  void run_thread(Worker& worker);

  const Config config_;
  const std::unique_ptr<SettableClock> virtual_clock_;
  const RealClock real_clock_;
  const Clock& clock_;
  SoloMark* const mark_;
  StackPool stacks_;
  Slots slots_;
  Stower stower_;
  StackReport stack_report_;
  Inbox inbox_;
  IdleWorkers idle_;
  Names names_;
  Parts parts_;
  Atomic<std::uint64_t> dead_letters_{0};
  Atomic<std::uint64_t> places_{0};
  Worker::Counts outside_[2];  // started by plain threads, by `daemon`
  Atomic<std::uint32_t> awaited_{kNothing};
  Actor* awaited_actor_ = nullptr;  // with kOneActor, which only those without threads wait for
  Atomic<bool> stopping_{false};
  const std::uint32_t forks_ = forks_so_far();
  std::unique_ptr<Ticker> ticker_;
  core::Parker waiter_;  // of whoever waits for quiet while threads run
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  Point point_ = nullptr;
  void* point_context_ = nullptr;
  Allocated allocated_ = nullptr;
  Scheduler* next_ = nullptr;  // of all in the process
};

}  // namespace leat::actor
