#include <leat/actor/spawn.hpp>

#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/actor/wait/wait.hpp>
#include <leat/base/usage_error.hpp>

#include <utility>

namespace leat::actor::internal {

void move_in(Actor& actor, const Actor* spawner, const SpawnOptions& options) {
  actor.daemon = options.daemon;
  actor.kept = options.pinned;
  actor.stows.store_relaxed(options.stows);
  actor.group = spawner != nullptr ? spawner->group : 0;
  actor.deadline = spawner != nullptr ? spawner->deadline : kNever;
  actor.parent = options.parent;
  actor.waits_for.store_relaxed(static_cast<std::uint32_t>(WaitKind::nothing));  // for reports
  try {
    if (options.group) [[unlikely]]
      actor.group = actor.scheduler->known_group(*options.group);
    if (!options.name.empty() || options.parent != Pid::root()) [[unlikely]] {
      actor.place = actor.scheduler->next_place();
      actor.name = options.name;
    }
    if (options.parent != Pid::root()) [[unlikely]] {
      actor.farewell = new LetterOf<Signal>(Signal{});
      actor.follows = options.follows && follow(*actor.scheduler, options.parent, actor.pid());
    }
  } catch (...) {
    const LetterPtr unsent(std::exchange(actor.farewell, nullptr));
    actor.type->drop_closure(actor);
    actor.place = 0;
    actor.name.clear();
    throw;
  }
  if (options.stows) [[unlikely]]
    actor.scheduler->stower().count(1);
  const ObjectLock::Guard guard(actor.lock,
                                spawner != nullptr ? spawner->here->mark : this_solo_mark());
  actor.live = true;
  actor.handle = true;
}

void drop_handle(Actor& actor) noexcept {
  bool vacant = false;
  Worker* const worker = this_worker();
  {
    const ObjectLock::Guard guard(actor.lock, worker != nullptr ? worker->mark : nullptr);
    actor.handle = false;
    vacant = actor.left;
  }
  if (!vacant) return;  // whoever leaves its stack sees to it
  if (worker != nullptr && &worker->scheduler() == actor.scheduler) {
    worker->recycle(actor);
  } else {
    actor.scheduler->recycle_from_outside(actor);
  }
}

bool await_end(Actor& actor, Nanos deadline) {
  ObjectLock::Guard guard(actor.lock);
  while (!actor.ended) {
    if (wait(guard, actor.joiners, deadline, {WaitKind::end_of_actor, actor.pid().word()}) ==
            Waited::timed_out &&
        !actor.ended)
      return false;
  }
  actor.looked = true;
  actor.joined = true;
  return true;
}

bool has_ended(Actor& actor) noexcept {
  const ObjectLock::Guard guard(actor.lock);
  return actor.ended;
}

bool cancel_actor(Actor& actor) noexcept { return actor.scheduler->cancel(actor.pid()); }

void joined_twice() {
  throw UsageError("JoinHandle", "to join an actor", "a handle that holds none",
                   "join each handle once, and not after detach or a move");
}

Worker& spawning_worker() {
  Worker* const worker = this_worker();
  if (worker == nullptr) {
    throw UsageError("spawn", "to start an actor beside the caller",
                     "a plain thread, which belongs to no runtime", "use Runtime::spawn");
  }
  return *worker;
}

void start_from_outside(Scheduler& scheduler, Actor& actor) noexcept {
  scheduler.start_from_outside(actor);
}

Actor& vacant_from_outside(Scheduler& scheduler) { return scheduler.vacant_from_outside(); }

}  // namespace leat::actor::internal
