// What      Ticker: a thread that counts, a tick each period, as long as some worker runs actors: for
//           time slices where the processor's clock cannot be read, or is not to be.
// Protocol  A worker says `busy` before it runs actors and `idle` before it sleeps. A turn goes by
//           `ticks()`: it is over when they have moved since it was first looked at.
// Limits    A turn lasts up to a period, and at least as long as the kernel wakes the thread late.
// Cost      To the actors: a load at each look. While somebody works: the thread wakes each period;
//           while nobody does, it sleeps.
// Source    Go's sysmon and ticks of kernels.
#pragma once

#include <leat/actor/preempt/turn.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>
#include <leat/core/parker.hpp>

#include <cstdint>
#include <thread>

namespace leat::actor {

class Ticker {
  struct work : Edge {};  // a worker that wakes -> the thread, which counted as needless before

 public:
  /// Requires: `period > 0`; checked.
  explicit Ticker(Nanos period);
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  ~Ticker();

  /// Threads: any.
  void busy() noexcept;
  void idle() noexcept { busy_.fetch_sub_relaxed(1); }

  [[nodiscard]] const Ticks& ticks() const noexcept { return ticks_; }

 private:
  void run();

  const Nanos period_;
  alignas(kSector) Ticks ticks_{0};
  alignas(kSector) Atomic<std::uint32_t> busy_{0};
  Atomic<bool> over_{false};  // relaxed: the parker's token carries it
  core::Parker parker_;
  std::thread thread_;
};

}  // namespace leat::actor
