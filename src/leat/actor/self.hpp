// What      What an actor may ask and do about itself: who it is, let others run, wait for a time,
//           be left alone.
// Limits    `yield_now`, `sleep_*` and `check_cancelled` also work on plain threads.
#pragma once

#include <leat/actor/pid.hpp>
#include <leat/actor/scheduler/worker.hpp>
#include <leat/actor/wait/waiter.hpp>
#include <leat/base/clock.hpp>

#include <thread>

namespace leat::actor {

/// The running actor's name; none on a plain thread.
[[nodiscard]] inline Pid self() noexcept {
  const Actor* const actor = this_actor();
  return actor == nullptr ? Pid() : actor->pid();
}

/// Lets others run, if there are any.
///
/// Throws: Cancelled, if the actor is to end.
[[gnu::always_inline]] inline void yield_now() {
  Actor* const actor = this_actor();
  if (actor == nullptr) {
    std::this_thread::yield();
    return;
  }
  worker_of(*actor).yield(*actor);
  if (actor->orders.load_relaxed() != 0) [[unlikely]]  // who gives one wakes us, or we look again
    check_cancelled();
}

/// Waits until `deadline` (of `now_here()`) has come. Never returns earlier; Throws: Cancelled.
void sleep_until(Nanos deadline);
/// Waits for `time`.
inline void sleep_for(Nanos time) { sleep_until(deadline_after(time)); }

/// Has the actor with that name, of this runtime, end at its next call that may wait.
///
/// Returns: whether it lives. Requires: the caller is an actor, or UsageError.
bool cancel(Pid pid);

/// From now on the running actor's rounding, traps and denormals (its floating point control) are its
/// own: what it changes others do not see, and what others change it does not see. Call it before the
/// first change. Cost: some 3 ns for each switch from and to it. On a plain thread it does nothing.
void keep_float_control() noexcept;

/// Puts the stacks of all actors of the caller's runtime away that wait and may be stowed
/// (SpawnOptions::stows), without waiting for Config::stow_after.
///
/// Returns: how many those were. Requires: the caller is an actor, or UsageError.
std::size_t stow_idle_actors();

/// The running actor is not told to end while one of these lives: for work that must be finished.
class [[nodiscard]] CancelShield {
 public:
  CancelShield() noexcept : actor_(this_actor()) {
    if (actor_ != nullptr) ++actor_->shields;
  }
  CancelShield(const CancelShield&) = delete;
  CancelShield& operator=(const CancelShield&) = delete;
  ~CancelShield() {
    if (actor_ != nullptr) --actor_->shields;
  }

 private:
  Actor* actor_;
};

/// The running actor, and the actors it starts, are to end at `deadline`, or earlier if they were to
/// before. On a plain thread it does nothing.
class [[nodiscard]] Deadline {
 public:
  explicit Deadline(Nanos deadline) noexcept : actor_(this_actor()) {
    if (actor_ == nullptr) return;
    before_ = actor_->deadline;
    if (deadline < before_) actor_->deadline = deadline;
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    if (actor_ != nullptr) actor_->deadline = before_;
  }

 private:
  Actor* actor_;
  Nanos before_ = kNever;
};

}  // namespace leat::actor
