#include <leat/actor/supervise/here.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/supervise/bonds.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::actor::internal {

Actor& actor_here(const char* call) {
  Actor* const self = this_actor();
  if (self == nullptr) {
    throw UsageError(call, "to do something as the running actor", "a plain thread",
                     "call it in an actor");
  }
  return *self;
}

Scheduler& scheduler_here(const char* call) { return *actor_here(call).scheduler; }

void say_that_it_supervises() {
  Actor& self = actor_here("supervise");
  const ObjectLock::Guard guard(self.lock);
  bonds_of(self).supervises = true;
}

void tell_failure(const Exit& exit) {
  const Actor& self = actor_here("tell_failure");
  self.scheduler->tell_failure(self.pid(), self.name, exit);
}

}  // namespace leat::actor::internal
