// What      How a consumer or producer passes the time when there is nothing for it to do: polls at
//           once, polls after pauses, yields to other threads, sleeps.
// Protocol  The caller makes an IdleSteps per wait, and takes a step after each look in vain.
// Limits    Sleeping needs a ring that was made `wakeable`. A stop ends a wait of those who look; who
//           sleeps must be woken for it: `token.add_waker([ring]() mutable { ring.wake_all(); })`.
// Cost      A pause takes 10 to 140 cycles, by processor. A consumer that polls without one takes
//           the slot's line away from the producer that writes it: a few pauses can make a stream
//           faster and a lone message later, so it is the caller's choice.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/core/stop.hpp>

#include <chrono>
#include <cstdint>
#include <thread>

namespace leat::queue {

struct Waiting {
  /// Pauses after each look in vain, 0 to 255.
  std::uint8_t pauses = 1;
  /// Looks before the first yield.
  std::uint32_t looks = 1000;
  /// Yields, with a look after each, before the first sleep. Without sleep it goes on yielding.
  std::uint32_t yields = 16;
  /// Whether to sleep then.
  bool sleeps = false;
  /// The longest sleep before it looks again by itself: bounds what a producer costs that is killed
  /// just before it wakes us.
  Nanos sleep_at_most = std::chrono::milliseconds(100);
  /// Ends the wait, as if its time had run out, once a stop is requested. Null: nothing does.
  const core::StopToken* stop = nullptr;

  /// Never leaves the processor.
  [[nodiscard]] static constexpr Waiting spinning(std::uint8_t pauses = 1) noexcept {
    return {.pauses = pauses, .looks = ~std::uint32_t{0}};
  }
  /// Polite where threads outnumber cores.
  [[nodiscard]] static constexpr Waiting yielding() noexcept { return {}; }
  /// For the idle. Requires: a wakeable ring; checked.
  [[nodiscard]] static constexpr Waiting sleeping() noexcept { return {.sleeps = true}; }

  [[nodiscard]] bool stopped() const noexcept { return stop != nullptr && stop->requested(); }
};

/// One wait.
class IdleSteps {
 public:
  explicit IdleSteps(const Waiting& waiting) noexcept : waiting_(waiting) {}

  /// Waits one step; `sleep()` is called when it is time for that.
  template <class Sleep>
  void step(Sleep&& sleep) {
    ++steps_;
    if (steps_ <= waiting_.looks) {
      for (unsigned i = 0; i < waiting_.pauses; ++i) spin_pause();
    } else if (!waiting_.sleeps || steps_ - waiting_.looks <= waiting_.yields) {
      std::this_thread::yield();
    } else {
      sleep();
    }
  }

 private:
  Waiting waiting_;
  std::uint64_t steps_ = 0;
};

}  // namespace leat::queue
