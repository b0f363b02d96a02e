// What      Faults of the processor (SIGSEGV, SIGBUS, SIGFPE) as calls to one function of the program:
//           it may say what happened, and may have the thread go on elsewhere.
// Protocol  `handle_faults(handler)` once; each thread whose stack may be the reason of a fault makes
//           a SignalStack, on which the handler then runs. The handler runs in a signal handler:
//           it calls nothing but what is safe there.
// Limits    One handler in a process. What it does not answer goes to whoever handled the signal
//           before, or ends the process as if nobody had looked. A later sigaction for one of these
//           signals puts ours out of use.
// Source    sigaltstack(2); handlers that alter their ucontext, as Go's runtime has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leat::os {

/// What happened, and where.
class Fault {
 public:
  explicit Fault(void* info, void* context) noexcept : info_(info), context_(context) {}

  [[nodiscard]] int signal() const noexcept;
  /// The address that was accessed; of an arithmetic fault, that of the instruction.
  [[nodiscard]] std::uintptr_t address() const noexcept;
  /// Where the stack pointer was.
  [[nodiscard]] std::uintptr_t stack_pointer() const noexcept;
  /// SIGFPE, rather than one of memory.
  [[nodiscard]] bool is_arithmetic() const noexcept;

  /// The thread will call `entry(argument)` with an empty stack that ends at `top`, in place of what
  /// it did. `entry` must not return. Nothing is unwound.
  void go_on_at(void (*entry)(void*), void* argument, std::uintptr_t top) noexcept;

 private:
  void* info_;
  void* context_;
};

/// Returns: whether the thread is to go on, as it was told.
using FaultHandler = bool (*)(Fault& fault) noexcept;

/// Has `handler` called for each fault of this process from now on. A later call replaces it.
void handle_faults(FaultHandler handler) noexcept;

/// Memory for the calling thread's signal handlers, unless it has some already.
///
/// Threads: made and destroyed by the thread that it is for.
class SignalStack {
 public:
  SignalStack() noexcept;
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  static constexpr std::size_t kBytes = std::size_t{64} * 1024;
  std::byte* low_ = nullptr;
};

/// Writes to standard error without the C library's buffers: safe in a signal handler.
void write_error(const char* text, std::size_t bytes) noexcept;

}  // namespace leat::os
