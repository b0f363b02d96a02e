// What      Has another thread of the process run a function now, wherever it is: to see what it is
//           doing.
// Protocol  `SampledThread self = this_thread_to_sample();` on the thread itself; then, by another,
//           `sample(thread, look, context)`. `look` runs in a signal handler on that thread, and
//           gets its stack pointer. It calls nothing but what is safe there, and `calls_here`.
// Limits    Uses one real-time signal, from the first call on; calls of the kernel that it
//           interrupts are made again. A thread that has ended must not be sampled.
//           Under ThreadSanitizer a handler runs when the thread calls the C library next.
// Source    pthread_kill(3), backtrace(3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace leat::os {

using SampledThread = unsigned long;  // a pthread_t; 0 is none

[[nodiscard]] SampledThread this_thread_to_sample() noexcept;

using SampleLook = void (*)(void* context, std::uintptr_t stack_pointer) noexcept;

/// Waits until `look` has run there, or `patience` rounds have passed: then it may not run any
/// more. Returns: whether it has. One at a time in a process; others wait.
bool sample(SampledThread thread, SampleLook look, void* context);

/// The addresses of the calls under way, in `look`, the innermost first. Returns: how many.
std::size_t calls_here(std::span<void*> into) noexcept;
/// A line for each address. Not in a handler.
[[nodiscard]] std::vector<std::string> names_of_calls(std::span<void* const> addresses);

}  // namespace leat::os
