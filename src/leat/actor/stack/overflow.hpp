// What      What happens when an actor runs out of stack: who it was is said, and if its runtime so
//           decides it alone ends, not the process. The same for other faults of its own making.
// Protocol  A Carrier watches on its thread. The runtime tells, once, how to name the owner of a stack
//           and how to end it: `tell_of_owners`.
//           A fault is an overflow if the address lies in the guard of the stack that the stack pointer
//           is in, or just above it. The handler runs on a stack of its own, prints, and either passes
//           the fault on, which ends the process, or has the thread call `end(owner, why)` on the
//           actor's stack, from its top.
// Invariants
//   (1) An actor is not ended that holds a lock or is in a static initialiser: others would wait for
//       ever. Then the process ends.
// Limits    An actor that is ended so is not unwound: what its frames own leaks, and a lock that is
//           not counted (the allocator's) stays locked. So this is asked for, not the rule.
//           A frame larger than the guard can jump it: compile with -fstack-clash-protection, which
//           touches each page. Guards are 4 KiB, and 64 KiB for stacks of 256 KiB and more.
// Source    folly's GuardPageAllocator, Go, userver name the culprit; ending it alone is ours.
#pragma once

#include <leat/actor/stack/stack.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace leat::actor {

/// Why the processor refused to go on.
enum class FaultKind : std::uint8_t { stack_overflow, null_access, arithmetic };

/// What the runtime knows of the owners of stacks. All is called in signal handlers but `end`.
struct OwnerCalls {
  /// Writes who `owner` is, as in `actor 17 "parser"`. Returns: how many characters.
  std::size_t (*name)(const void* owner, std::span<char> text) noexcept = nullptr;
  /// Whether `owner` alone is to end by such a fault.
  bool (*ends_alone)(const void* owner, FaultKind why) noexcept = nullptr;
  /// Ends it, on its own stack, from which nothing was unwound.
  void (*end)(void* owner, FaultKind why) = nullptr;
};

/// Replaces what was told before. Threads: any; before actors run.
void tell_of_owners(const OwnerCalls& calls) noexcept;

/// Has faults looked at from now on, in all threads. What a Carrier calls.
void watch_faults() noexcept;

}  // namespace leat::actor
