// What      ActorList: actors in the order in which they came, linked by `next`; one worker's own.
#pragma once

#include <leat/actor/scheduler/actor.hpp>

namespace leat::actor {

class ActorList {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(Actor& actor) noexcept {
    actor.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &actor;
    last_ = &actor;
  }
  [[nodiscard]] Actor* pop() noexcept {
    Actor* const actor = first_;
    if (actor != nullptr) first_ = actor->next;
    return actor;
  }

 private:
  Actor* first_ = nullptr;
  Actor* last_ = nullptr;
};

}  // namespace leat::actor
