// What      The message that all queues of these benchmarks carry, and how a thread waits in them.
#pragma once

#include <leat/base/spin_pause.hpp>

#include <cstddef>
#include <cstdint>
#include <thread>

namespace leat::bench {

template <std::size_t kBytes>
struct Message {
  std::uint64_t sequence = 0;
  unsigned char rest[kBytes - 8] = {};
};
template <>
struct Message<8> {
  std::uint64_t sequence = 0;
};

/// Waits a little after a try in vain; yields where a thread of the same core may have to run.
class Backoff {
 public:
  void wait() {
    if (++tries_ < 100) {
      spin_pause();
    } else {
      std::this_thread::yield();
    }
  }
  void reset() noexcept { tries_ = 0; }

 private:
  int tries_ = 0;
};

}  // namespace leat::bench
