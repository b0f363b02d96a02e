// What      Fiber: a stack that is left and entered again, with what the language keeps per thread
//           and must be kept per stack: the exceptions in hand, and errno.
// Protocol  Thread: make a Carrier, and a Fiber without a stack: that is the thread itself.
//           `fiber.start(stack, top, entry, argument)`; `switch_to(carrier, self, fiber, message)`
//           runs `entry(argument, message)` there. `entry` never returns: it ends with
//           `switch_for_good`, after which its stack may be used for another fiber.
//           A switch stores everything of `from` before it jumps, but runs on `from`'s stack until
//           then: whoever lets others find `from` does so on the other side of the switch.
// Limits    A fiber may go on on another thread than it was left on. The compiler does not know:
//           an address of a thread_local (errno is one) that was taken before a switch may be used
//           after it. Take such addresses in functions that are not inlined.
//           An exception cannot leave a fiber: `entry` catches.
// Cost      16 memory accesses besides those of the jump.
// Source    Exception state per fiber: boost.context after 1.88, userver. Ours in form.
#pragma once

#include <leat/actor/fiber/carrier.hpp>
#include <leat/actor/fiber/context.hpp>

#include <cstddef>

namespace leat::actor {

class Fiber {
 public:
  /// The calling thread's own stack, once it is switched from.
  Fiber() noexcept = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the next switch to this fiber call `entry(argument, message)`, which must not return.
  ///
  /// [low, top) is the memory it may use as its stack; `top` may be below the stack's own top,
  /// where the caller put something for `entry`.
  void start(void* low, void* top, ContextEntry entry, void* argument) noexcept {
    exceptions_ = {};
    error_number_ = 0;
    low_ = low;
    top_ = top;
    make_context(context_, top, entry, argument);
  }

  /// Where it was left. Of use to debuggers and to who parks stacks. Requires: it is not running.
  [[nodiscard]] const Context& context() const noexcept { return context_; }

 private:
  friend void* switch_to(Carrier& carrier, Fiber& from, Fiber& to, void* message) noexcept;

  Context context_;
  ExceptionState exceptions_;
  int error_number_ = 0;
  void* low_ = nullptr;
  void* top_ = nullptr;
};

/// Leaves `from`, which runs now, and goes on where `to` was left, or starts it.
///
/// Returns:  when somebody switches to `from`: that switch's `message`. Maybe on another thread, so
///           `carrier` is another one then.
/// Requires: `carrier` is the calling thread's; `to` runs nowhere.
[[gnu::always_inline]] inline void* switch_to(Carrier& carrier, Fiber& from, Fiber& to,
                                              void* message = nullptr) noexcept {
  from.exceptions_ = carrier.exceptions();
  carrier.exceptions() = to.exceptions_;
  from.error_number_ = carrier.error_number();
  carrier.error_number() = to.error_number_;
  return swap_context(from.context_, to.context_, message);
}

/// Leaves `from` for ever: its stack may be used again as soon as `to` runs.
[[noreturn]] inline void switch_for_good(Carrier& carrier, Fiber& from, Fiber& to,
                                         void* message = nullptr) noexcept {
  switch_to(carrier, from, to, message);
  __builtin_unreachable();
}

}  // namespace leat::actor
