// What      Stack: one slot of the stack region, as a handle of a word; and the way from a stack
//           pointer to who runs on it.
// Shape     A slot is 16, 64, 256 or 1024 KiB and aligned to its size:
//             low |guard| ... the stack grows down ... | StackRecord | color | high
//           Color is 0 to 15 times 128 bytes, from the slot's place in the region: without it the
//           hot lines of all stacks would fall into the same few sets of the first-level cache.
// Protocol  Whoever runs something on a stack writes itself to `record().owner`; code that runs
//           there asks `current_owner()`, on whatever thread it is, without a thread_local.
// Limits    `current_owner` is null on stacks that are not of the region: those of plain threads
//           and of signal handlers.
// Cost      current_owner: two loads and some arithmetic.
#pragma once

#include <leat/base/atomic.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::actor {

/// The sizes of slots, guard included.
enum class StackClass : std::uint8_t { k16KiB, k64KiB, k256KiB, k1MiB };
inline constexpr std::size_t kStackClasses = 4;

/// log2 of the bytes of a slot.
[[nodiscard]] constexpr unsigned stack_shift(StackClass c) noexcept {
  return 14 + 2 * static_cast<unsigned>(c);
}
[[nodiscard]] constexpr std::size_t stack_bytes(StackClass c) noexcept {
  return std::size_t{1} << stack_shift(c);
}

class Stack;

/// What stands at the top of each stack; its user's, but for `next`.
struct StackRecord {
  void* owner;           ///< who runs here; null if nobody
  std::uintptr_t next;   ///< links stacks that lie in a pool
  std::uintptr_t spare;  ///< keeps `top` aligned
  std::uintptr_t spare2;
};

namespace internal {

// Where the process' stack region lies: written once, before anything runs there.
struct StackPlace {
  Atomic<std::uintptr_t> low{~std::uintptr_t{0}};  // nothing lies above it
  Atomic<std::uintptr_t> class_shift{0};           // log2 of the bytes of a class
};
inline constinit StackPlace stack_place;

[[nodiscard]] inline std::uintptr_t stack_record_of(std::uintptr_t in_slot, unsigned shift) {
  const std::uintptr_t color = ((in_slot >> shift) & 15) * 128;
  const std::uintptr_t end = ((in_slot >> shift) + 1) << shift;
  return end - color - sizeof(StackRecord);
}

}  // namespace internal

class Stack {
 public:
  /// No stack.
  constexpr Stack() noexcept = default;
  Stack(std::uintptr_t low, StackClass c) noexcept : word_(low | static_cast<std::uintptr_t>(c)) {}

  explicit operator bool() const noexcept { return word_ != 0; }
  friend bool operator==(Stack, Stack) noexcept = default;

  [[nodiscard]] StackClass stack_class() const noexcept {
    return static_cast<StackClass>(word_ & 15);
  }
  /// The lowest byte of the slot, which is the guard's.
  [[nodiscard]] std::byte* slot() const noexcept {
    return reinterpret_cast<std::byte*>(word_ & ~std::uintptr_t{15});
  }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return stack_bytes(stack_class()); }

  /// The end of the bytes that may be used as stack; aligned to 16.
  [[nodiscard]] std::byte* top() const noexcept { return reinterpret_cast<std::byte*>(&record()); }
  [[nodiscard]] StackRecord& record() const noexcept {
    return *reinterpret_cast<StackRecord*>(
        internal::stack_record_of(word_, stack_shift(stack_class())));
  }

  /// The handle as a number, and back.
  [[nodiscard]] std::uintptr_t word() const noexcept { return word_; }
  [[nodiscard]] static Stack of_word(std::uintptr_t word) noexcept {
    Stack stack;
    stack.word_ = word;
    return stack;
  }

  /// The stack that `address` lies in; none if it is not in the process' stack region.
  [[nodiscard]] static Stack of(const void* address) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    // Relaxed: whoever runs on a stack was started by someone who knew of the region.
    const std::uintptr_t offset = at - internal::stack_place.low.load_relaxed();
    const std::uintptr_t index = offset >> internal::stack_place.class_shift.load_relaxed();
    if (index >= kStackClasses) return {};
    const auto c = static_cast<StackClass>(index);
    return {at & ~(stack_bytes(c) - 1), c};
  }

 private:
  std::uintptr_t word_ = 0;  // the low end, and the class in the low bits
};

/// Who runs on the caller's stack, as its record says; null on a stack that is not ours.
[[nodiscard]] inline void* current_owner() noexcept {
  const Stack stack = Stack::of(__builtin_frame_address(0));
  return stack ? stack.record().owner : nullptr;
}

}  // namespace leat::actor
