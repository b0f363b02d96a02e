// What      Turn: how much longer the actor that runs on this thread may run. Each thread has one,
//           `turn()`. It is what takes an actor off the processor that does not do so itself.
// Shape     left_   allocations until the next look at the time, counting down; on a thread that runs
//                   no actor it just wraps.
//           held_   0: the actor may be made to yield. Each NoPreempt scope, each lock of the
//                   operating system, each static initialiser under way adds one; the scheduler and
//                   plain threads hold it for good.
// Protocol  Worker, once per thread: `before = attach(...)`; at the end `detach(before)`.
//           Each time an actor runs: `begin(held)` with what it had when it was left (0 at first).
//           Before anything of the scheduler runs on its stack: `held = end(reductions)`.
//           In between, `count()` after each allocation, `count_edge()` at each jump of instrumented
//           code, `checkpoint()` where the author put one: each `interval` of them `look()` asks
//           whether the slice is over, and if it is and nothing holds, calls `yield(context)` on the
//           actor's stack. `yield` keeps the actor on this thread: it did not choose to be moved.
//           It also says which actor runs on the thread: whoever goes over to one writes it.
//           Structures of the runtime that actors enter put a NoPreempt around what must not be
//           interrupted: code that is inlined into instrumented code is instrumented.
// Invariants
//   (1) An actor is not made to yield while something holds; while an exception is in flight; in
//       a signal handler; in the child of a fork; or off the stacks of actors.
//   (2) The word is found anew at each access: no address of it is kept over a switch.
// Limits    A handler that was installed with SA_NODEFER and blocks no signal is not seen to be one.
//           Neither are initialisers of thread_local variables: those that allocate may be
//           interrupted half-way, and another actor on the thread finds the variable so.
// Cost      count: one decrement of a word of the thread, and a predicted branch. begin and end: some
//           stores, no look at the clock: the time is first read at the first look of a turn, so that
//           a turn is at most a slice and `interval` allocations long.
// Source    smarm: allocations drive preemption. Lazy start, holds and edges are ours.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::actor {

/// A counter that goes up with time. Relaxed: it carries nothing but itself.
using Ticks = Atomic<std::uint32_t>;

/// What a runtime says of its actors' turns.
struct PreemptKnobs {
  std::uint32_t alloc_interval = 128;  ///< allocations between two looks; 0: never look
  std::uint32_t edge_interval = 4096;  ///< jumps of instrumented code between two; 0: never
  std::uint64_t timeslice_cycles =
      300'000;                   ///< of the processor's clock; 0: each look ends the turn
  const Ticks* ticks = nullptr;  ///< if there: a slice ends when it has moved, and no clock is read
  /// If there: called instead of a look, on the actor's stack, where it may be made to yield; whether
  /// the allocation is to fail. For simulations.
  bool (*allocated)(void* context) = nullptr;
};

namespace internal {
struct OnStack;  // see wait/object_lock.hpp
}

class Turn {
 public:
  using Yield = void (*)(void* context);

  /// What the scheduler and plain threads hold.
  static constexpr std::uint32_t kScheduler = 1U << 30U;

  constexpr Turn() noexcept = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // -- by the worker ------------------------------------------------------------------------------

  /// What a thread was before it was attached: it may have been attached to another runtime.
  struct Before {
    PreemptKnobs knobs;
    Yield yield = nullptr;
    void* context = nullptr;
    std::uint32_t held = kScheduler;
    std::uint64_t signals = 0;
    std::uint32_t left = 0;
    std::uint32_t edges_left = 0;
    std::uint64_t counted = 0;
    internal::OnStack* actor = nullptr;
  };

  /// This thread runs actors from now on, by these knobs; they are the runtime's, so several runtimes
  /// with different ones run at a time. `yield` is called on the stack of the actor to be stopped.
  [[nodiscard]] Before attach(const PreemptKnobs& knobs, Yield yield, void* context) noexcept;
  /// No more: the thread is what it was.
  void detach(const Before& before) noexcept;

  /// An actor runs from now on. `held`: what `end` gave when it was left.
  void begin(std::uint32_t held = 0) noexcept {
    left_ = alloc_interval_;
    counted_ = 0;
    timed_ = false;
    held_ = held;
  }

  /// The actor that runs from now on; null: the scheduler.
  void set_actor(internal::OnStack* actor) noexcept { actor_ = actor; }
  [[nodiscard]] internal::OnStack* actor() const noexcept { return actor_; }

  /// The scheduler runs from now on. Adds what the actor did to `reductions`.
  ///
  /// Returns: what held the actor: not 0 means that it waits with a lock held, or within NoPreempt.
  std::uint32_t end(std::uint64_t& reductions) noexcept {
    reductions += reductions_now();
    const std::uint32_t held = held_;
    held_ = kScheduler;
    return held;
  }

  /// The same for a counter that reports read meanwhile. Relaxed: it carries nothing else.
  std::uint32_t end(Atomic<std::uint64_t>& reductions) noexcept {
    std::uint64_t sum = reductions.load_relaxed();
    const std::uint32_t held = end(sum);
    reductions.store_relaxed(sum);
    return held;
  }

  /// Allocations and checkpoints since `begin`, and jumps as 1/32 each, when their interval is full.
  [[nodiscard]] std::uint64_t reductions_now() const noexcept {
    return counted_ + (alloc_interval_ - left_);
  }

  // -- by what the actor calls ----------------------------------------------------------------------

  // These are always inlined: the counting itself must not be instrumented, and a linker may take
  // the instrumented one of two inline functions.

  /// Counts one allocation, which must be over.
  [[gnu::always_inline]] void count() noexcept {
    if (--left_ == 0) [[unlikely]]
      look();
  }
  /// The same. Returns: whether the allocation is to fail all the same: a simulation may say so.
  [[nodiscard, gnu::always_inline]] bool count_allocation() noexcept {
    if (--left_ == 0) [[unlikely]]
      return look_at_allocation();
    return false;
  }
  [[gnu::always_inline]] void count_edge() noexcept {
    if (--edges_left_ == 0) [[unlikely]]
      look_at_edge();
  }

  [[gnu::always_inline]] void hold() noexcept { ++held_; }
  [[gnu::always_inline]] void release() noexcept { --held_; }
  [[nodiscard]] std::uint32_t held() const noexcept { return held_; }

  /// Turns that were cut short here, since the thread began. Threads: its own.
  [[nodiscard]] std::uint64_t preemptions() const noexcept { return preemptions_; }
  /// Looks at the time, since the thread began.
  [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }

 private:
  void look() noexcept;
  [[nodiscard]] bool look_at_allocation() noexcept;
  void look_at_edge() noexcept;
  void look_at_time() noexcept;
  [[nodiscard]] bool slice_is_over() noexcept;
  [[nodiscard]] bool may_yield() const noexcept;

  internal::OnStack* actor_ = nullptr;
  std::uint32_t left_ = 0;
  std::uint32_t held_ = kScheduler;
  std::uint32_t edges_left_ = 0;
  bool timed_ = false;  // started_ or tick_ is of this turn
  std::uint32_t alloc_interval_ = 0;
  std::uint32_t edge_interval_ = 0;
  std::uint32_t tick_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t slice_ = 0;
  std::uint64_t counted_ = 0;
  const Ticks* ticks_ = nullptr;
  bool (*allocated_)(void* context) = nullptr;
  Yield yield_ = nullptr;
  void* context_ = nullptr;
  std::uint64_t signals_ = 0;  // the thread's mask when it was attached
  std::uint64_t preemptions_ = 0;
  std::uint64_t looks_ = 0;
};

namespace internal {

// One model for all that link to it: the address is an offset that the loader knows, so that it can
// be found by two instructions which the compiler cannot keep the result of.
extern thread_local constinit Turn leat_actor_turn __asm__("leat_actor_turn")
    __attribute__((tls_model("initial-exec")));

}  // namespace internal

/// How many forks lie between the first attached thread's process and this one: what has threads of
/// its own, and was made at another number, has left them with the parent.
[[nodiscard]] std::uint32_t forks_so_far() noexcept;

/// The calling thread's. The reference is good until the caller may be switched.
[[nodiscard, gnu::always_inline]] inline Turn& turn() noexcept {
#if defined(__x86_64__)
  Turn* here;
  asm volatile(
      "movq leat_actor_turn@gottpoff(%%rip), %0\n\t"
      "addq %%fs:0, %0"
      : "=r"(here)
      :
      : "cc");
  return *here;
#else
  Turn* here;
  std::uintptr_t offset;
  asm volatile(
      "mrs %0, tpidr_el0\n\t"
      "adrp %1, :gottprel:leat_actor_turn\n\t"
      "ldr %1, [%1, #:gottprel_lo12:leat_actor_turn]\n\t"
      "add %0, %0, %1"
      : "=&r"(here), "=&r"(offset));
  return *here;
#endif
}

/// The running actor is not made to yield while one of these lives; it must not wait either.
///
/// Threads: any; on a plain thread it does nothing. Nests.
class [[nodiscard]] NoPreempt {
 public:
  NoPreempt() noexcept { turn().hold(); }
  NoPreempt(const NoPreempt&) = delete;
  NoPreempt& operator=(const NoPreempt&) = delete;
  ~NoPreempt() { turn().release(); }
};

/// A place where the running actor may be made to yield if its slice is over: for loops that neither
/// allocate nor wait. Costs as much as an allocation's count. Threads: any; a plain thread goes on.
inline void checkpoint() noexcept { turn().count(); }

}  // namespace leat::actor
