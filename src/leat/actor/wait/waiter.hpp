// What      How an actor or a plain thread waits for something that an ObjectLock guards: Who is to
//           be woken, a list of those who wait, and the wait itself.
// Protocol  Waiter: lock; look; if it is not there, `wait(guard, list)`, which lists the caller,
//           lets go of the lock, sleeps, and comes back with the lock held; look again.
//           Waker: lock; make it be there; `list.fire_one()` or `fire_all()`, under the lock.
// Invariants
//   (1) A waiter is woken under the lock, and takes the lock before it goes on: so who wakes never
//       touches a waiter that has gone.
//   (2) `fired` is said once, by who takes the waiter off the list.
//   (3) Nothing of a waiting actor that others touch lies on its stack.
// Limits    A waiter may wake for nothing; `wait` sleeps on then.
// Cost      An actor: no allocation, no system call. A thread: a futex.
#pragma once

#include <leat/actor/wait/object_lock.hpp>
#include <leat/base/clock.hpp>
#include <leat/core/parker.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::actor {

struct Actor;

/// For ever.
inline constexpr Nanos kNever = Nanos::max();

/// One who can be woken: an actor, or a thread by its parker.
class Who {
 public:
  Who() noexcept = default;
  explicit Who(Actor& actor) noexcept : actor_(&actor) {}
  explicit Who(core::Parker& parker) noexcept : parker_(&parker) {}

  /// Requires: it cannot go away meanwhile, see invariant (1). Threads: any.
  void wake() const noexcept;

  /// The actor; null if it is a thread.
  [[nodiscard]] Actor* actor() const noexcept { return actor_; }

 private:
  Actor* actor_ = nullptr;
  core::Parker* parker_ = nullptr;
};

/// A place in a list of those who wait for one object.
struct Waiter {
  Waiter* previous = nullptr;
  Waiter* next = nullptr;
  Who who;
  bool listed = false;
  bool fired = false;
};

/// Those who wait, in the order in which they came. Guarded by the object's lock.
class WaitList {
 public:
  WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] Waiter* first() const noexcept { return first_; }

  void push_back(Waiter& waiter) noexcept {
    waiter.previous = last_;
    waiter.next = nullptr;
    waiter.listed = true;
    waiter.fired = false;
    (last_ != nullptr ? last_->next : first_) = &waiter;
    last_ = &waiter;
  }
  void remove(Waiter& waiter) noexcept {
    (waiter.previous != nullptr ? waiter.previous->next : first_) = waiter.next;
    (waiter.next != nullptr ? waiter.next->previous : last_) = waiter.previous;
    waiter.listed = false;
  }

  /// Takes the waiter off and wakes it.
  void fire(Waiter& waiter) noexcept {
    remove(waiter);
    waiter.fired = true;
    waiter.who.wake();
  }
  bool fire_one() noexcept {
    if (first_ == nullptr) return false;
    fire(*first_);
    return true;
  }
  std::size_t fire_all() noexcept {
    std::size_t count = 0;
    while (fire_one()) ++count;
    return count;
  }

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

/// What an actor waits for, as reports tell it.
enum class WaitKind : std::uint8_t {
  nothing,       ///< it has not waited yet
  something,     ///< nobody said
  time,          ///< a sleep
  end_of_actor,  ///< a join; `on` is the Pid's word
  letter,        ///< a receive from its mailbox
  message,       ///< a receive from a channel
  room,          ///< a send to what is full; `on` is the Pid's word, or 0
  answer,        ///< of a oneshot; see Actor::asks
  selection,     ///< a select
  mutex,         ///< `on` is the word of the Pid that holds it, or 0
  readiness,     ///< `on` is the descriptor
};
struct WaitFor {
  WaitKind kind = WaitKind::something;
  std::uint64_t on = 0;
};
/// Says what the running actor is about to wait for, outside of `wait`.
void note_wait(WaitFor what, Nanos deadline) noexcept;

/// Sleeps until woken, or until `deadline`; may return for nothing.
void doze(Nanos deadline = kNever);

/// Who `doze`s here: the running actor, or the calling thread.
[[nodiscard]] Who who_is_here() noexcept;

/// Throws Cancelled if the caller is an actor that is to end. Every call that may wait does so.
void check_cancelled();

/// The time by the clock of the caller's runtime; on a plain thread, of the machine.
[[nodiscard]] Nanos now_here() noexcept;

/// The time `delay` from now, for deadlines; kNever if that is too far away to be said.
[[nodiscard]] Nanos deadline_after(Nanos delay) noexcept;

}  // namespace leat::actor
