#include <leat/actor/scheduler/stower.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/os/memory.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <span>

namespace leat::actor {

std::optional<Nanos> Stower::look_on(Nanos now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;  // somebody is at it
  if (hand_ == 0) {
    if (now < next_pass_) return next_pass_;
    next_pass_ = now + after_;
    pressed_ =
        above_ != std::numeric_limits<std::size_t>::max() && os::current_rss_bytes() > above_;
  }
  const std::uint32_t made = scheduler_.slots().made();
  const std::uint32_t to = std::min(hand_ + kAtOnce, made);
  pass_over(hand_, to, !pressed_);
  hand_ = to < made ? to : 0;
  return hand_ == 0 ? next_pass_ : now;
}

std::size_t Stower::stow_all() {
  const std::lock_guard lock(mutex_);
  return pass_over(0, scheduler_.slots().made(), false);
}

std::size_t Stower::pass_over(std::uint32_t from, std::uint32_t to, bool marked) {
  const Sharing sharing = scheduler_.sharing();
  const Stack mine = Stack::of(__builtin_frame_address(0));
  std::array<Actor*, kBatch> claimed;
  std::array<Stack, kBatch> stacks;
  std::size_t count = 0;
  std::size_t total = 0;
  const auto let_go = [&] {
    StackRegion::process().release(std::span(stacks.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      Actor& actor = *claimed[i];
      if (actor.stowed) {
        actor.stack = Stack();
        stowed_.fetch_add_relaxed(1);
      }
      // A waker that came meanwhile left a token: it runs.
      if (!actor.state.park(sharing)) this_worker()->enqueue_claimed(actor);
    }
    total += std::exchange(count, 0);
  };
  for (std::uint32_t i = from; i < to; ++i) {
    Actor& actor = *scheduler_.slots().find(i);
    // Hints: who is claimed lives, and what it says then is so.
    if (!actor.state.was_parked() || !actor.stows.load_relaxed()) continue;
    if (marked && !actor.state.mark_idle(sharing)) continue;
    if (!actor.state.claim(sharing, marked)) continue;
    const bool may =
        actor.stows.load_relaxed() && actor.stack && actor.stack != mine && actor.held == 0;
    if (may) {
      try {
        actor.stowed = ParkedStack(actor.stack, actor.fiber);
      } catch (const std::bad_alloc&) {  // then it keeps its stack
      }
    }
    if (!actor.stowed || !may) {
      if (!actor.state.park(sharing)) this_worker()->enqueue_claimed(actor);
      continue;
    }
    claimed[count] = &actor;
    stacks[count++] = actor.stack;
    if (count == kBatch) let_go();
  }
  if (count > 0) let_go();
  return total;
}

void Stower::unstow(Actor& actor) noexcept {
  actor.stack = actor.stowed.stack();
  actor.stowed.unpark();
  stowed_.fetch_sub_relaxed(1);
}

}  // namespace leat::actor
