// What      A fence that one thread makes for all threads of the process: the dear half of a
//           protocol whose other half, in the hot path of others, then costs nothing.
// Protocol  Cheap side: store what you announce (relaxed), `light_fence`, load what others
//           announce. Dear side: store what you announce, `process_fence`, load what others
//           announce. Then at least one of the two sees the other, as if both had been seq_cst.
// Limits    Linux 4.14. Where the kernel refuses, and where a checker could not follow (the thread
//           sanitizer, the model), `process_fence_ready` is false: use seq_cst on both sides then.
// Cost      light_fence: none, it only holds the compiler. process_fence: a system call that
//           interrupts the CPUs on which threads of this process run; microseconds.
// Source    sys_membarrier; the asymmetric fences of folly and of P1202.
#pragma once

#include <atomic>

namespace leat::os {

/// Whether `process_fence` works here; the first call asks the kernel. Threads: any.
[[nodiscard]] bool process_fence_ready() noexcept;

/// Makes every running thread of the process pass a full fence, and the caller.
///
/// Requires: `process_fence_ready()`; checked.
void process_fence() noexcept;

/// Keeps the compiler from moving memory accesses over it.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

}  // namespace leat::os
