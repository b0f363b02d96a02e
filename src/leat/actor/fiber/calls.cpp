#include <leat/actor/fiber/calls.hpp>

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdint>

// leat_actor_calls_of(context, addresses, count): backtrace(addresses, count), as if what the context
// names had called it. From the call on the table says: the stack pointer of the caller, its address,
// and the two registers that a context has, are in these registers, which are the callee's to keep.
#if defined(__x86_64__)

asm(R"(
.text
.p2align 4
.globl leat_actor_calls_of
.hidden leat_actor_calls_of
.type leat_actor_calls_of, @function
leat_actor_calls_of:
  .cfi_startproc
  endbr64
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  movq 0(%rdi), %rbx
  movq 8(%rdi), %r12
  movq 16(%rdi), %r13
  movq 24(%rdi), %r14
  movq %rsi, %rdi
  movl %edx, %esi
  .cfi_remember_state
  .cfi_def_cfa 3, 0
  .cfi_register 16, 12
  .cfi_register 6, 13
  .cfi_register 3, 14
  call backtrace@PLT
  nop
  .cfi_restore_state
  popq %r14
  .cfi_adjust_cfa_offset -8
  popq %r13
  .cfi_adjust_cfa_offset -8
  popq %r12
  .cfi_adjust_cfa_offset -8
  popq %rbp
  .cfi_adjust_cfa_offset -8
  popq %rbx
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
.globl leat_actor_calls_of_end
.hidden leat_actor_calls_of_end
leat_actor_calls_of_end:
.size leat_actor_calls_of, . - leat_actor_calls_of
)");

#else

asm(R"(
.text
.p2align 4
.globl leat_actor_calls_of
.hidden leat_actor_calls_of
.type leat_actor_calls_of, %function
leat_actor_calls_of:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-48]!
  .cfi_adjust_cfa_offset 48
  .cfi_rel_offset 29, 0
  .cfi_rel_offset 30, 8
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  ldp x19, x20, [x0]
  ldp x21, x22, [x0, #16]
  mov x0, x1
  mov w1, w2
  .cfi_remember_state
  .cfi_def_cfa 19, 0
  .cfi_register 30, 20
  .cfi_register 29, 21
  .cfi_register 19, 22
  bl backtrace
  nop
  .cfi_restore_state
  ldp x21, x22, [sp, #32]
  ldp x19, x20, [sp, #16]
  ldp x29, x30, [sp], #48
  .cfi_adjust_cfa_offset -48
  .cfi_restore 29
  .cfi_restore 30
  ret
  .cfi_endproc
.globl leat_actor_calls_of_end
.hidden leat_actor_calls_of_end
leat_actor_calls_of_end:
.size leat_actor_calls_of, . - leat_actor_calls_of
)");

#endif

extern "C" int leat_actor_calls_of(const leat::actor::Context* context, void** addresses,
                                   int count) noexcept;
extern "C" const char leat_actor_calls_of_end[];

namespace leat::actor {

std::size_t calls_of(const Context& context, std::span<void*> into) noexcept {
  std::array<void*, 72> found;
  const int all = leat_actor_calls_of(&context, found.data(), static_cast<int>(found.size()));
  // What lies above the stack in question: the function above, and what a sanitizer puts there.
  const auto begin = reinterpret_cast<std::uintptr_t>(&leat_actor_calls_of);
  const auto end = reinterpret_cast<std::uintptr_t>(&leat_actor_calls_of_end);
  const auto last = found.begin() + std::max(all, 0);
  const auto seam = std::find_if(found.begin(), last, [&](void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  });
  if (seam == last) return 0;
  const std::size_t count = std::min(static_cast<std::size_t>(last - seam) - 1, into.size());
  std::copy_n(seam + 1, count, into.begin());
  return count;
}

}  // namespace leat::actor
