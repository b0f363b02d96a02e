// What      Fiber: a stack that is left and entered again, with what the language keeps per thread
//           and must be kept per stack: the exceptions in hand, errno, and on demand the floating
//           point control.
// Protocol  Thread: make a Carrier, and a Fiber without a stack: that is the thread itself.
//           `fiber.start(low, top, entry, argument)`; `switch_to(carrier, self, fiber, message)`
//           runs `entry(argument, message)` there. `entry` never returns: it ends with
//           `switch_for_good`, after which its stack may be used for another fiber.
//           A switch stores all of `from` before it jumps, but runs on `from`'s stack until then:
//           whoever lets others find `from` does so on the other side of the switch.
// Limits    A fiber may go on on another thread than it was left on. The compiler does not know:
//           an address of a thread_local (errno is one) that was taken before a switch may be used
//           after it. Take such addresses in functions that are not inlined.
//           An exception cannot leave a fiber: `entry` catches. A fiber that is left for good in
//           mid-function is not unwound; what its frames owned leaks.
// Cost      Besides the jump: two 16-byte and two 4-byte words saved and loaded, one predicted
//           branch. Under ASan and TSan a switch is a call that tells them.
// Source    Exception state per fiber: boost.context after 1.88, userver. Ours in form.
#pragma once

#include <leat/actor/fiber/carrier.hpp>
#include <leat/actor/fiber/context.hpp>
#include <leat/actor/fiber/float_control.hpp>
#include <leat/actor/fiber/sanitizers.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::actor {

class Fiber;
[[noreturn]] inline void switch_for_good(Carrier& carrier, Fiber& from, Fiber& to,
                                         void* message) noexcept;

class Fiber {
 public:
  /// The calling thread's own stack, once it is switched from.
  Fiber() noexcept = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
#if LEAT_TSAN
  ~Fiber() { forget(); }
#endif

  /// Makes the next switch to this fiber call `entry(argument, message)`, which must not return.
  ///
  /// [low, top) is the memory it may use as its stack; `top` may be below the stack's own top,
  /// where the caller put something for `entry`.
  void start(void* low, void* top, ContextEntry entry, void* argument) noexcept {
    exceptions_ = {};
    error_number_ = 0;
    keeps_ = 0;
    low_ = low;
    top_ = top;
    fake_stack_ = nullptr;
#if LEAT_ASAN || LEAT_TSAN
#if LEAT_ASAN
    // Frames that were left for good poisoned what is now free.
    __asan_unpoison_memory_region(low, stack_bytes());
#endif
    entry_ = entry;
    argument_ = argument;
    make_context(context_, top, &Fiber::enter, this);
#else
    make_context(context_, top, entry, argument);
#endif
  }

  /// From now on, and until it is started anew, this fiber's floating point control is its own: it
  /// is saved and restored by every switch from it and to it, and others do not see it.
  ///
  /// Call it before the first change, on the fiber or before it is started for the first time. In
  /// debug builds a switch aborts if a fiber changed the control words and had not called this.
  void keep_float_control(const Carrier& carrier) noexcept {
    if (keeps_ == 0) float_control_ = carrier.float_control();
    keeps_ = kFloatControl;
  }
  [[nodiscard]] bool keeps_float_control() const noexcept { return keeps_ != 0; }

  /// Where it was left. Of use to debuggers and to who parks stacks. Requires: it is not running.
  [[nodiscard]] const Context& context() const noexcept { return context_; }

  /// The exceptions in hand where it was left. Requires: it is not running.
  [[nodiscard]] const ExceptionState& exceptions() const noexcept { return exceptions_; }

 private:
  friend void* switch_to(Carrier& carrier, Fiber& from, Fiber& to, void* message) noexcept;
  friend void switch_for_good(Carrier& carrier, Fiber& from, Fiber& to, void* message) noexcept;

  static constexpr std::uint32_t kFloatControl = 1;

  // Leaves `from` for `to`: all that is kept per fiber, but for the stack itself.
  [[gnu::always_inline]] static void exchange_state(Carrier& carrier, Fiber& from,
                                                    Fiber& to) noexcept {
    if (!LEAT_MUTANT("fiber.shares_exceptions")) {
      from.exceptions_ = carrier.exceptions();
      carrier.exceptions() = to.exceptions_;
    }
    if (!LEAT_MUTANT("fiber.shares_errno")) {
      from.error_number_ = carrier.error_number();
      carrier.error_number() = to.error_number_;
    }
#ifndef NDEBUG
    check_float_control(carrier, from);
#endif
    if ((from.keeps_ | to.keeps_) != 0 && !LEAT_MUTANT("fiber.shares_float_control")) [[unlikely]]
      exchange_float_control(carrier, from, to);
  }
  static void exchange_float_control(const Carrier& carrier, Fiber& from, Fiber& to) noexcept;
  static void check_float_control(const Carrier& carrier, const Fiber& from) noexcept;

  [[nodiscard]] std::size_t stack_bytes() const noexcept {
    return static_cast<std::size_t>(static_cast<std::byte*>(top_) - static_cast<std::byte*>(low_));
  }

#if LEAT_ASAN || LEAT_TSAN
  // The message of a switch, and who left: the other side settles both.
  struct Passage {
    void* message;
    Fiber* left;
    bool for_good;
  };
  static void* depart(Carrier& carrier, Fiber& from, Fiber& to, void* message,
                      bool for_good) noexcept;
  static void* arrive(void* passage, Fiber& here) noexcept;
  static void enter(void* fiber, void* passage);
  void forget() noexcept;
#endif

  Context context_;
  ExceptionState exceptions_;
  int error_number_ = 0;
  std::uint32_t keeps_ = 0;
  FloatControl float_control_;
  // For sanitizers; there in every build, so that no build option changes the layout.
  void* low_ = nullptr;
  void* top_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* race_fiber_ = nullptr;
  [[maybe_unused]] ContextEntry entry_ = nullptr;
  [[maybe_unused]] void* argument_ = nullptr;
};

#if LEAT_ASAN || LEAT_TSAN

/// See below.
inline void* switch_to(Carrier& carrier, Fiber& from, Fiber& to, void* message = nullptr) noexcept {
  return Fiber::depart(carrier, from, to, message, false);
}

inline void switch_for_good(Carrier& carrier, Fiber& from, Fiber& to,
                            void* message = nullptr) noexcept {
  Fiber::depart(carrier, from, to, message, true);
  __builtin_unreachable();
}

#else

/// Leaves `from`, which runs now, and goes on where `to` was left, or starts it.
///
/// Returns:  when somebody switches to `from`: that switch's `message`. Maybe on another thread, so
///           `carrier` is another one then.
/// Requires: `carrier` is the calling thread's; `to` runs nowhere.
[[gnu::always_inline]] inline void* switch_to(Carrier& carrier, Fiber& from, Fiber& to,
                                              void* message = nullptr) noexcept {
  Fiber::exchange_state(carrier, from, to);
  return swap_context(from.context_, to.context_, message);
}

/// Leaves `from` for ever: its stack may be used again as soon as `to` runs.
[[gnu::always_inline]] inline void switch_for_good(Carrier& carrier, Fiber& from, Fiber& to,
                                                   void* message = nullptr) noexcept {
  switch_to(carrier, from, to, message);
  __builtin_unreachable();
}

#endif

}  // namespace leat::actor
