#include <leat/base/os/fault.hpp>

#include <leat/base/atomic.hpp>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>

namespace leat::os {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr int kSignalsMost = 32;

// Relaxed: a function, which was there before anyone could name it.
constinit Atomic<FaultHandler> the_handler{nullptr};
struct sigaction before[kSignalsMost];  // written before our handler can be called

const siginfo_t& info_of(const void* info) { return *static_cast<const siginfo_t*>(info); }
mcontext_t& registers_of(void* context) { return static_cast<ucontext_t*>(context)->uc_mcontext; }

void on_signal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  Fault fault(info, context);
  const FaultHandler handler = the_handler.load_relaxed();
  if (handler != nullptr && handler(fault)) {
    errno = error;
    return;
  }
  errno = error;
  const struct sigaction& other = before[number];
  if ((other.sa_flags & SA_SIGINFO) != 0 && other.sa_sigaction != nullptr) {
    other.sa_sigaction(number, info, context);
  } else if (other.sa_handler != SIG_DFL && other.sa_handler != SIG_IGN) {
    other.sa_handler(number);
  } else {
    // The instruction faults again, and now nobody looks.
    struct sigaction plain{};
    plain.sa_handler = SIG_DFL;
    ::sigaction(number, &plain, nullptr);
    // Sent by hand, it would not come again by itself.
    if (info->si_code <= 0) ::raise(number);
  }
}

}  // namespace

int Fault::signal() const noexcept { return info_of(info_).si_signo; }

std::uintptr_t Fault::address() const noexcept {
  return reinterpret_cast<std::uintptr_t>(info_of(info_).si_addr);
}

bool Fault::is_arithmetic() const noexcept { return signal() == SIGFPE; }

std::uintptr_t Fault::stack_pointer() const noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(registers_of(context_).gregs[REG_RSP]);
#else
  return registers_of(context_).sp;
#endif
}

void Fault::go_on_at(void (*entry)(void*), void* argument, std::uintptr_t top) noexcept {
  mcontext_t& registers = registers_of(context_);
  top &= ~std::uintptr_t{15};
#if defined(__x86_64__)
  // As after a call: 8 bytes for an address to return to, which is null.
  top -= 8;
  *reinterpret_cast<std::uintptr_t*>(top) = 0;
  registers.gregs[REG_RSP] = static_cast<greg_t>(top);
  registers.gregs[REG_RBP] = 0;
  registers.gregs[REG_RDI] = reinterpret_cast<greg_t>(argument);
  registers.gregs[REG_RIP] = reinterpret_cast<greg_t>(entry);
  registers.gregs[REG_EFL] &= ~greg_t{0x400};  // the direction that strings go
#else
  registers.sp = top;
  registers.regs[29] = 0;
  registers.regs[30] = 0;
  registers.regs[0] = reinterpret_cast<std::uintptr_t>(argument);
  registers.pc = reinterpret_cast<std::uintptr_t>(entry);
#endif
}

void handle_faults(FaultHandler handler) noexcept {
  the_handler.store_relaxed(handler);
  static std::once_flag once;
  std::call_once(once, [] {
    for (const int number : kSignals) {
      struct sigaction ours{};
      ours.sa_sigaction = on_signal;
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
      ::sigaction(number, nullptr, &before[number]);
      ::sigaction(number, &ours, nullptr);
    }
  });
}

SignalStack::SignalStack() noexcept {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;  // faults still end the process, without a word
  stack_t ours{};
  ours.ss_sp = memory;
  ours.ss_size = kBytes;
  if (::sigaltstack(&ours, nullptr) != 0) {
    ::munmap(memory, kBytes);
    return;
  }
  low_ = static_cast<std::byte*>(memory);
}

SignalStack::~SignalStack() {
  if (low_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(low_, kBytes);
}

void write_error(const char* text, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const ssize_t wrote = ::write(STDERR_FILENO, text, bytes);
    if (wrote <= 0) return;
    text += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

}  // namespace leat::os
