#include <leat/actor/supervise/bonds.hpp>

#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/names.hpp>

#include <memory>
#include <utility>

namespace leat::actor::internal {
namespace {

void drop_watch(Letter* letter) noexcept {
  auto& watch = *static_cast<Watch*>(letter);
  bool last = false;
  {
    const ObjectLock::Guard guard(watch.watcher.lock);
    watch.watched = Letter::Watched::taken;
    last = !watch.handle;
  }
  if (last) delete &watch;
}

// Sends a monitor's letter; the list it was in is the caller's.
void deliver(Watch& watch, const Exit& exit) noexcept {
  watch.value.exit = exit;
  {
    const ObjectLock::Guard guard(watch.watcher.lock);
    Actor& watcher = watch.watcher;
    const bool wanted = watch.watched == Letter::Watched::armed && watcher.live &&
                        watcher.generation == watch.watcher_pid.generation();
    if (wanted) {
      watch.watched = Letter::Watched::delivered;
      put_letter(watcher, watch);
      return;
    }
    watch.watched = Letter::Watched::taken;
    if (watch.handle) return;  // who has it ends it
  }
  delete &watch;
}

}  // namespace

Watch::Watch(Down&& down, Actor& by) noexcept
    : LetterOf<Down>(std::move(down), &drop_watch), watcher(by), watcher_pid(by.pid()) {
  watched = Watched::armed;
}

Bonds& bonds_of(Actor& actor) {
  if (actor.bonds == nullptr) actor.bonds = new Bonds();
  return *actor.bonds;
}

bool give_exit(Scheduler& scheduler, Pid to, Pid from, const Exit& exit, ExitVia via) {
  Actor* const actor = scheduler.slots().find(to.slot());
  if (actor == nullptr) return false;
  const ObjectLock::Guard guard(actor->lock);
  if (!actor->live || actor->generation != to.generation()) return false;
  Bonds* const bonds = actor->bonds;
  if (via == ExitVia::link && (bonds == nullptr || !bonds->links.erase(from))) return true;
  if (via == ExitVia::parent && actor->parent != from) return true;
  if (via != ExitVia::kill && bonds != nullptr && bonds->traps) {
    auto letter = std::make_unique<LetterOf<ExitSignal>>(ExitSignal{from, exit});
    put_letter(*actor, *letter.release());
    return true;
  }
  if (exit.ok()) return true;
  Bonds& own = bonds_of(*actor);
  if (via == ExitVia::kill || !own.doom) own.doom = exit;
  actor->orders.store_relaxed(Actor::kCancel);  // the wake carries it
  scheduler.wake(*actor);
  return true;
}

bool follow(Scheduler& scheduler, Pid parent, Pid child) {
  Actor* const actor = scheduler.slots().find(parent.slot());
  if (actor == nullptr) return false;
  const ObjectLock::Guard guard(actor->lock);
  if (!actor->live || actor->generation != parent.generation()) return false;
  bonds_of(*actor).followers.insert(child);
  return true;
}

void unfollow(Scheduler& scheduler, Pid parent, Pid child) noexcept {
  Actor* const actor = scheduler.slots().find(parent.slot());
  if (actor == nullptr) return;
  const ObjectLock::Guard guard(actor->lock);
  if (!actor->live || actor->generation != parent.generation()) return;
  if (actor->bonds != nullptr) actor->bonds->followers.erase(child);
}

void free_names(ObjectLock::Guard& guard, Actor& actor) noexcept {
  while (actor.bonds != nullptr && !actor.bonds->names.empty()) {
    std::vector<std::string> names;
    names.swap(actor.bonds->names);
    guard.unlock();
    for (const std::string& name : names) actor.scheduler->names().forget(name, actor.pid());
    guard.lock();
  }
}

Estate take_estate(Actor& actor) {
  Estate estate;
  estate.farewell = std::exchange(actor.farewell, nullptr);
  estate.mailbox = std::exchange(actor.mailbox, nullptr);
  estate.bonds = std::exchange(actor.bonds, nullptr);
  if (estate.mailbox != nullptr) estate.mailbox->senders.fire_all();
  if (estate.bonds != nullptr && estate.bonds->doom && actor.exit.kind() == ExitKind::cancelled) {
    actor.exit = *estate.bonds->doom;
  }
  estate.exit = actor.exit;
  return estate;
}

bool settle_estate(Actor& actor, Estate estate) noexcept {
  Scheduler& scheduler = *actor.scheduler;
  const Pid self = actor.pid();
  bool heard = false;
  if (actor.follows) unfollow(scheduler, actor.parent, self);
  if (estate.farewell != nullptr) {
    auto& signal = static_cast<LetterOf<Signal>&>(*estate.farewell).value;
    signal.child = self;
    signal.exit = estate.exit;
    heard = scheduler.deliver(LetterPtr(estate.farewell), actor.parent);
  }
  if (estate.bonds != nullptr) {
    const std::unique_ptr<Bonds> bonds(estate.bonds);
    bonds->links.for_each([&](Pid other) {
      if (give_exit(scheduler, other, self, estate.exit, ExitVia::link)) heard = true;
    });
    for (Watch* watch = bonds->watches; watch != nullptr;) {
      Watch* const next = watch->after;
      deliver(*watch, estate.exit);
      heard = true;
      watch = next;
    }
    bonds->followers.for_each([&](Pid child) {
      give_exit(scheduler, child, self,
                estate.exit.ok() ? Exit::shutdown("its parent has ended") : estate.exit,
                ExitVia::parent);
    });
  }
  if (estate.mailbox != nullptr) end_mailbox(scheduler, self, *estate.mailbox);
  return heard;
}

}  // namespace leat::actor::internal
