#include <leat/actor/mailbox/post.hpp>

#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/wait/wait.hpp>

namespace leat::actor {

namespace internal {

Sent post(Scheduler& scheduler, Pid to, LetterPtr& letter, Nanos deadline, bool may_wait) {
  Actor* const actor = scheduler.slots().find(to.slot());
  LetterPtr victim;  // ended when the lock is free again
  if (actor != nullptr) {
    ObjectLock::Guard guard(actor->lock);
    while (actor->live && actor->generation == to.generation()) {
      Mailbox& box = mailbox_of(*actor);
      if (box.has_room()) [[likely]] {
        put_letter(*actor, *letter.release());
        return Sent::ok;
      }
      switch (box.bound.on_full) {
        case OnFull::drop_old: {
          // While the owner looks through its letters nothing may go: then there is one too many.
          Letter* const oldest = box.looking ? nullptr : box.first_message();
          if (oldest != nullptr) {
            box.remove(*oldest);
            ++box.dropped;
            victim.reset(oldest);
          }
          put_letter(*actor, *letter.release());
          return Sent::ok;
        }
        case OnFull::drop_new:
          ++box.dropped;
          guard.unlock();
          letter.reset();
          guard.lock();
          return Sent::dropped;
        case OnFull::fail:
          return Sent::full;
        case OnFull::wait:
          if (!may_wait) return Sent::full;
          may_wait =
              wait(guard, box.senders, deadline, {WaitKind::room, to.word()}) == Waited::fired;
      }
    }
  }
  scheduler.dead_letter(to, letter->kind->name);
  return Sent::closed;
}

Sent post_from_here(Pid to, LetterPtr letter, bool may_wait) {
  return post(scheduler_here("send"), to, letter, kNever, may_wait);
}

Sent post_by_name(std::string_view name, LetterPtr letter) {
  Scheduler& scheduler = scheduler_here("send");
  return post(scheduler, scheduler.names().find(name), letter, kNever, true);
}

Asking::Asking(Pid whom) noexcept { this_actor()->asks.store_relaxed(whom.word()); }  // a report
Asking::~Asking() { this_actor()->asks.store_relaxed(0); }

Scheduler& scheduler_of(Runtime& runtime) noexcept { return runtime.scheduler(); }

}  // namespace internal

void bound_mailbox(const Bound& bound) {
  Actor& self = internal::actor_here("bound_mailbox");
  if (bound.messages == 0) internal::empty_bound();
  const ObjectLock::Guard guard(self.lock);
  Mailbox& box = internal::mailbox_of(self);
  box.bound = bound;
  box.senders.fire_all();
}

std::size_t mailbox_size() {
  Actor& self = internal::actor_here("mailbox_size");
  const ObjectLock::Guard guard(self.lock);
  return self.mailbox == nullptr ? 0 : self.mailbox->messages();
}

std::uint64_t mailbox_dropped() {
  Actor& self = internal::actor_here("mailbox_dropped");
  const ObjectLock::Guard guard(self.lock);
  return self.mailbox == nullptr ? 0 : self.mailbox->dropped;
}

std::uint64_t dead_letters(Runtime& runtime) noexcept { return runtime.scheduler().dead_letters(); }

}  // namespace leat::actor
