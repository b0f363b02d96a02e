#include <leat/actor/signals.hpp>

#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/wait/wait.hpp>
#include <leat/base/usage_error.hpp>

#include <memory>
#include <utility>

namespace leat::actor {

std::optional<Signal> next_signal_until(Nanos deadline) {
  Actor* const self = this_actor();
  if (self == nullptr) {
    throw UsageError("next_signal", "the signals to the running actor", "a plain thread",
                     "call it in an actor");
  }
  std::unique_ptr<SignalNode> node;
  {
    ObjectLock::Guard guard(self->lock);
    while (self->first_signal == nullptr) {
      if (wait(guard, self->signal_waiters, deadline) == Waited::timed_out &&
          self->first_signal == nullptr) {
        return std::nullopt;
      }
    }
    node.reset(self->first_signal);
    self->first_signal = node->next;
    if (self->first_signal == nullptr) self->last_signal = nullptr;
  }
  return Signal{node->child, std::move(node->exit)};
}

Signal next_signal() { return *next_signal_until(kNever); }

}  // namespace leat::actor
