#include <leat/actor/fiber/context.hpp>

#include <leat/base/mutant.hpp>

namespace leat::actor {

// The bottom frame of every fresh stack. Its caller's address is undefined in the unwind tables, and
// its frame pointer is 0, so that an unwinder of either kind stops here.
#if defined(__x86_64__)

asm(R"(
.text
.p2align 4
.globl leat_actor_context_start
.hidden leat_actor_context_start
.type leat_actor_context_start, @function
leat_actor_context_start:
  .cfi_startproc
  .cfi_undefined rip
  .cfi_undefined rbp
  endbr64
  movq %rbp, %rcx
  xorl %ebp, %ebp
  movq %rbx, %rdi
  movq %rax, %rsi
  callq *%rcx
  ud2
  .cfi_endproc
.size leat_actor_context_start, . - leat_actor_context_start
)");

#else

asm(R"(
.text
.p2align 4
.globl leat_actor_context_start
.hidden leat_actor_context_start
.type leat_actor_context_start, %function
leat_actor_context_start:
  .cfi_startproc
  .cfi_undefined x30
  hint #36
  mov x3, x29
  mov x29, #0
  mov x30, #0
  mov x0, x19
  mov x1, x2
  blr x3
  brk #1
  .cfi_endproc
.size leat_actor_context_start, . - leat_actor_context_start
)");

#endif

extern "C" void leat_actor_context_start() noexcept;

void make_context(Context& context, void* top, ContextEntry entry, void* argument) noexcept {
  context.sp = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
  context.pc = reinterpret_cast<void*>(&leat_actor_context_start);
  context.bp = reinterpret_cast<void*>(entry);
  context.bx = argument;
}

bool shadow_stack_on() noexcept {
  if (LEAT_MUTANT("context.has_shadow_stack")) return true;
#if defined(__x86_64__)
  std::uint64_t pointer = 0;
  asm volatile("rdsspq %0" : "+r"(pointer));  // does nothing where there is no shadow stack
  return pointer != 0;
#else
  std::uint64_t on = 0;
  asm volatile("mov x16, #1\n\thint #40\n\tmov %0, x16" : "=r"(on) : : "x16");  // chkfeat x16
  return on == 0;  // the bit is cleared where the guarded control stack is on
#endif
}

}  // namespace leat::actor
