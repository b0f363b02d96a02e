#include <leat/actor/mailbox/post.hpp>

#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/wait/wait.hpp>

namespace leat::actor {

namespace internal {
namespace {

// For so long a sender waits, times how often a mailbox has what is too many.
constexpr Nanos kSlowedBy = std::chrono::milliseconds(1);

bool has_too_many(Actor& actor, std::size_t most) {
  const ObjectLock::Guard guard(actor.lock);
  return actor.mailbox != nullptr && actor.mailbox->messages() > most;
}

// The running actor has sent one more to who has too many. It waits, the longer the more there are, but
// never without an end: whom it waits for may wait for it. Who has too many itself goes on: so somebody
// does in every circle, at full speed.
void slow_down(ObjectLock::Guard& guard, Actor& to, std::size_t most) {
  Actor* const self = this_actor();
  if (self == nullptr || self == &to || self->scheduler != to.scheduler) return;
  const Pid pid = to.pid();
  guard.unlock();
  const bool exempt = has_too_many(*self, most);
  guard.lock();
  const auto goes_on = [&] {
    return !to.live || to.pid() != pid || to.mailbox == nullptr || to.mailbox->is_bounded() ||
           to.mailbox->messages() <= most / 2;
  };
  if (exempt || goes_on()) return;
  const CancelShield whole;  // the message is sent: who is cancelled hears of it when it waits next
  const auto times = static_cast<Nanos::rep>(to.mailbox->messages() / most);
  const Nanos deadline = deadline_after(kSlowedBy * times);
  to.mailbox->few = most / 2;
  while (!goes_on()) {
    if (wait(guard, to.mailbox->senders, deadline, {WaitKind::room, pid.word()}) ==
        Waited::timed_out) {
      return;
    }
  }
}

}  // namespace

Sent post(Scheduler& scheduler, Pid to, LetterPtr& letter, Nanos deadline, bool may_wait) {
  Actor* const actor = scheduler.slots().find(to.slot());
  LetterPtr victim;  // ended when the lock is free again
  if (actor != nullptr) {
    ObjectLock::Guard guard(actor->lock);
    while (actor->live && actor->generation == to.generation()) {
      Mailbox& box = mailbox_of(*actor);
      if (box.has_room()) [[likely]] {
        put_letter(*actor, *letter.release());
        const std::size_t most = scheduler.config().slow_senders_above();
        if (most != 0 && may_wait && box.messages() > most && !box.is_bounded()) [[unlikely]]
          slow_down(guard, *actor, most);
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
