#include <leat/actor/self.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::actor {

void sleep_until(Nanos deadline) {
  check_cancelled();
  while (now_here() < deadline) {
    note_wait({WaitKind::time}, deadline);
    doze(deadline);
    check_cancelled();
  }
}

void keep_float_control() noexcept {
  Actor* const self = this_actor();
  if (self != nullptr) self->fiber.keep_float_control(worker_of(*self).carrier());
}

std::size_t stow_idle_actors() {
  Worker* const worker = this_worker();
  if (worker == nullptr) {
    throw UsageError("stow_idle_actors", "to stow the actors of the caller's runtime",
                     "a plain thread, which belongs to no runtime", "call it in an actor");
  }
  const NoPreempt whole;
  return worker->scheduler().stower().stow_all();
}

bool cancel(Pid pid) {
  Worker* const worker = this_worker();
  if (worker == nullptr) {
    throw UsageError("cancel", "to end an actor of the caller's runtime",
                     "a plain thread, which belongs to no runtime", "use Runtime::cancel");
  }
  return worker->scheduler().cancel(pid);
}

}  // namespace leat::actor
