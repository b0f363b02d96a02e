// What      The word on which ends of a ring sleep, in the ring's own memory, and by which the other
//           side wakes them: consumers on one bell, producers that wait for room on another.
// Shape     | count of wakes: 31 | somebody may sleep: 1 |
// Protocol  Producer: publish the stamp (seq_cst), then `ring`: one load, and only if the bit is set
//           a compare-exchange that clears it and a system call.
//           Consumer: set the bit; look again at what it waits for (seq_cst); sleep while the word is
//           what it saw.
//           Who waits for more than one word to change, a producer for room, has a barrier in the
//           place of the two seq_cst accesses: `ring_behind_barrier`, `sleep_behind_barrier`.
// Invariants
//   (1) Whoever clears the bit changes the count, so that whoever is about to sleep does not.
// Ordering  doze  the seq_cst halves of "publish, then look at the bit" and "set the bit, then look
//                 at the stamp": at least one of the two sees the other.
//           room  the same by barriers: between "done with messages" and the look at the bit, and
//                 between the bit and the look at all cursors.
// Limits    All who sleep are woken. A producer that is killed between clearing the bit and its
//           system call wakes nobody: sleep for a while, not for ever.
// Cost      One load while nobody sleeps, beside the barrier.
// Source    Ours; event counts.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/futex.hpp>
#include <leat/queue/ring/step.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace leat::queue {

class RingBell {
  struct doze : Edge {};  // publish, then look who sleeps; say that I sleep, then look: seq_cst
  struct room : Edge {};  // make room, then look who sleeps; say that I sleep, then look: barriers

 public:
  /// Wakes all who sleep. Requires: what they wait for was published seq_cst before.
  ///
  /// Returns: whether a system call was made.
  bool ring() noexcept {
    std::uint32_t word = word_.load_seq_cst(doze{});
    while ((word & kSleeping) != 0) {
      if (word_.compare_exchange_strong_seq_cst(word, word + 1, doze{}, doze{})) {
        LEAT_RING_STEP("ring.bit_cleared");
        os::futex_wake(word_, std::numeric_limits<int>::max(), os::FutexScope::shared);
        return true;
      }
    }
    return false;
  }

  /// The same; whatever the caller stored before, in any order, is seen by who is about to sleep.
  bool ring_behind_barrier() noexcept {
    if (!LEAT_MUTANT("bell.no_barrier")) fence_seq_cst(room{}, room{});
    return ring();
  }

  /// Sleeps until rung, or for `at_most` if that is said, unless `recheck()` is true. May return
  /// early.
  ///
  /// Returns: false if nobody rang.
  template <class Recheck>
  bool sleep(Recheck&& recheck, std::optional<Nanos> at_most) {
    const std::uint32_t seen = word_.fetch_or_seq_cst(kSleeping, doze{}, doze{}) | kSleeping;
    LEAT_RING_STEP("sleep.bit_set");
    if (std::forward<Recheck>(recheck)()) return true;
    os::futex_wait(word_, seen, at_most, os::FutexScope::shared);
    return word_.load_relaxed() != seen;  // only tells whether to look about
  }

  /// The same for who is rung by `ring_behind_barrier`: `recheck` may look at whatever it likes.
  template <class Recheck>
  bool sleep_behind_barrier(Recheck&& recheck, std::optional<Nanos> at_most) {
    return sleep(
        [&] {
          fence_seq_cst(room{}, room{});
          return recheck();
        },
        at_most);
  }

  /// Makes all who sleep or are about to look again: for a stop. Threads: any.
  void wake_all() noexcept {
    word_.fetch_add_seq_cst(2, doze{}, doze{});
    os::futex_wake(word_, std::numeric_limits<int>::max(), os::FutexScope::shared);
  }

 private:
  static constexpr std::uint32_t kSleeping = 1;

  Atomic<std::uint32_t> word_{0};
};

}  // namespace leat::queue
