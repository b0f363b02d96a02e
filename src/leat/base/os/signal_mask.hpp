// What      Which signals the calling thread blocks, and what is to be done in the child of a fork.
#pragma once

#include <cstdint>

namespace leat::os {

/// The signals that the calling thread blocks now, one bit each. Cost: one system call.
[[nodiscard]] std::uint64_t signal_mask() noexcept;

/// Has `call` run in the child of every later fork, on the thread that forked; once, however often
/// this is called with it. Limits: for one function in a program.
void call_in_child_of_fork(void (*call)()) noexcept;

}  // namespace leat::os
