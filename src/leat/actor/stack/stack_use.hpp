// What      How much of its stack somebody used, and where a stack is that does not run for long:
//           ParkedStack keeps the live part in the heap, so that the stack's memory can go.
// Protocol  Park, under whatever keeps the fiber from being run: `ParkedStack parked(stack, fiber)`,
//           then `region.release` for many stacks at once. Before it runs again: `parked.unpark()`.
// Invariants
//   (1) The stack goes back to the addresses it was at, so pointers into it stay true.
// Limits    While it is parked nobody may look at it: neither at its record nor at anything on it.
//           What others write to (a waiter's place, a result) lies elsewhere. Who has handed the
//           kernel an address on its stack is not parked.
// Cost      Parked: the bytes between the stack pointer and the top; some 200 for who waits in a
//           shallow loop, beside 4 KiB at least. A copy each way, and a fault when it comes back.
// Source    libaco's copied stacks, BEAM's hibernate.
#pragma once

#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/stack/stack.hpp>

#include <cstddef>
#include <memory>
#include <new>

namespace leat::actor {

/// How deep the stack was used, in bytes below its top, since its memory was last released; by this
/// owner and by those before it.
///
/// Cost: a system call, and a look at the pages that are there from the deepest on: for reports.
[[nodiscard]] std::size_t stack_used_bytes(Stack stack) noexcept;

/// Makes what lies below `fiber`'s stack pointer zeros, so that `stack_used_bytes` counts anew.
/// Requires: it is not running, or was not started: then all but its top is cleared.
void forget_stack_use(Stack stack, const Fiber* fiber) noexcept;

class ParkedStack {
 public:
  /// Copies the live part of the stack that `fiber` was left on.
  ///
  /// Requires: it is not running, and will not before `unpark`.
  /// Throws: std::bad_alloc.
  ParkedStack(Stack stack, const Fiber& fiber);
  /// Nothing is parked.
  ParkedStack() noexcept = default;

  explicit operator bool() const noexcept { return block_ != nullptr; }

  /// Puts it back. Threads: whoever runs the fiber next. Requires: something is parked.
  void unpark() noexcept;

  /// Requires: something is parked.
  [[nodiscard]] Stack stack() const noexcept { return head().stack; }
  /// What it takes in the heap. Requires: something is parked.
  [[nodiscard]] std::size_t bytes() const noexcept { return head().bytes; }

 private:
  struct Head {  // the copy follows it
    Stack stack;
    std::size_t bytes;
  };
  [[nodiscard]] const Head& head() const noexcept {
    return *std::launder(reinterpret_cast<const Head*>(block_.get()));
  }
  [[nodiscard]] std::byte* low() const noexcept;

  std::unique_ptr<std::byte[]> block_;
};

}  // namespace leat::actor
