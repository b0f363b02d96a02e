// What      Worker: runs the actors of one thread: chooses the next, goes over to it, and does for
//           the one it left what may only be done when its stack was left.
// Shape     An actor goes straight over to the next one; the worker's own stack runs only when there
//           is nothing to do:
//             actor A --switch--> actor B --switch--> actor C ... --switch--> worker: search, sleep
//           Chosen from, in this order: every kLookEvery turns the inbox and the timers; who was
//           woken or started last (at most kLifoMost times in a row); those that must stay here, and the
//           queue, in turn; the inbox; other workers' queues.
// Protocol  `yield`, `park` and `end` are called by the running actor. Each chooses, notes what is to
//           become of the caller in `departing_`, and switches; whoever runs next calls `settle`
//           first.
// Invariants
//   (1) An actor is in one place: running, in one queue, parked, or departing.
//   (2) Nobody can find an actor to run it before its stack was left, when there are other workers.
//       With one worker nobody can anyhow, so `solo` settles before the switch.
//   (3) No lock is taken, and with one worker no swap is made, between two turns.
//   (4) While one worker has nothing to do, timers fire that another does not come to.
// Limits    The queue of a solo worker is a list without bound, the others' hold 256 and spill half
//           into the inbox.
// Source    Go, Tokio; going over without the scheduler's stack: photon, libfork.
#pragma once

#include <leat/actor/fiber/carrier.hpp>
#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/scheduler/actor_list.hpp>
#include <leat/actor/scheduler/inbox.hpp>
#include <leat/actor/scheduler/lanes.hpp>
#include <leat/actor/scheduler/run_queue.hpp>
#include <leat/actor/scheduler/slots.hpp>
#include <leat/actor/stack/stack_pool.hpp>
#include <leat/actor/time/wheel.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/os/thread_sample.hpp>
#include <leat/base/rng.hpp>
#include <leat/core/idle_policy.hpp>
#include <leat/core/parker.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace leat::actor {

class alignas(kSector) Worker : public internal::Here {
  struct keep : Edge {};   // who puts into lifo_ -> who takes it: the actor is whole
  struct count : Edge {};  // a worker's counters -> who adds them up

 public:
  Worker(Scheduler& scheduler, std::size_t index, SoloMark* mark);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // -- by its thread ------------------------------------------------------------------------------

  /// Runs actors until `done()`, which is asked whenever there is nothing to run. The calling
  /// thread is the worker's meanwhile.
  template <class Done>
  void run(Done&& done) {
    const Attached attached(*this);
    while (!done()) {
      if (Actor* const actor = choose()) {
        resume(*actor);
      } else if (Actor* const found = search()) {
        resume(*found);
      } else if (!done()) {
        sleep();
      }
    }
  }

  // -- by a simulation, which runs all workers in one thread, a step at a time ----------------------

  /// Has actors come back to the worker's own stack after each turn.
  void set_stepped() noexcept {
    stepped_ = true;
    until_look_ = 1;
  }
  /// Lets some actor run that can, drawn by `rng`, for one turn. Returns: whether there was one.
  bool step(Rng& rng) noexcept;
  /// Says that it sleeps, unless there is news. Returns: whether it sleeps.
  bool fall_asleep() noexcept;
  /// Returns: whether somebody woke it since.
  bool wake_up() noexcept;
  /// Gets up by itself, for its timers.
  void get_up() noexcept;
  [[nodiscard]] std::optional<Nanos> next_timer() noexcept;

  // -- by the actor that runs on it -----------------------------------------------------------------

  /// Lets others run. Returns: at once, if there are none.
  void yield(Actor& self) noexcept;
  /// Sleeps until woken, at once if it was woken before; or until `deadline`.
  void park(Actor& self, Nanos deadline) noexcept;
  /// The actor's function has ended; its exit and its result lie in it.
  [[noreturn]] void end(Actor& self) noexcept;

  // These are not inlined: where the author's code is instrumented to be preempted, code that is
  // inlined into it is so, too.
  /// A slot for a new actor, which is the caller's to fill in, and then to `start`.
  [[nodiscard]] Actor& vacant();
  /// A vacant slot that nobody moved into.
  void give_back(Actor& actor) noexcept;
  void start(Actor& actor) noexcept;

  /// Queues an actor that was claimed, and could not be parked again: somebody woke it.
  void enqueue_claimed(Actor& actor) noexcept;
  /// Puts an actor that was woken to where it runs soon.
  void enqueue_woken(Actor& actor) noexcept;

  /// Wakes an actor of this worker, which is the only one. Threads: the worker.
  void wake_solo(Actor& actor) noexcept {
    if (!actor.state.wake(Sharing::solo)) return;
    Actor* const before = lifo_.load_relaxed();  // solo: all ours
    if (before != nullptr) [[unlikely]]
      list_.push(*before);
    lifo_.store_relaxed(&actor);
  }

  /// Takes back the slot of an actor that has ended, was left, and has no handle.
  void recycle(Actor& actor) noexcept;

  void disarm(Actor& actor) noexcept;

  [[nodiscard]] Scheduler& scheduler() const noexcept { return scheduler_; }
  /// Of the thread that runs it now. Threads: its own.
  [[nodiscard]] const Carrier& carrier() const noexcept { return *carrier_; }
  [[nodiscard]] Sharing sharing() const noexcept { return sharing_; }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  // -- by others ------------------------------------------------------------------------------------

  /// Gives some of its waiting actors to `thief`. Returns: one of them for the thief to run.
  [[nodiscard]] Actor* rob(Worker& thief) noexcept;
  [[nodiscard]] bool has_loot() const noexcept;
  void unpark() noexcept { parker_.unpark(); }
  [[nodiscard]] Inbox& inbox() noexcept { return inbox_; }
  /// What its groups had so far; null if there are none.
  [[nodiscard]] const Lanes* lanes() const noexcept { return lanes_.get(); }

  /// Has `look` run on the worker's thread, in a signal handler, unless it sleeps or has no thread.
  bool sample(os::SampleLook look, void* context);

  /// How many were started and have ended here; of all, or of those that are no daemons.
  struct Counts {
    Atomic<std::uint64_t> started{0};
    Atomic<std::uint64_t> ended{0};
  };
  [[nodiscard]] std::uint64_t started(bool daemons) const noexcept;
  [[nodiscard]] std::uint64_t ended(bool daemons) const noexcept;

  /// Counters that only grow; of use to tests and reports.
  struct Stats {
    std::uint64_t turns = 0;
    std::uint64_t steals = 0;
    std::uint64_t sleeps = 0;
  };
  /// Threads: the worker, or nobody runs.
  [[nodiscard]] Stats stats() const noexcept {
    return {turns_ + kLookEvery - until_look_, steals_, parker_.waits()};
  }

 private:
  enum class Departure : std::uint8_t { none, yields, parks, ends };

  class Attached {
   public:
    explicit Attached(Worker& worker) noexcept;
    ~Attached();

   private:
    Worker& worker_;
    Worker* before_;
  };

  static constexpr std::uint32_t kLookEvery = 61;
  static constexpr unsigned kLifoMost = 3;
  static constexpr Nanos kLookForStuck = std::chrono::milliseconds(2);

  static void enter(void* argument, void* message);

  static void preempted(void* worker) noexcept;
  [[nodiscard]] static bool allocated(void* worker) noexcept;

  [[nodiscard]] Actor* choose() noexcept;
  [[nodiscard]] Actor* choose_solo() noexcept;
  [[nodiscard]] Actor* choose_shared() noexcept;
  [[nodiscard]] Actor* choose_after_look() noexcept;
  [[nodiscard]] Actor* choose_by_shares() noexcept;
  void alone(Actor& self) noexcept;
  void stay(Actor& self) noexcept;
  [[nodiscard]] Actor* draw(Rng& rng) noexcept;
  [[nodiscard]] Actor* search() noexcept;
  bool take_timers_of_others() noexcept;
  void look_around() noexcept;
  void sleep() noexcept;
  [[nodiscard]] bool has_news() const noexcept;

  void enqueue(Actor& actor) noexcept;
  void enqueue_shared(Actor& actor) noexcept;
  void tell_others() noexcept;
  void send_on(Actor& actor) noexcept;
  void run_soon(Actor& actor) noexcept;

  [[nodiscard]] bool prepare(Actor& actor) noexcept;
  void resume(Actor& actor) noexcept;
  [[nodiscard]] Fiber& go_on_with(Actor* next) noexcept;
  void leave(Actor& self, Actor* next) noexcept;
  void settle() noexcept;
  bool finish(Actor& actor, bool leaves) noexcept;
  void fire_joiners(const ObjectLock::Guard& guard, Actor& actor) noexcept;
  [[nodiscard]] Stack take_stack(Actor& actor) noexcept;
  void finish_with_estate(Actor& actor) noexcept;
  void left(Actor& actor) noexcept;
  void count_started(bool daemon) noexcept;
  void count_ended(bool daemon) noexcept;
  void arm(Actor& actor, Nanos deadline) noexcept;

  Scheduler& scheduler_;
  const Sharing sharing_;
  const std::size_t index_;

  Carrier* carrier_ = nullptr;  // of the thread that runs it
  Turn* turn_ = nullptr;        // of the same
  Fiber own_;
  Actor* departing_ = nullptr;
  Departure departure_ = Departure::none;
  unsigned lifo_runs_ = 0;
  std::uint32_t until_look_ = kLookEvery;  // turns until we look around
  std::uint64_t turns_ = 0;                // when until_look_ was set last
  ActorList list_;                         // all, if solo; otherwise those that may not leave
  Atomic<Actor*> lifo_{nullptr};
  Atomic<std::uint32_t> lifo_puts_{0};  // written by the worker
  StackCache stacks_;
  SlotCache slots_;
  Counts counts_[2];  // by `daemon`; written by the worker
  std::uint64_t steals_ = 0;
  Rng rng_;
  core::IdlePolicy idle_;
  std::unique_ptr<Lanes> lanes_;      // if there are groups; all that can run then
  std::uint32_t turns_unlooked_ = 0;  // with lanes: since we looked around
  bool searching_ = false;
  bool stepped_ = false;
  const bool migrate_;        // see Config::migrate_always
  bool back_to_run_ = false;  // the caller of run is to have its thread back
  Turn::Before before_;       // what its thread was before it ran here

  std::vector<std::uint32_t> lifo_seen_;  // of each worker: its lifo_puts_ when we looked last

  ObjectLock wheel_lock_;
  Wheel wheel_;  // guarded by wheel_lock_, unless solo

  RunQueue<Actor> queue_;
  core::Parker parker_;
  std::mutex thread_mutex_;
  os::SampledThread thread_ = 0;  // guarded by thread_mutex_; who runs it
  Inbox inbox_;                   // for those that must run here
};

inline Actor* Worker::choose_solo() noexcept {
  Actor* const woken = lifo_.load_relaxed();  // solo: all ours
  if (woken != nullptr && lifo_runs_ < kLifoMost) {
    lifo_.store_relaxed(nullptr);
    ++lifo_runs_;
    return woken;
  }
  lifo_runs_ = 0;
  if (Actor* const actor = list_.pop()) return actor;
  if (woken != nullptr) lifo_.store_relaxed(nullptr);
  return woken;
}

inline Actor* Worker::choose() noexcept {
  if (--until_look_ == 0) [[unlikely]]
    return choose_after_look();
  return sharing_ == Sharing::solo ? choose_solo() : choose_shared();
}

// The way over is inlined up to the author's code: a return on another stack than its call was made
// on is predicted wrongly, and costs more than all the rest.
[[gnu::always_inline]] inline Fiber& Worker::go_on_with(Actor* next) noexcept {
  turn_->set_actor(next);
  if (next == nullptr) [[unlikely]]
    return own_;
  next->here = this;
  if (next->stack) [[likely]]
    return next->fiber;
  if (prepare(*next)) [[likely]]
    return next->fiber;
  turn_->set_actor(nullptr);
  list_.push(*next);  // without a stack it cannot run; our own stack takes care of it
  return own_;
}

[[gnu::always_inline]] inline void Worker::leave(Actor& self, Actor* next) noexcept {
  auto* const there =
      static_cast<Worker*>(switch_to(*carrier_, self.fiber, go_on_with(next), this));
  // Perhaps another thread by now.
  if (there->departure_ != Departure::none) there->settle();
  turn().begin(self.held);
}

[[gnu::always_inline]] inline void Worker::yield(Actor& self) noexcept {
  self.held = turn().end(self.reductions);
  Actor* const next = choose();
  if (next == nullptr) [[unlikely]] {
    alone(self);
    return;
  }
  if (sharing_ == Sharing::solo) {
    list_.push(self);
  } else {
    departing_ = &self;
    departure_ = Departure::yields;
  }
  leave(self, next);
}

[[gnu::always_inline]] inline void Worker::park(Actor& self, Nanos deadline) noexcept {
  self.held = turn().end(self.reductions);
  const bool timed = deadline != kNever;
  if (sharing_ == Sharing::solo) {
    if (!self.state.park(Sharing::solo)) {
      turn().begin(self.held);
      return;
    }
  } else {
    if (self.state.take_token()) {
      turn().begin(self.held);
      return;
    }
  }
  if (timed) [[unlikely]]
    arm(self, deadline);
  Actor* const next = choose();
  if (sharing_ == Sharing::shared) {
    departing_ = &self;
    departure_ = Departure::parks;
  }
  leave(self, next);
  if (timed) [[unlikely]]
    self.timer_worker->disarm(self);
}

/// The worker that the caller runs on, as an actor or as its scheduler; null on a plain thread.
[[nodiscard]] inline Worker* this_worker() noexcept {
  return static_cast<Worker*>(internal::here());
}
[[nodiscard]] inline Worker& worker_of(const Actor& actor) noexcept {
  return static_cast<Worker&>(*actor.here);
}

}  // namespace leat::actor
