// What      wait(): how an actor or a plain thread waits for something that an ObjectLock guards. The
//           lists and who is in them are in waiter.hpp.
// Cost      The usual way (an actor that waits without a deadline) is inlined up to the author's code,
//           see worker.hpp.
#pragma once

#include <leat/actor/scheduler/worker.hpp>
#include <leat/actor/wait/waiter.hpp>

#include <utility>

namespace leat::actor {

enum class Waited : unsigned char { fired, timed_out };

namespace internal {

/// The rest of a wait: `waiter` is listed, the lock is held, and it was not fired.
Waited wait_on(ObjectLock::Guard& guard, WaitList& list, Waiter& waiter, Nanos deadline);
/// All of it.
Waited wait_slowly(ObjectLock::Guard& guard, WaitList& list, Nanos deadline,
                   void (*released)(void* argument), void* argument);

}  // namespace internal

/// Lists the caller, sleeps until it is fired or `deadline` has come, and holds the lock again.
///
/// `released(argument)` is called once, when the caller is listed and the lock is let go of: for
/// whoever holds something else that the waker needs. `what` is for reports.
/// Throws:   Cancelled, if the caller is an actor that was cancelled or whose own deadline passed.
/// Threads:  actors and plain threads. `deadline` is of `now_here()`.
[[gnu::always_inline]] inline Waited wait(ObjectLock::Guard& guard, WaitList& list,
                                          Nanos deadline = kNever,
                                          void (*released)(void* argument) = nullptr,
                                          void* argument = nullptr, WaitFor what = {}) {
  Actor* const self = guard.on() != nullptr ? static_cast<Actor*>(guard.on()) : this_actor();
  if (self != nullptr) self->note_wait(what, deadline);
  if (self == nullptr || deadline != kNever || released != nullptr || self->deadline != kNever ||
      self->orders.load_relaxed() != 0) {  // who gives an order wakes the actor, and it looks again
    return internal::wait_slowly(guard, list, deadline, released, argument);
  }
  Waiter& waiter = self->waiter;
  waiter.who = Who(*self);
  list.push_back(waiter);
  guard.unlock();
  worker_of(*self).park(*self, kNever);
  guard.lock();
  if (waiter.fired) [[likely]]
    return Waited::fired;
  return internal::wait_on(guard, list, waiter, deadline);
}

/// The same, for something that reports can name.
[[gnu::always_inline]] inline Waited wait(ObjectLock::Guard& guard, WaitList& list, Nanos deadline,
                                          WaitFor what) {
  return wait(guard, list, deadline, nullptr, nullptr, what);
}

/// Fires the first who waits on a list of the object whose lock `guard` holds. Returns: whether there was
/// one.
inline bool fire_one(const ObjectLock::Guard& guard, WaitList& list) noexcept {
  Waiter* const waiter = list.first();
  if (waiter == nullptr) return false;
  if (guard.is_by_mark() && guard.on() != nullptr) [[likely]] {
    list.remove(*waiter);
    waiter->fired = true;
    worker_of(*static_cast<Actor*>(guard.on())).wake_solo(*waiter->who.actor());
  } else {
    list.fire(*waiter);
  }
  return true;
}

}  // namespace leat::actor
