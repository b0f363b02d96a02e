#include <leat/actor/fiber/fiber.hpp>

namespace leat::actor {

void Fiber::exchange_float_control(const Carrier& carrier, Fiber& from, Fiber& to) noexcept {
  if (from.keeps_ != 0) from.float_control_ = FloatControl::now();
  (to.keeps_ != 0 ? to.float_control_ : carrier.float_control()).set();
}

void Fiber::check_float_control(const Carrier& carrier, const Fiber& from) noexcept {
  LEAT_CHECK(from.keeps_ != 0 || FloatControl::now() == carrier.float_control(),
             "a fiber changed the floating point control (rounding, traps, denormals) and would "
             "leave it to others: call keep_float_control first");
}

#if LEAT_ASAN || LEAT_TSAN

// These functions are not instrumented: ThreadSanitizer's record of calls must not see one entered
// on one stack and left on another.
#if defined(__clang__)
#define LEAT_ACTOR_UNSEEN __attribute__((no_sanitize("address", "thread"), noinline))
#else
#define LEAT_ACTOR_UNSEEN __attribute__((no_sanitize_address, no_sanitize_thread, noinline))
#endif

LEAT_ACTOR_UNSEEN void* Fiber::depart(Carrier& carrier, Fiber& from, Fiber& to, void* message,
                                      bool for_good) noexcept {
  Passage passage{message, &from, for_good};
  exchange_state(carrier, from, to);
#if LEAT_ASAN
  // Null tells it that this stack's fake frames may go.
  if (!LEAT_MUTANT("fiber.unannounced"))
    __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack_, to.low_,
                                   to.stack_bytes());
#endif
#if LEAT_TSAN
  from.race_fiber_ = __tsan_get_current_fiber();  // a thread's own may be another thread's by now
  // Made when it is first switched to: one that never ran cannot be destroyed.
  if (to.race_fiber_ == nullptr) to.race_fiber_ = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(to.race_fiber_, 0);
#endif
  return arrive(swap_context(from.context_, to.context_, &passage), from);
}

LEAT_ACTOR_UNSEEN void* Fiber::arrive(void* word, Fiber& here) noexcept {
  const Passage passage = *static_cast<Passage*>(word);
#if LEAT_ASAN
  const void* low = nullptr;
  std::size_t bytes = 0;
  if (!LEAT_MUTANT("fiber.unannounced"))
    __sanitizer_finish_switch_fiber(here.fake_stack_, &low, &bytes);
  if (passage.left->entry_ == nullptr) {  // a thread's own stack, whose place it tells us
    passage.left->low_ = const_cast<void*>(low);
    passage.left->top_ = static_cast<std::byte*>(const_cast<void*>(low)) + bytes;
  }
#endif
  static_cast<void>(here);
  if (passage.for_good) passage.left->forget();
  return passage.message;
}

LEAT_ACTOR_UNSEEN void Fiber::enter(void* fiber, void* passage) {
  auto& self = *static_cast<Fiber*>(fiber);
  void* message = arrive(passage, self);
  self.entry_(self.argument_, message);
}

void Fiber::forget() noexcept {
#if LEAT_TSAN
  if (race_fiber_ != nullptr && entry_ != nullptr) __tsan_destroy_fiber(race_fiber_);
  race_fiber_ = nullptr;
#endif
}

#endif

}  // namespace leat::actor
