#include <leat/base/model/fiber.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cxxabi.h>
#include <cstdint>

#include <leat/base/check.hpp>

namespace leat::model::internal {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;

std::byte* map_stack() {
  void* memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  LEAT_CHECK(memory != MAP_FAILED, "no memory for the stack of a model thread");
  // The lowest page is a guard: an overflow faults instead of writing elsewhere.
  ::mprotect(memory, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

#if defined(__x86_64__)

// Saves what the ABI asks a callee to keep, swaps stacks, and restores. A fresh stack is laid out
// as if it had been left here: six registers, then the address to return to.
asm(R"(
.text
.p2align 4
.type leat_model_fiber_switch, @function
leat_model_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size leat_model_fiber_switch, . - leat_model_fiber_switch

.p2align 4
.type leat_model_fiber_entry, @function
leat_model_fiber_entry:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size leat_model_fiber_entry, . - leat_model_fiber_entry
)");

extern "C" {
void leat_model_fiber_switch(void** save, void* load) noexcept;
void leat_model_fiber_entry() noexcept;
}

void Fiber::start(void (*entry)(void*), void* argument) {
  if (stack_ == nullptr) stack_ = map_stack();
  exceptions_ = {};
  auto* top = reinterpret_cast<std::uint64_t*>(stack_ + kStackBytes);
  top -=
      2;  // keeps the stack aligned at the call in leat_model_fiber_entry, and ends it with zeros
  top[0] = 0;
  top[1] = 0;
  *--top = reinterpret_cast<std::uint64_t>(&leat_model_fiber_entry);
  *--top = 0;                                          // rbp
  *--top = reinterpret_cast<std::uint64_t>(entry);     // rbx
  *--top = reinterpret_cast<std::uint64_t>(argument);  // r12
  *--top = 0;                                          // r13
  *--top = 0;                                          // r14
  *--top = 0;                                          // r15
  stack_pointer_ = top;
}

#else

void Fiber::start(void (*entry)(void*), void* argument) {
  if (stack_ == nullptr) stack_ = map_stack();
  exceptions_ = {};
  ::getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  // makecontext passes ints: hand each pointer over in two halves.
  const auto call = [](unsigned a, unsigned b, unsigned c, unsigned d) {
    const auto join = [](unsigned high, unsigned low) {
      return (static_cast<std::uint64_t>(high) << 32U) | low;
    };
    reinterpret_cast<void (*)(void*)>(join(a, b))(reinterpret_cast<void*>(join(c, d)));
  };
  const auto high = [](std::uint64_t v) { return static_cast<unsigned>(v >> 32U); };
  const auto low = [](std::uint64_t v) { return static_cast<unsigned>(v); };
  const auto e = reinterpret_cast<std::uint64_t>(entry);
  const auto a = reinterpret_cast<std::uint64_t>(argument);
  void (*trampoline)(unsigned, unsigned, unsigned, unsigned) = call;
  ::makecontext(&context_, reinterpret_cast<void (*)()>(trampoline), 4, high(e), low(e), high(a),
                low(a));
}

#endif

Fiber::~Fiber() {
  if (stack_ != nullptr) ::munmap(stack_, kStackBytes);
}

void Fiber::switch_to(Fiber& from, Fiber& to) noexcept {
  auto* state = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  from.exceptions_ = *state;
  *state = to.exceptions_;
#if defined(__x86_64__)
  leat_model_fiber_switch(&from.stack_pointer_, to.stack_pointer_);
#else
  ::swapcontext(&from.context_, &to.context_);
#endif
}

}  // namespace leat::model::internal
