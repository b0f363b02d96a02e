// What      How long a worker with nothing to do polls before it parks, and how politely.
// Protocol  The worker calls `poll`, and parks if that found nothing. Or it does the same by hand:
//           asks `budget`, polls for at most that long, and says `found` or, on its way to the
//           parker, `missed`.
// Invariants
//   (1) 0 <= budget() <= idle_spin. idle_spin 0 neither polls nor yields.
//   (2) While the crowd is larger than the CPUs, budget() is 0 and what happens then teaches
//       nothing. `poll` yields instead, at most kYields times, and looks after each: the kernel
//       runs a peer meanwhile, and a yield costs less than the sleep and the wake it saves.
//   (3) After a yield that took kLongYield or longer the next kParkAtOnce crowded spells park at
//       once: what runs here has much to do, or is a stranger who takes whole slices.
//   (4) kPatience misses in a row cost the whole budget each; every further one halves it; under an
//       eighth it is 0. Then every kRetryEvery-th idle spell polls once with the whole budget, to
//       notice that times have changed: a worker whom polling never helps pays 1/kRetryEvery of it.
//   (5) One success restores the whole budget.
// Limits    One thread's. It adapts to successes only; it does not predict when something will
//           come.
// Cost      Arithmetic on three words, and one load of the crowd; crowded, a system call per look.
// Source    Ours. Spinning for about the cost of the sleep is Karlin et al. 1991 ("Empirical
//           studies of competitive spinning"); yielding when crowded is ours. A round of eight
//           workers on two CPUs takes a third of what it takes with parking at once.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/core/crowd.hpp>

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace leat::core {

class IdlePolicy {
 public:
  static constexpr Nanos kIdleSpin = std::chrono::microseconds(10);
  static constexpr std::uint32_t kPatience = 8;
  static constexpr std::uint32_t kRetryEvery = 32;
  static constexpr int kYields = 16;
  static constexpr Nanos kLongYield = std::chrono::microseconds(500);
  static constexpr std::uint32_t kParkAtOnce = 64;

  /// `idle_spin`: the most that is polled before parking. Without a crowd, nobody is in the way.
  explicit IdlePolicy(Nanos idle_spin = kIdleSpin, const Crowd* crowd = nullptr) noexcept
      : idle_spin_(idle_spin < Nanos{0} ? Nanos{0} : idle_spin),
        budget_(idle_spin_),
        crowd_(crowd) {}

  /// How long to poll now; 0: park at once.
  [[nodiscard]] Nanos budget() const noexcept { return crowded() ? Nanos{0} : budget_; }

  /// Polling found something.
  void found() noexcept {
    budget_ = idle_spin_;
    misses_ = 0;
  }

  /// The budget, which may have been 0, was spent and nothing was found.
  void missed() noexcept {
    if (crowded()) return;
    ++misses_;
    if (budget_ == Nanos{0}) {
      if (misses_ == kRetryEvery) budget_ = idle_spin_;
    } else if (misses_ >= kRetryEvery) {
      budget_ = Nanos{0};  // the retry failed
      misses_ = 0;
    } else if (misses_ >= kPatience) {
      budget_ /= 2;
      if (budget_ < idle_spin_ / 8) {
        budget_ = Nanos{0};
        misses_ = 0;
      }
    }
  }

  /// Calls `ready()` again and again until it is true or the budget is spent, and learns from it;
  /// crowded, until it is true or a few yields were made.
  ///
  /// Returns: whether `ready()` was true; if not, park. Waits, for at most the budget, or for what
  /// the kernel runs during the yields.
  template <class Ready>
  bool poll(const Clock& clock, Ready&& ready) {
    if (crowded()) return yield_until(clock, ready);
    const Nanos spend = budget();
    if (spend > Nanos{0}) {
      const Nanos deadline = clock.now() + spend;
      do {
        for (int i = 0; i < kPollsPerClockRead; ++i) {
          if (ready()) {
            found();
            return true;
          }
          spin_pause();
        }
      } while (clock.now() < deadline && !crowded());
    }
    missed();
    return false;
  }

  [[nodiscard]] Nanos idle_spin() const noexcept { return idle_spin_; }

 private:
  static constexpr int kPollsPerClockRead = 8;

  template <class Ready>
  bool yield_until(const Clock& clock, Ready&& ready) {
    if (idle_spin_ == Nanos{0}) return false;
    if (park_at_once_ > 0) {
      --park_at_once_;
      return false;
    }
    Nanos before = clock.now();
    for (int i = 0; i < kYields; ++i) {
      std::this_thread::yield();
      if (ready()) return true;
      const Nanos now = clock.now();
      if (now - before >= kLongYield) {
        park_at_once_ = kParkAtOnce;
        return false;
      }
      before = now;
    }
    return false;
  }

  [[nodiscard]] bool crowded() const noexcept { return crowd_ != nullptr && crowd_->crowded(); }

  Nanos idle_spin_;
  Nanos budget_;
  std::uint32_t misses_ = 0;        // in a row; once the budget is 0, spells since
  std::uint32_t park_at_once_ = 0;  // crowded spells that do not yield
  const Crowd* crowd_;
};

}  // namespace leat::core
