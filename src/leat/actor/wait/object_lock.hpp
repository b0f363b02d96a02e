// What      ObjectLock: guards the few words of one channel, mutex, or actor. It is held for some
//           instructions, never while waiting, and never two at once.
// Shape     holder_   0: everybody takes `word_`
//                     a mark: the only worker of that runtime takes the lock by saying so in its
//                             mark; nobody else has ever come
//                     a mark and 1: somebody else came, and waits until that worker is out of
//                             whatever it is in
//             mark ----------> mark + 1 ----------> 0         and never back
//                   a stranger            the worker is out
// Protocol  The worker: mark.in = 1; light fence; look at holder_ again: is it still mine? If not,
//           mark.in = 0 and do as all. Leaving: mark.in = 0.
//           A stranger: holder_ = mark + 1; process fence; wait until mark.in is 0; holder_ = 0;
//           then as all: swap word_ until it was 0.
// Invariants
//   (1) In a section with the mark, holder_ was the mark after mark.in was 1; so a stranger sees
//       mark.in, or the worker sees the stranger.
//   (2) Whoever waits for the worker holds no lock.
//   (3) Marks live for ever. A later runtime may get one of an earlier runtime: it inherits its
//       locks, which is as good as making them.
// Ordering  held     word_: what was done in one section is visible in the next.
//           section  mark.in = 0 -> the stranger who waited for it: the same.
//           bias     the two halves of (1): relaxed with a light fence on the worker's side, and a
//                    process fence on the other's. In the model seq_cst; where there are no process
//                    fences, workers have no marks.
// Limits    Spins, then yields the thread: sections are short.
// Cost      With the mark: two loads, two stores. Otherwise one swap and one store. The first
//           stranger pays a process fence, once for each lock.
// Source    Biased locks (Kawachiya et al. 2002; Dice et al. 2001), without counting.
#pragma once

#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/stack/stack.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/process_fence.hpp>
#include <leat/base/spin_pause.hpp>

#include <cstdint>
#include <thread>

namespace leat::actor {

/// Says of the only worker of a runtime whether it is in a section.
class alignas(kSector) SoloMark {
 public:
  SoloMark() = default;
  SoloMark(const SoloMark&) = delete;
  SoloMark& operator=(const SoloMark&) = delete;

  /// A mark nobody uses; made anew if there is none. Lives for ever. Threads: any.
  [[nodiscard]] static SoloMark& take();
  /// Has a later `take` give it again. Requires: its worker has ended.
  static void give(SoloMark& mark) noexcept;

  /// Whether its worker is in a section. Threads: its worker.
  [[nodiscard]] bool is_in() const noexcept { return in_.load_relaxed() != 0; }

 private:
  friend class ObjectLock;  // reads and writes it by the protocol above

  Atomic<std::uint32_t> in_{0};
  SoloMark* next_ = nullptr;
};

namespace internal {

/// What a worker is to locks: its mark, if it is the only one of its runtime.
struct Here {
  SoloMark* mark = nullptr;
};
/// What an actor is to locks: where it runs. The owner of its stack's record.
struct OnStack {
  Here* here = nullptr;
};
/// Whose scheduler the calling thread is. Not inlined: a thread_local's address may not be kept over
/// a switch.
[[nodiscard]] Here* attached() noexcept;

/// A point at which a simulation may have others go on; elsewhere nothing happens.
void before_lock() noexcept;

/// Where the caller runs: as an actor, or as a worker's scheduler; null on a plain thread.
[[nodiscard]] inline Here* here() noexcept {
  if (const OnStack* const on = turn().actor()) [[likely]]
    return on->here;
  return attached();
}
[[nodiscard]] inline SoloMark* this_solo_mark() noexcept {
  const Here* const where = here();
  return where == nullptr ? nullptr : where->mark;
}

}  // namespace internal

class ObjectLock {
  struct held : Edge {};     // unlock -> lock: what the section did
  struct section : Edge {};  // the worker leaves -> a stranger who waited for it
  struct bias : Edge {};     // say that one is in, then look whose it is; and the other way round

 public:
  /// The caller's own, if it runs on the only worker of a runtime.
  ObjectLock() noexcept : ObjectLock(internal::this_solo_mark()) {}
  explicit ObjectLock(SoloMark* mark) noexcept : holder_(reinterpret_cast<std::uintptr_t>(mark)) {}
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

  /// Holds the lock; may let go of it for a while.
  class [[nodiscard]] Guard {
   public:
    [[gnu::always_inline]] explicit Guard(ObjectLock& lock) noexcept
        : lock_(lock), on_(turn().actor()), mark_(lock.enter(mark_here())) {}
    /// The same, if the caller knows its mark.
    Guard(ObjectLock& lock, SoloMark* mine) noexcept : lock_(lock), mark_(lock.enter(mine)) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    [[gnu::always_inline]] ~Guard() {
      if (holds_) lock_.leave(mark_);
    }

    void unlock() noexcept {
      lock_.leave(mark_);
      holds_ = false;
    }
    [[gnu::always_inline]] void lock() noexcept {
      mark_ = lock_.enter(mark_here());
      holds_ = true;
    }

    /// The actor that made it, which does not change; null if it is none, or was not looked for.
    [[nodiscard]] internal::OnStack* on() const noexcept { return on_; }
    /// Whether it is held by the only worker's mark: all who wait for the object are that worker's.
    [[nodiscard]] bool is_by_mark() const noexcept { return mark_ != nullptr; }

   private:
    [[nodiscard]] SoloMark* mark_here() const noexcept {
      return on_ != nullptr ? on_->here->mark : internal::this_solo_mark();
    }

    ObjectLock& lock_;
    internal::OnStack* on_ = nullptr;
    SoloMark* mark_;  // null: it is `word_` that is held
    bool holds_ = true;
  };

  /// For tests of the protocol: `mine` is the caller's mark, if it has one.
  [[nodiscard, gnu::always_inline]] SoloMark* enter(SoloMark* mine) noexcept {
    const auto my_holder = reinterpret_cast<std::uintptr_t>(mine);
    // Relaxed: only its own worker finds its mark here; it is looked at again below.
    if (mine != nullptr && holder_.load_relaxed() == my_holder) [[likely]] {
      if constexpr (!kFenced) {
        mine->in_.store_seq_cst(1, bias{});
        if (holder_.load_seq_cst(bias{}) == my_holder ||
            LEAT_MUTANT("object_lock.no_second_look")) {
          return mine;
        }
      } else {
        mine->in_.store_relaxed(1);
        os::light_fence();
        if (holder_.load_relaxed() == my_holder) [[likely]]
          return mine;
      }
      mine->in_.store_release(0, section{});
    }
    enter_shared(mine);
    return nullptr;
  }
  void leave(SoloMark* mark) noexcept {
    if (mark != nullptr) [[likely]] {
      mark->in_.store_release(0, section{});
    } else {
      word_.store_release(0, held{});
      turn().release();
    }
  }

  /// Whether it is still one worker's alone. For tests.
  [[nodiscard]] bool was_biased() const noexcept { return holder_.load_relaxed() != 0; }

 private:
  static constexpr std::uintptr_t kStranger = 1;
  static constexpr int kSpins = 64;

#if defined(LEAT_MODEL) && LEAT_MODEL
  static constexpr bool kFenced = false;
#else
  static constexpr bool kFenced = true;  // workers have marks only where there are process fences
#endif

  [[gnu::noinline]] void enter_shared(const SoloMark* mine) noexcept {
    internal::before_lock();
    turn().hold();  // a preempted actor would keep others out
    if (holder_.load_seq_cst(bias{}) != 0) revoke(mine);
    int spins = 0;
    while (word_.exchange_acquire(1, held{}) != 0) {
      do {
        wait_a_little(spins);
      } while (word_.load_relaxed() != 0);  // the swap decides and orders
    }
  }

  void revoke(const SoloMark* mine) noexcept {
    std::uintptr_t holder = holder_.load_seq_cst(bias{});
    while (holder != 0) {
      auto* mark = reinterpret_cast<SoloMark*>(holder & ~kStranger);
      if (!holder_.compare_exchange_strong_seq_cst(holder, holder | kStranger, bias{}, bias{})) {
        continue;
      }
      if (mark != mine) {  // we know of ourselves that we are not in
        if constexpr (kFenced) os::process_fence();
        int spins = 0;
        while (mark->in_.load_seq_cst(bias{}) != 0 && !LEAT_MUTANT("object_lock.no_wait")) {
          wait_a_little(spins);
        }
        (void)mark->in_.load_acquire(section{});  // what it did before it left
      }
      holder |= kStranger;
      if (holder_.compare_exchange_strong_seq_cst(holder, 0, bias{}, bias{})) return;
    }
  }

  static void wait_a_little(int& spins) noexcept {
    if (++spins < kSpins) {
      spin_pause();
    } else {
#if defined(LEAT_MODEL) && LEAT_MODEL
      spin_pause();
#else
      std::this_thread::yield();
#endif
    }
  }

  Atomic<std::uintptr_t> holder_;
  Atomic<std::uint32_t> word_{0};
};

}  // namespace leat::actor
