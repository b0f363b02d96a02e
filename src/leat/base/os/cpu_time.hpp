// What      CPU time spent so far: what a spinning thread costs and a parked one does not.
// Cost      One system call each.
#pragma once

#include <leat/base/clock.hpp>

namespace leat::os {

/// By the calling thread, user and system together.
[[nodiscard]] Nanos thread_cpu() noexcept;

/// By all threads of this process, those that ended included.
[[nodiscard]] Nanos process_cpu() noexcept;

}  // namespace leat::os
