// What      How a writer on any thread wakes the one reader that looked and found nothing.
// Shape
//                    tell (writers): exchange                       arm (reader): exchange
//           quiet, armed ------------------> news             news, quiet, armed -----------> armed
//           whoever finds armed calls the wake-up             whoever finds news looks again
// Protocol  Writer: put the datum where the reader looks, then `tell`.
//           Reader: look; if nothing is there, `arm`; if that is refused, look again.
// Invariants
//   (1) When `arm` returned true and a datum was told of that the reader did not see, the wake-up
//       has been called since, or is about to be.
//   (2) The wake-up is called at most once per successful `arm`; by several writers at once only if
//       the reader armed again meanwhile.
// Ordering  news   writer's exchange -> reader's: a datum that was told of is seen by the look
//                  after a refused `arm`.
//           asleep reader's exchange -> writer's: the wake-up was set before it is called, and what
//                  a reader on another thread did before it went to sleep is done.
//           Both are read-modify-writes of one word, so one comes before the other: either the
//           writer sees that the reader sleeps, or the reader sees that there is news. A store and
//           a load would not do: both may look away.
// Cost      tell: one exchange. arm: one exchange.
// Source    Ours, after the tokens of `core::Parker`.
#pragma once

#include <cstdint>
#include <utility>

#include <leat/base/atomic.hpp>
#include <leat/base/check.hpp>
#include <leat/base/function.hpp>
#include <leat/base/mutant.hpp>

namespace leat::dataflow::internal {

class Nudge {
  struct news : Edge {};    // writer -> reader: what was told of is there to be seen
  struct asleep : Edge {};  // reader -> writer: the wake-up is set

 public:
  /// What wakes the reader: called by writers, so from any thread. Threads: the reader; once.
  void wake_by(Function<void()> wake) {
    LEAT_CHECK(!wake_, "a reader of events is woken in two ways");
    wake_ = std::move(wake);
  }

  /// Says that there is something. Threads: any writer.
  void tell() {
    if (LEAT_MUTANT("nudge.told_without_exchange")) {
      const bool was_armed = state_.load_acquire(asleep{}) == kArmed;
      state_.store_release(kNews, news{});
      if (was_armed) wake_();
      return;
    }
    if (state_.exchange_acq_rel(kNews, asleep{}, news{}) == kArmed) wake_();
  }

  /// Has the next `tell` wake the reader.
  ///
  /// Returns: false if something was told since the reader last armed: look again.
  [[nodiscard]] bool arm() noexcept {
    if (!wake_) return true;  // who cannot be woken looks again by itself
    const bool was_told = state_.exchange_acq_rel(kArmed, news{}, asleep{}) == kNews;
    return !was_told || LEAT_MUTANT("nudge.does_not_look_again");
  }

 private:
  static constexpr std::uint32_t kQuiet = 0;
  static constexpr std::uint32_t kNews = 1;
  static constexpr std::uint32_t kArmed = 2;

  Atomic<std::uint32_t> state_{kQuiet};
  Function<void()> wake_;
};

}  // namespace leat::dataflow::internal
