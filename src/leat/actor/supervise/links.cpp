#include <leat/actor/supervise/links.hpp>

#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/base/atomic.hpp>

#include <memory>

namespace leat::actor {

using internal::Letter;
using internal::LetterOf;
using internal::Watch;

namespace {

// How an actor ended that lives no more: as it did, while that is known. With its lock held.
Exit known_end(Actor& actor, Pid pid) {
  if (!actor.ended || actor.generation != pid.generation() || actor.joined) return Exit::no_actor();
  actor.looked = true;
  return actor.exit;
}

std::uint64_t next_monitor() noexcept {
  static Atomic<std::uint64_t> monitors{0};
  return monitors.fetch_add_relaxed(1) + 1;  // a number of one's own; it orders nothing
}

}  // namespace

Monitor monitor(Pid pid, bool urgent) {
  Actor& self = internal::actor_here("monitor");
  auto* const watch = new Watch(Down{pid, next_monitor(), {}}, self);
  watch->urgent = urgent;
  Exit exit = Exit::no_actor();
  if (Actor* const actor = self.scheduler->slots().find(pid.slot())) {
    const ObjectLock::Guard guard(actor->lock);
    if (actor->live && actor->generation == pid.generation()) {
      Watch*& first = internal::bonds_of(*actor).watches;
      watch->after = first;
      if (first != nullptr) first->before = watch;
      first = watch;
      return Monitor(*watch);
    }
    exit = known_end(*actor, pid);
  }
  watch->value.exit = std::move(exit);
  const ObjectLock::Guard guard(self.lock);
  watch->watched = Letter::Watched::delivered;
  internal::put_letter(self, *watch);
  return Monitor(*watch);
}

std::uint64_t Monitor::id() const noexcept { return watch_ == nullptr ? 0 : watch_->value.monitor; }
Pid Monitor::pid() const noexcept { return watch_ == nullptr ? Pid() : watch_->value.pid; }

bool Monitor::demonitor() noexcept {
  if (watch_ == nullptr) return false;
  Watch& watch = *std::exchange(watch_, nullptr);
  const Pid pid = watch.value.pid;
  Letter::Watched before;
  {
    const ObjectLock::Guard guard(watch.watcher.lock);
    watch.handle = false;
    before = watch.watched;
    if (before == Letter::Watched::in_hand) return false;  // whoever reads it ends it
    if (before == Letter::Watched::delivered) {
      // In the mailbox; if that has ended, whoever ends its letters ends this one.
      if (!watch.watcher.live || watch.watcher.pid() != watch.watcher_pid) return false;
      watch.watcher.mailbox->remove(watch);
    }
    watch.watched = Letter::Watched::taken;
  }
  if (before != Letter::Watched::armed) {
    delete &watch;
    return before == Letter::Watched::delivered;
  }
  // If the watched one has ended meanwhile, who tells of its end finds that nobody wants to know.
  Actor& actor = *watch.watcher.scheduler->slots().find(pid.slot());
  bool listed = false;
  {
    const ObjectLock::Guard guard(actor.lock);
    listed = actor.live && actor.generation == pid.generation();
    if (listed) {
      (watch.before != nullptr ? watch.before->after : actor.bonds->watches) = watch.after;
      if (watch.after != nullptr) watch.after->before = watch.before;
    }
  }
  if (listed) delete &watch;
  return true;
}

Exit await_end_of(const Monitor& watch) {
  Exit exit;
  receive(when<Down>([&](const Down& down) { return down.monitor == watch.id(); },
                     [&](Down down) { exit = std::move(down.exit); }));
  return exit;
}

void link(Pid pid) {
  Actor& self = internal::actor_here("link");
  const Pid own = self.pid();
  if (pid == own) return;
  {
    const ObjectLock::Guard guard(self.lock);
    internal::bonds_of(self).links.insert(pid);
  }
  Exit exit = Exit::no_actor();
  if (Actor* const actor = self.scheduler->slots().find(pid.slot())) {
    const ObjectLock::Guard guard(actor->lock);
    if (actor->live && actor->generation == pid.generation()) {
      internal::bonds_of(*actor).links.insert(own);
      return;
    }
    exit = known_end(*actor, pid);
  }
  internal::give_exit(*self.scheduler, own, pid, exit, internal::ExitVia::link);
}

void unlink(Pid pid) {
  Actor& self = internal::actor_here("unlink");
  Letter* found = nullptr;
  {
    const ObjectLock::Guard guard(self.lock);
    if (self.bonds != nullptr) self.bonds->links.erase(pid);
    if (self.mailbox != nullptr) {
      found = self.mailbox->first(LetterOf<ExitSignal>::kKind);
      while (found != nullptr && static_cast<LetterOf<ExitSignal>*>(found)->value.from != pid) {
        found = self.mailbox->next(*found);
      }
      if (found != nullptr) self.mailbox->remove(*found);
    }
  }
  const internal::LetterPtr dropped(found);
  if (Actor* const actor = self.scheduler->slots().find(pid.slot())) {
    const ObjectLock::Guard guard(actor->lock);
    if (actor->live && actor->generation == pid.generation() && actor->bonds != nullptr) {
      actor->bonds->links.erase(self.pid());
    }
  }
}

bool trap_exit(bool traps) {
  Actor& self = internal::actor_here("trap_exit");
  const ObjectLock::Guard guard(self.lock);
  return std::exchange(internal::bonds_of(self).traps, traps);
}

bool send_exit(Pid pid, const Exit& exit) {
  Actor& self = internal::actor_here("send_exit");
  return internal::give_exit(*self.scheduler, pid, self.pid(), exit, internal::ExitVia::sent);
}

bool kill(Pid pid) {
  Actor& self = internal::actor_here("kill");
  return internal::give_exit(*self.scheduler, pid, self.pid(), Exit::killed("it was killed"),
                             internal::ExitVia::kill);
}

}  // namespace leat::actor
