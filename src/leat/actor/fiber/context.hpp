// What      Context: where a stack that is not running goes on, and the jump from one to another.
// Shape     Four words. Everything else that a function may keep in a register is in the clobber
//           list of the jump, so the compiler spills what is live, and nothing that is not.
//             pc   the instruction after the jump        sp   the stack pointer there
//             bp   the frame pointer                     bx   a register that compilers may reserve
//           (aarch64: pc, sp, x29 and x19, for the same reasons.)
// Protocol  `make` writes a context that calls `entry(argument, message)` on a fresh stack; `swap`
//           writes where the caller is to `from`, goes on where `to` left off, and returns there
//           what this caller passed as `message`.
// Limits    The control words of the floating point units, errno and the C++ exception state are
//           not here: Fiber keeps them. The jump goes through no return, so that the processor's
//           return predictor stays right; it cannot live with a shadow stack (CET), see
//           `shadow_stack_on`.
// Cost      4 stores, 4 loads, one indirect jump; the stack pointer does not move before the jump,
//           so the caller's red zone and its unwind tables stay true at every instruction.
// Source    The clobber list instead of a save area: photon and libfringe. Code is ours.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "leat actor: there is no context switch for this machine (x86-64 and aarch64 have one)"
#endif

namespace leat::actor {

/// The first function of a fresh stack. `message` is what the swap that started it passed.
/// It never returns.
using ContextEntry = void (*)(void* argument, void* message);

struct Context {
  void* sp = nullptr;
  void* pc = nullptr;
  void* bp = nullptr;
  void* bx = nullptr;
};

/// A context that calls `entry(argument, message)` when it is first swapped to.
///
/// `top` is the end of the memory it may use; it is aligned down to 16 bytes.
void make_context(Context& context, void* top, ContextEntry entry, void* argument) noexcept;

/// Leaves this stack at `from` and goes on where `to` was left.
///
/// Returns:  when somebody swaps to `from`, maybe on another thread: that swap's `message`.
/// Requires: `to` was made or left and runs nowhere.
[[gnu::always_inline]] inline void* swap_context(Context& from, const Context& to,
                                                 void* message) noexcept {
#if defined(__x86_64__)
  auto* save = &from;
  auto* load = &to;
  asm volatile(
      "leaq 1f(%%rip), %%rdx\n\t"
      "movq %%rsp, 0(%%rdi)\n\t"
      "movq %%rdx, 8(%%rdi)\n\t"
      "movq %%rbp, 16(%%rdi)\n\t"
      "movq %%rbx, 24(%%rdi)\n\t"
      "movq 16(%%rsi), %%rbp\n\t"
      "movq 24(%%rsi), %%rbx\n\t"
      "movq 0(%%rsi), %%rsp\n\t"
      "jmpq *8(%%rsi)\n"
      "1:\n\t"
      "endbr64"
      : "+D"(save), "+S"(load), "+a"(message)
      :
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15",
#if defined(__AVX512F__)
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7",
#endif
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "cc", "memory");
  return message;
#else
  register Context* save asm("x0") = &from;
  register const Context* load asm("x1") = &to;
  register void* word asm("x2") = message;
  asm volatile(
      "adr x3, 1f\n\t"
      "mov x4, sp\n\t"
      "stp x4, x3, [x0]\n\t"
      "stp x29, x19, [x0, #16]\n\t"
      "ldp x4, x17, [x1]\n\t"
      "ldp x29, x19, [x1, #16]\n\t"
      "mov sp, x4\n\t"
      "br x17\n"
      "1:\n\t"
      "hint #36"  // bti j
      : "+r"(save), "+r"(load), "+r"(word)
      :
      : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
        "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0",
        "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
        "v28", "v29", "v30", "v31", "cc", "memory");
  return word;
#endif
}

/// Whether this thread has a shadow stack (CET, GCS): a swap would end the process at the next
/// return. Nothing may be run on a made context then.
[[nodiscard]] bool shadow_stack_on() noexcept;

}  // namespace leat::actor
