// What      Stacks that one thread switches between: what model threads run on.
// Limits    A fiber that is left for good is never unwound; what it owned leaks. The next `start`
//           reuses its stack. Switches keep the C++ exception state of each fiber apart.
// Cost      A switch is some ten instructions on x86-64, two system calls elsewhere (ucontext).
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace leat::model::internal {

/// One stack, or the stack of the thread itself (without `start`).
class Fiber {
 public:
  Fiber() noexcept = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the next switch to this fiber call `entry(argument)` on a fresh stack; it must not
  /// return.
  void start(void (*entry)(void*), void* argument);

  /// Leaves `from`, which runs now, and goes on where `to` left off.
  static void switch_to(Fiber& from, Fiber& to) noexcept;

 private:
  // What libstdc++ and libc++abi keep per thread: caught exceptions, and the count in flight.
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int in_flight = 0;
  };

  std::byte* stack_ = nullptr;
  ExceptionState exceptions_;
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_{};
#endif
};

}  // namespace leat::model::internal
