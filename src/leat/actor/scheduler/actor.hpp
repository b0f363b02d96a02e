// What      Actor: a slot, and who lives in it: its registers and stack while it does not run, what
//           it waits for, its result, and what others may ask of it by its Pid.
// Shape     vacant -> live -> ended -> vacant (the next generation)
//           A slot becomes vacant when its tenant's stack was left (`left`) and nobody holds a
//           handle any more (`handle`), in whatever order.
//           Storage: first the closure, until it has run; then the result, until it is taken. Either
//           lies in the heap if it is larger than the storage.
// Invariants
//   (1) Slots are never freed while their runtime lives: an Actor* that is old names a wrong actor
//       at worst, and the generation tells.
//   (2) `waiter`, `timer`, `deadline`, `shields` are the running actor's own; others see `waiter`
//       through a list, under that list's lock.
//   (3) What stands under "guarded by lock" is.
// Limits    Internal: authors see Pid, JoinHandle and the free functions.
#pragma once

#include <leat/actor/exit.hpp>
#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/pid.hpp>
#include <leat/actor/scheduler/run_state.hpp>
#include <leat/actor/stack/stack.hpp>
#include <leat/actor/stack/stack_use.hpp>
#include <leat/actor/time/wheel.hpp>
#include <leat/actor/wait/object_lock.hpp>
#include <leat/actor/wait/waiter.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>

namespace leat::actor {

struct Actor;
struct Bonds;
class Mailbox;
class Scheduler;
class Worker;

namespace internal {
struct Letter;
}

/// What the scheduler must know of the type of a closure and of its result.
struct ActorType {
  void (*run)(Actor& actor);  ///< runs the closure, ends it, and leaves the result in its place
  void (*drop_closure)(Actor& actor) noexcept;
  void (*drop_result)(Actor& actor) noexcept;
  const std::type_info& (*kind)() noexcept;  ///< of the closure
};

/// Values that actors keep by key; see local.hpp.
class LocalValues;

struct alignas(kSector) Actor : internal::OnStack {  // `here`: where it runs, or ran last
  static constexpr std::size_t kStorageBytes = 64;

  explicit Actor(SoloMark* mark) noexcept : lock(mark) {}

  // Each time it runs.
  Fiber fiber;
  RunState state;
  bool daemon = false;
  bool kept = false;  ///< may not run on another worker
  Atomic<bool> stows{
      false};             ///< its stack may be put away while it waits; relaxed: a hint to others
  bool measured = false;  ///< how deep it uses its stack is looked at
  std::uint8_t group = 0;
  std::uint16_t shields = 0;
  std::uint32_t held = 0;  ///< what kept it from being preempted when it was left
  Actor* next = nullptr;   ///< in one list: of a worker, or of vacant slots
  Stack stack;             ///< none until it first runs
  ParkedStack stowed;      ///< its stack, if that is put away; `stack` is none then
  const ActorType* type = nullptr;
  Scheduler* scheduler = nullptr;
  Atomic<std::uint64_t> reductions{
      0};  ///< allocations and checkpoints so far; relaxed: for reports

  // Each time it waits.
  Waiter waiter;
  TimerNode timer;
  Worker* timer_worker = nullptr;  ///< whose wheel the timer is on, if it is armed
  Nanos deadline = kNever;
  Atomic<std::uint32_t> orders{0};  ///< kCancel; relaxed: who gives an order wakes the actor

  // What it waits for, or did last. Relaxed: for reports, and written by itself.
  Atomic<std::uint32_t> waits_for{0};  ///< a WaitKind, and kTimed
  Atomic<std::uint64_t> waits_on{0};
  Atomic<std::uint64_t> asks{0};  ///< the word of the Pid whose answer it waits for

  alignas(std::max_align_t) std::byte storage[kStorageBytes];

  ObjectLock lock;
  // Guarded by lock.
  bool live = false;
  bool ended = false;
  bool left = false;
  bool handle = false;
  bool has_result = false;
  bool looked = false;  ///< somebody saw how it ended
  bool joined = false;  ///< somebody takes its exit, who holds the handle
  std::uint32_t generation = 0;
  WaitList joiners;
  Exit exit;
  Pid parent;
  internal::Letter* farewell = nullptr;  ///< what the parent will get
  Mailbox* mailbox = nullptr;            ///< made when the first letter comes
  WaitList letter_waiters;               ///< itself, if it waits for a letter
  Bonds* bonds = nullptr;                ///< made with the first link, monitor, name; see bonds.hpp

  // Written before it first runs, or by itself.
  std::uint32_t index = 0;
  std::uint32_t turns_of_select = 0;
  bool follows = false;  ///< ends when its parent does
  std::uint64_t place =
      0;  ///< among those with a name or a parent, in the order of starting; from 1
  std::string name;
  LocalValues* locals = nullptr;

  // Guarded by the inbox it is in.
  Actor* inbox_next = nullptr;
  bool in_inbox = false;

  static constexpr std::uint32_t kCancel = 1;
  static constexpr std::uint32_t kTimed = 256;

  void note_wait(WaitFor what, Nanos until) noexcept {
    waits_on.store_relaxed(what.on);
    waits_for.store_relaxed(static_cast<std::uint32_t>(what.kind) | (until == kNever ? 0 : kTimed));
  }

  [[nodiscard]] Pid pid() const noexcept { return {index, generation}; }

  [[nodiscard]] static Actor& of(TimerNode& node) noexcept {
    return *reinterpret_cast<Actor*>(reinterpret_cast<std::byte*>(&node) - offset_of_timer());
  }

 private:
  static std::size_t offset_of_timer() noexcept;
};

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#endif
inline std::size_t Actor::offset_of_timer() noexcept { return offsetof(Actor, timer); }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// The running actor; null on a plain thread. Asked of the thread anew each time, so right after a switch.
[[nodiscard]] inline Actor* this_actor() noexcept { return static_cast<Actor*>(turn().actor()); }

}  // namespace leat::actor
