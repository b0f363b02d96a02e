// What      A hint for the body of a loop that waits for another thread's store.
// Cost      One `pause` (x86) or `yield` (ARM) instruction, or nothing. With LEAT_MODEL=1 it hands
//           the turn to another model thread, so that a spinning loop ends in the model too.
#pragma once

#if defined(LEAT_MODEL) && LEAT_MODEL
#include <leat/base/model/hooks.hpp>
#endif

namespace leat {

/// Tells the processor (or the model checker) that this thread waits in a loop.
///
/// Threads:  any; never waits itself.
inline void spin_pause() noexcept {
#if defined(LEAT_MODEL) && LEAT_MODEL
  model::internal::spin_pause();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace leat
