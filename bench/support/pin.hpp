// What      Puts the threads of a benchmark on cores.
#pragma once

#include <leat/base/os/affinity.hpp>

#include <cstddef>

namespace leat::bench {

/// Puts the calling thread, the `index`th of its kind, on a core; around again if they are few.
inline void pin_by_index(std::size_t index) {
  const auto cpus = os::cpus_allowed();
  // If the system refuses, the thread runs where it will: the spread of the runs shows it.
  static_cast<void>(os::pin_this_thread(cpus[index % cpus.size()]));
}

}  // namespace leat::bench
