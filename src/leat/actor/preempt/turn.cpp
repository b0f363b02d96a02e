#include <leat/actor/preempt/turn.hpp>

#include <leat/actor/preempt/cycles.hpp>
#include <leat/actor/stack/stack.hpp>
#include <leat/base/os/signal_mask.hpp>

#include <exception>

namespace leat::actor {

thread_local constinit Turn internal::leat_actor_turn;

namespace {

constinit Atomic<std::uint32_t> forks{0};  // relaxed: written by a process' only thread

}  // namespace

std::uint32_t forks_so_far() noexcept { return forks.load_relaxed(); }

Turn::Before Turn::attach(const PreemptKnobs& knobs, Yield yield, void* context) noexcept {
  // The child of a fork has one thread and no workers: whatever forked runs to its end there.
  os::call_in_child_of_fork([] {
    forks.store_relaxed(forks.load_relaxed() + 1);
    if (!LEAT_MUTANT("turn.yields_in_child")) internal::leat_actor_turn.held_ = kScheduler;
  });
  Before before;
  before.knobs = {alloc_interval_, edge_interval_, slice_, ticks_, allocated_};
  before.yield = yield_;
  before.context = context_;
  before.held = held_;
  before.signals = signals_;
  before.left = left_;
  before.edges_left = edges_left_;
  before.counted = counted_;
  before.actor = actor_;
  alloc_interval_ = knobs.alloc_interval;
  edge_interval_ = knobs.edge_interval;
  slice_ = knobs.timeslice_cycles;
  ticks_ = knobs.ticks;
  allocated_ = knobs.allocated;
  yield_ = yield;
  context_ = context;
  signals_ = os::signal_mask();
  held_ = kScheduler;
  actor_ = nullptr;
  edges_left_ = edge_interval_;
  return before;
}

void Turn::detach(const Before& before) noexcept {
  alloc_interval_ = before.knobs.alloc_interval;
  edge_interval_ = before.knobs.edge_interval;
  slice_ = before.knobs.timeslice_cycles;
  ticks_ = before.knobs.ticks;
  allocated_ = before.knobs.allocated;
  yield_ = before.yield;
  context_ = before.context;
  held_ = before.held;
  signals_ = before.signals;
  left_ = before.left;
  edges_left_ = before.edges_left;
  counted_ = before.counted;
  actor_ = before.actor;
  timed_ = false;
}

// Not to be inlined: who counts pays for a call only when there is a look.
[[gnu::noinline]] void Turn::look() noexcept {
  // 0 means never: then, and on plain threads, this comes once in 2^32.
  counted_ += alloc_interval_;
  left_ = alloc_interval_;
  if (alloc_interval_ != 0) look_at_time();
}

[[gnu::noinline]] bool Turn::look_at_allocation() noexcept {
  if (allocated_ == nullptr) [[likely]] {
    look();
    return false;
  }
  counted_ += alloc_interval_;
  left_ = alloc_interval_;
  if (held_ != 0 || !may_yield()) return false;
  hold();
  const bool fails = allocated_(context_);  // may come back much later, as `yield` does
  turn().release();
  return fails;
}

[[gnu::noinline]] void Turn::look_at_edge() noexcept {
  counted_ += edge_interval_ / 32;
  edges_left_ = edge_interval_;
  if (edge_interval_ != 0) look_at_time();
}

void Turn::look_at_time() noexcept {
  if (held_ != 0) return;
  ++looks_;
  // Held, so that neither what is asked here nor the scheduler is interrupted on its way: inline
  // functions may be the instrumented ones.
  hold();
  if (slice_is_over() && may_yield()) {
    ++preemptions_;
    // Comes back when the actor runs again, with a new turn that has what it held.
    yield_(context_);
  }
  turn().release();
}

bool Turn::slice_is_over() noexcept {
  if (ticks_ != nullptr) {
    const std::uint32_t now = ticks_->load_relaxed();
    if (!timed_) {
      timed_ = true;
      tick_ = now;
      return false;
    }
    return now != tick_;
  }
  if (slice_ == 0) return true;
  std::uint64_t now = cycles_now();
  if (LEAT_MUTANT("cycles.step_back")) now = timed_ ? started_ - (std::uint64_t{1} << 40U) : now;
  if (!timed_) {
    timed_ = true;
    started_ = now;
    return false;
  }
  if (LEAT_MUTANT("turn.waits_for_the_clock")) return now >= started_ + slice_;
  // A clock that stepped back makes the difference huge: the slice is over, no harm done.
  return now - started_ >= slice_;
}

bool Turn::may_yield() const noexcept {
  // Asked once a slice, so a system call is cheap enough. A handler runs with its signal blocked;
  // one that interrupted the C library's locks must not let others run.
  return yield_ != nullptr &&
         (std::uncaught_exceptions() == 0 || LEAT_MUTANT("turn.yields_in_flight")) &&
         (Stack::of(__builtin_frame_address(0)) || LEAT_MUTANT("turn.yields_off_stacks")) &&
         (os::signal_mask() == signals_ || LEAT_MUTANT("turn.yields_in_handlers"));
}

}  // namespace leat::actor
