#include <leat/actor/wait/wait.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/scheduler/worker.hpp>

#include <exception>
#include <utility>

namespace leat::actor {
namespace {

// A plain thread's own bed. Whoever wakes it does so under a lock that it takes before it ends.
core::Parker& this_thread_parker() noexcept {
  thread_local core::Parker parker;
  return parker;
}

bool has_orders(const Actor& actor) noexcept {
  // Relaxed: who gives an order wakes the actor, and it looks again.
  return (actor.orders.load_relaxed() != 0 || actor.deadline != kNever) && actor.shields == 0;
}

// To throw while a destructor runs for another exception would end the process.
[[gnu::noinline]] bool may_throw() noexcept { return std::uncaught_exceptions() == 0; }

[[gnu::noinline, gnu::cold]] void end_if_due(const Actor& actor) {
  if (!may_throw()) return;
  if (actor.orders.load_relaxed() != 0) throw Cancelled(Cancelled::Why::asked);
  if (actor.scheduler->clock().now() >= actor.deadline) {
    throw Cancelled(Cancelled::Why::deadline);
  }
}

void doze_here(Actor* self, Nanos deadline) {
  if (self == nullptr) {
    if (deadline == kNever) {
      this_thread_parker().park([] { return false; });
    } else {
      const Nanos now = RealClock().now();
      if (now < deadline) this_thread_parker().park([] { return false; }, deadline - now);
    }
    return;
  }
  if (self->deadline < deadline && self->shields == 0 && may_throw()) deadline = self->deadline;
  worker_of(*self).park(*self, deadline);
}

}  // namespace

void Who::wake() const noexcept {
  if (actor_ != nullptr) {
    actor_->scheduler->wake(*actor_);
  } else {
    parker_->unpark();
  }
}

Who who_is_here() noexcept {
  Actor* const self = this_actor();
  return self != nullptr ? Who(*self) : Who(this_thread_parker());
}

void check_cancelled() {
  const Actor* const self = this_actor();
  if (self != nullptr && has_orders(*self)) end_if_due(*self);
}

Nanos now_here() noexcept {
  const Worker* const worker = this_worker();
  return worker != nullptr ? worker->scheduler().clock().now() : RealClock().now();
}

Nanos deadline_after(Nanos delay) noexcept {
  const Nanos now = now_here();
  return delay > kNever - now ? kNever : now + delay;
}

void note_wait(WaitFor what, Nanos deadline) noexcept {
  if (Actor* const self = this_actor()) self->note_wait(what, deadline);
}

void doze(Nanos deadline) { doze_here(this_actor(), deadline); }

Waited internal::wait_on(ObjectLock::Guard& guard, WaitList& list, Waiter& waiter, Nanos deadline) {
  Actor* const self = this_actor();
  for (;;) {
    if (self != nullptr && has_orders(*self)) [[unlikely]] {
      list.remove(waiter);
      end_if_due(*self);
      list.push_back(waiter);  // not yet, or not while unwinding
    }
    if (deadline != kNever && now_here() >= deadline) {
      list.remove(waiter);
      return Waited::timed_out;
    }
    guard.unlock();
    doze_here(self, deadline);
    guard.lock();
    if (waiter.fired) return Waited::fired;
  }
}

Waited internal::wait_slowly(ObjectLock::Guard& guard, WaitList& list, Nanos deadline,
                             void (*released)(void* argument), void* argument) {
  Actor* const self = this_actor();
  if (self != nullptr && has_orders(*self)) [[unlikely]]
    end_if_due(*self);
  Waiter on_thread;
  Waiter& waiter = self != nullptr ? self->waiter : on_thread;
  waiter.who = self != nullptr ? Who(*self) : Who(this_thread_parker());
  list.push_back(waiter);
  if (released != nullptr) {
    guard.unlock();
    released(argument);
    guard.lock();
    if (waiter.fired) return Waited::fired;
  }
  return wait_on(guard, list, waiter, deadline);
}

}  // namespace leat::actor
