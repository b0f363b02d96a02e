// What      How a receiver learns which of its many channels have something: each receiving end is
//           a Doorbell, each receiving thread has one ReadyList. Senders announce edges, not
//           messages.
// Shape
//           state of a Doorbell, two bits:   READY   on the ready list, or its push is under way
//                                            CLOSED  the receiving end is gone
//
//           ReadyList.head_ --> [bell] --> [bell] --> null     newest first; taken all at once
// Protocol  Sender:    put the datum into the channel's queue; `mark` the bell: fetch_or(READY),
//                      always. If neither bit was set: push the bell on the list (seq_cst) and ring
//                      the receiver's parker. If CLOSED was set: nobody will come; send no more.
//           Receiver:  take the whole list with one exchange. For each bell: read its next, *then*
//                      fetch_and(~READY), *then* let the channel be drained.
//           Before it parks the receiver asks `has_ready` from inside the parker's recheck.
//           Receiving end dropped: `close`. If the bell is on the list at that moment, the
//                      reference that the receiving end had on the channel passes to the list, and
//                      `surface` (or the list's destructor) calls the bell's release; if not, the
//                      caller gives it back.
// Invariants
//   (1) A bell that is open and READY is on the list exactly once, or its one pusher is on the way.
//   (2) A datum whose `mark` returned is in a queue whose bell is READY, or was surfaced after it.
//   (3) Only whoever took the bell off the list clears READY; draining a channel never touches it.
//       Operators drain for other reasons too, and a reset by them would push the bell twice.
//   (4) After `close` a bell is pushed at most by a sender that marked before it.
// Ordering  notice    fetch_or -> fetch_and: the datum is in the queue before the receiver drains
//                     for it. And back, fetch_and -> the next fetch_or: `next` was read before it
//                     is overwritten. That is why `next` needs no atomic, and why a sender may not
//                     skip the read-modify-write when it sees READY: it would order nothing.
//           listed    head_ push -> exchange: the bell's `next` is whole before it is followed.
//           doze      the seq_cst halves of "push, then look whether the receiver sleeps" and "say
//                     PARKED, then look at the list"; see parker.hpp.
// Limits    Order between bells is not kept: newest first. Notices are per edge: however long a
//           burst, at most one per bell is outstanding. A drain that stops early must remember that
//           itself.
// Cost      mark: one read-modify-write of the bell's line; on an edge a compare-exchange and the
//           load of the parker besides. surface: one relaxed load when nothing is there; else one
//           exchange and one read-modify-write per bell. No allocation. Counted: bells surfaced,
//           lists taken.
// Source    Ours. The list is Treiber's (IBM RJ 5118, 1986) without its pop, hence without ABA.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/core/parker.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::core {

class ReadyList;

/// The receiving end of one channel, as senders see it. Lives in the channel's block, which is
/// counted by every endpoint; derive from it or hold it, and find the block again in `release`.
class Doorbell {
 public:
  /// Gives back the receiving end's reference on the block that holds the bell; may destroy both.
  using Release = void (*)(Doorbell*) noexcept;

  explicit Doorbell(Release release) noexcept : release_(release) {}
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  /// Says that nobody will drain the channel any more.
  ///
  /// Returns:  whether the bell is on the ready list. If so, the receiving end's reference is the
  ///           list's from now on; if not, the caller gives it back itself.
  /// Threads:  the receiver; once.
  [[nodiscard]] bool close() noexcept {
    const std::uint32_t before = state_.fetch_or_acq_rel(kClosed, notice{}, notice{});
    LEAT_DCHECK((before & kClosed) == 0, "a receiving end was closed twice");
    return (before & kReady) != 0;
  }

  /// Whether the receiving end was gone a moment ago: a sender need not even enqueue. Threads: any.
  [[nodiscard]] bool was_closed() const noexcept {
    return (state_.load_relaxed() & kClosed) != 0;  // a hint: `mark` says it again, in order
  }

 private:
  friend class ReadyList;      // the two sides of one protocol
  friend struct DoorbellTwin;  // tests/model: variants of a receiver that must fail

  struct notice : Edge {};  // sender -> receiver: the datum is queued; and back: `next` was read

  static constexpr std::uint32_t kReady = 1;
  static constexpr std::uint32_t kClosed = 2;

  Atomic<std::uint32_t> state_{0};
  Plain<Doorbell*> next_{nullptr};  // written by the one pusher, read by whoever took the list
  Release release_;
};

/// What a sender learns from `ReadyList::mark`.
enum class Mark : std::uint8_t {
  quiet,   // already announced and not yet surfaced: nothing to do
  edge,    // announced just now: ring the receiver's parker
  closed,  // the receiving end is gone: drop what is meant for it, now and later
};

/// The bells of one receiving thread that have something. Belongs to the fabric: senders may use it
/// when the receiver's thread has ended.
class alignas(kCacheLine) ReadyList {
  friend struct DoorbellTwin;  // as above

  struct listed : Edge {};  // pusher -> taker: the bell's next is whole
  struct doze : Edge {};    // push, then look for a sleeper; say PARKED, then look here: seq_cst

 public:
  ReadyList() = default;
  ReadyList(const ReadyList&) = delete;
  ReadyList& operator=(const ReadyList&) = delete;

  /// Gives closed bells that nobody surfaced back. Requires: no sender is at work any more.
  ~ReadyList() {
    surface([](Doorbell&) {});
  }

  /// Announces that something was put into the channel of `bell`.
  ///
  /// Returns:  on `edge` the caller must ring the receiver's parker; see `announce`.
  /// Threads:  any sender that keeps the bell's block alive. Never waits.
  /// Ordering: what the caller did before is visible to the receiver that surfaces the bell next.
  [[nodiscard]] Mark mark(Doorbell& bell) noexcept {
    using notice = Doorbell::notice;
    if (LEAT_MUTANT("doorbell.skip_when_ready") &&
        (bell.state_.load_acquire(notice{}) & Doorbell::kReady) != 0) {
      return Mark::quiet;
    }
    const std::uint32_t before = bell.state_.fetch_or_acq_rel(Doorbell::kReady, notice{}, notice{});
    if (before == 0) {
      push(bell);
      return Mark::edge;
    }
    return (before & Doorbell::kClosed) != 0 ? Mark::closed : Mark::quiet;
  }

  /// Whether there may be something to surface. For the recheck before parking; orders against
  /// `mark`.
  ///
  /// Threads:  the receiver.
  [[nodiscard]] bool has_ready() const noexcept { return head_.load_seq_cst(doze{}) != nullptr; }

  /// Takes all bells that are ready and calls `on_ready(Doorbell&)` for each whose receiving end is
  /// open, newest first. `on_ready` may close bells and drain channels; it must not throw.
  ///
  /// Returns:  how many bells it called `on_ready` for.
  /// Threads:  the receiver. Never waits.
  template <class OnReady>
  std::size_t surface(OnReady&& on_ready) {
    if (head_.load_relaxed() == nullptr)
      return 0;  // no order needed: has_ready asks before parking
    Doorbell* bell = head_.exchange_acquire(nullptr, listed{});
    std::size_t ready = 0;
    while (bell != nullptr) {
      using notice = Doorbell::notice;
      Doorbell* next = bell->next_.read();  // before READY goes: then the next sender may write it
      const std::uint32_t before =
          bell->state_.fetch_and_acq_rel(~Doorbell::kReady, notice{}, notice{});
      if (LEAT_MUTANT("doorbell.next_after_clear")) next = bell->next_.read();
      if ((before & Doorbell::kClosed) != 0) {
        bell->release_(bell);
      } else {
        ++ready;
        on_ready(*bell);
      }
      bell = next;
    }
    ++taken_;
    surfaced_ += ready;
    return ready;
  }

  /// Bells surfaced and lists taken so far. Threads: the receiver.
  [[nodiscard]] std::uint64_t surfaced() const noexcept { return surfaced_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  void push(Doorbell& bell) noexcept {
    Doorbell* head = head_.load_relaxed();  // a first guess; the exchange decides
    do {
      bell.next_.set(head);
    } while (!head_.compare_exchange_weak_seq_cst(head, &bell, doze{}, listed{}));
  }

  Atomic<Doorbell*> head_{nullptr};
  alignas(kCacheLine) std::uint64_t surfaced_ = 0;  // the receiver's, off the senders' line
  std::uint64_t taken_ = 0;
};

/// What `announce` did: the mark, and whether waking the receiver took a system call.
struct Announced {
  Mark mark;
  bool woke;
};

/// Marks `bell` and on an edge rings `parker`: all that a sender does after it enqueued.
inline Announced announce(ReadyList& list, Parker& parker, Doorbell& bell) noexcept {
  const Mark mark = list.mark(bell);
  return {mark, mark == Mark::edge && parker.ring()};
}

}  // namespace leat::core
