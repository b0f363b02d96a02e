// What      Which of up to 1024 workers sleep, in one word per 64: a publisher that many workers
//           read asks it once instead of asking every parker.
// Protocol  Publisher: make the thing visible with a seq_cst store; `for_each_parked`, and unpark
//           each.
//           Worker, on its way to sleep: `set` its bit; then look again at all that is published,
//           with seq_cst loads; sleep if there is nothing; `clear` its bit when it is awake.
// Invariants
//   (1) A bit is set and cleared by its worker alone. Were a waker to clear it, the clear could hit
//       the worker's *next* sleep and hide it.
//   (2) A publisher sees the bit, or the worker's second look sees what was published.
// Ordering  doze  the seq_cst halves of "publish, then load the mask" and "set the bit, then look".
//           With release and acquire alone both may miss each other, and a wake-up is lost.
//           Clearing is relaxed: a bit seen too long costs a needless wake-up, no more.
// Limits    A sleeper that is just waking still shows its bit.
// Cost      Publisher: one load per 64 workers. Worker: two read-modify-writes per sleep.
// Source    Ours.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace leat::core {

class ParkMask {
  struct doze : Edge {};  // publish, then load the mask; set the bit, then look again: seq_cst

 public:
  static constexpr std::size_t kWorkersMax = 1024;

  /// Requires: `workers <= kWorkersMax`; checked.
  explicit ParkMask(std::size_t workers)
      : workers_(workers), words_(std::make_unique<Word[]>(word_count(workers))) {
    LEAT_CHECK(workers <= kWorkersMax, "more workers than a park mask has bits for");
  }

  [[nodiscard]] std::size_t workers() const noexcept { return workers_; }

  /// Says that `worker` is about to sleep. Threads: that worker. Look again after this.
  void set(std::size_t worker) noexcept {
    LEAT_DCHECK(worker < workers_, "no such worker");
    words_[worker / 64].bits.fetch_or_seq_cst(bit(worker), doze{}, doze{});
  }

  /// Says that `worker` is awake. Threads: that worker.
  void clear(std::size_t worker) noexcept {
    LEAT_DCHECK(worker < workers_, "no such worker");
    words_[worker / 64].bits.fetch_and_relaxed(~bit(worker));
  }

  /// Calls `wake(worker)` for each worker that may sleep.
  ///
  /// Requires: what they are woken for was made visible by a seq_cst store before.
  /// Returns:  how many there were.
  /// Threads:  any.
  template <class Wake>
  std::size_t for_each_parked(Wake&& wake) const {
    std::size_t called = 0;
    const std::size_t words = word_count(workers_);
    for (std::size_t i = 0; i < words; ++i) {
      for (std::uint64_t bits = words_[i].bits.load_seq_cst(doze{}); bits != 0; bits &= bits - 1) {
        wake(i * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        ++called;
      }
    }
    return called;
  }

 private:
  struct alignas(kCacheLine) Word {
    Atomic<std::uint64_t> bits{0};
  };

  static constexpr std::size_t word_count(std::size_t workers) noexcept {
    return (workers + 63) / 64;
  }
  static constexpr std::uint64_t bit(std::size_t worker) noexcept {
    return std::uint64_t{1} << (worker % 64);
  }

  std::size_t workers_;
  std::unique_ptr<Word[]> words_;
};

}  // namespace leat::core
