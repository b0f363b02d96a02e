// What      A member of a collaborative group: its members, threads of one or of several processes,
//           share the messages of a ring among them. Each is delivered at least once, and once if no
//           member dies over it.
// Shape     Beside the slots a group has a claim word per sequence of its window (claim.hpp):
//             c - window done  --claim-->  c claimed by (member, generation)  --done-->  c done
//                                                     '--orphan, claimed by another--'
// Protocol  Claim:  at the first sequence whose word says that the one a window before is done, and
//                   whose message is published, change the word by compare-exchange to "claimed by
//                   me"; then copy. A message is claimed when it is ready, so that nobody sits on
//                   one that he has not seen.
//           Done:   a compare-exchange from one's own claim. By itself when the next message is asked
//                   for, or by `ack` for those who say so.
//           Orphan: a claim whose member has left its seat, or whose seat was freed after its death.
//                   Whoever finds nothing new looks for one and claims it.
//           Floor:  the lowest sequence that is not done; producers of reliable rings wait for it.
// Invariants
//   (1) A sequence is claimed by one member at a time, in any order of polling.
//   (2) What was lost, and what holds no message, is claimed and done in one step, so that it is
//       counted once.
// Ordering  handover  from the word's last change to whoever looks at it: a copy is over when the
//                     word says done.
// Limits    Not in order across members. At most `window` messages are held at the same moment;
//           who holds one for ever holds up the group there. A group without members keeps its place,
//           and in a reliable ring its producers: evict it if nobody comes.
// Cost      Two compare-exchanges a message, and a copy. In a wakeable ring a member of a reliable
//           group passes a full barrier per message more.
// Source    Ours. Claiming by a cursor ahead of the data (Flux) loses the message of a member that
//           leaves, and lets one busy member hold up a message while others are idle.
#pragma once

#include <leat/base/mutant.hpp>
#include <leat/queue/ring/claim.hpp>
#include <leat/queue/ring/consumer.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace leat::queue {

enum class Ack : std::uint8_t {
  on_next,    ///< a message is done when the member asks for another
  explicitly  ///< when `ack` is called for it
};

struct MemberOptions {
  std::string label{};
  /// Where the group begins, for the first member that ever comes.
  StartAt start{};
  /// Producers wait until the group is done. Needs a reliable ring; all members agree.
  bool reliable = false;
  Ack ack = Ack::on_next;
};

/// Threads: one at a time.
template <RingRecord T>
class GroupMember {
 public:
  GroupMember(internal::Sitting sitting, std::uint32_t group, const MemberOptions& options) noexcept
      : sitting_(std::move(sitting)),
        slots_(reinterpret_cast<const RingSlot<T>*>(core().slots())),
        words_(core().claims(group)),
        group_(&core().group(group)),
        room_(options.reliable && core().shape().wakeable ? &core().words().room : nullptr),
        place_(group),
        mask_(core().shape().mask()),
        window_(core().shape().window),
        ack_(options.ack) {}
  GroupMember(GroupMember&&) noexcept = default;
  /// What it holds and did not say done goes to others.
  ~GroupMember() = default;

  /// Takes a message that no other member has. Under Ack::on_next this says done for the one before.
  ///
  /// Returns:  `ok`, see `sequence()` and `was_redelivered()`; `empty` or `in_flight` if there is
  ///           none yet; `crowded` if the members hold a window full; `lost` if messages were
  ///           overwritten before the group came to them, see `loss()`.
  /// Never waits, allocates or throws; at most it asks the system whether a member lives.
  [[nodiscard]] Pull try_pop(T& to) noexcept {
    if (ack_ == Ack::on_next && held_ != RingCore::kNone) {
      static_cast<void>(finish(std::exchange(held_, RingCore::kNone)));
    }
    for (;;) {
      const Pull got = take_next(&to);
      if (got == Pull::ok || got == Pull::lost) {
        looks_ = 0;
        return got;
      }
      if (++looks_ == 1 || looks_ % kLooksBeforeRepair == 0) {
        core().raise_floor(place_);
        if (looks_ > 1) core().repair();
        if (const Pull orphan = take_orphan(&to); orphan != Pull::empty) return orphan;
      }
      return got;
    }
  }

  [[nodiscard]] Pull pop(T& to, Nanos at_most, const Waiting& waiting = {},
                         const Clock& clock = internal::steady_clock()) {
    const Nanos deadline = clock.now() + at_most;
    IdleSteps idle(waiting);
    for (;;) {
      const Pull got = try_pop(to);
      if (got == Pull::ok || got == Pull::lost || waiting.stopped()) return got;
      if (clock.now() >= deadline) return got;
      idle.step(
          [&] { sleep(std::min(deadline - clock.now(), waiting.sleep_at_most), waiting.stop); });
    }
  }

  /// Says that the message `sequence`, which this member took, is done.
  ///
  /// Returns: false if it is not this member's (any more).
  bool ack(std::uint64_t sequence) noexcept {
    if (sequence == held_) held_ = RingCore::kNone;
    return finish(sequence);
  }

  /// The message taken last.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// Whether somebody had it before, who died or left.
  [[nodiscard]] bool was_redelivered() const noexcept { return redelivered_; }
  [[nodiscard]] MessageRange loss() const noexcept { return loss_; }
  /// The first sequence that no member has taken yet.
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return first_unclaimed(); }

  [[nodiscard]] RingCore& core() const noexcept { return sitting_.core(); }

  /// Passes over all messages that are there and that no member has taken, for the whole group.
  ///
  /// Returns: how many; the group's `skipped` counts them. Nothing that is begun later is passed over.
  ///          What members hold stays theirs; where one holds a message of a whole window ago, it
  ///          ends early: then `try_pop` says `crowded`.
  std::uint64_t skip_backlog() noexcept { return core().fast_forward(place_); }

  /// As BroadcastConsumer's. Requires: a wakeable ring; checked.
  void sleep(std::optional<Nanos> at_most, const core::StopToken* stop = nullptr) {
    LEAT_CHECK(core().shape().wakeable, "asked to sleep on a ring that is not wakeable");
    if (at_most && *at_most <= Nanos{0}) return;
    const bool rung = core().words().bell.sleep(
        [&] { return awaited().is_there() || (stop != nullptr && stop->requested_before_sleep()); },
        at_most);
    // The next look in vain is for what somebody left behind who is gone; and for who is dead, if
    // nobody rang, or now and then where messages come and go to others.
    looks_ = rung && ++sleeps_ % kSleepsBeforeRepair != 0 ? 0 : kLooksBeforeRepair - 1;
  }

  /// As BroadcastConsumer's.
  [[nodiscard]] bool can_sleep() const noexcept { return core().shape().wakeable; }
  [[nodiscard]] RingAwaited awaited() const noexcept {
    const std::uint64_t next = first_unclaimed();
    return {&core().words().bell, &core().stamp(next), stamp::busy(next)};
  }
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return sitting_.memory(); }

 private:
  static constexpr std::uint32_t kLooksBeforeRepair = 1024;
  static constexpr std::uint32_t kSleepsBeforeRepair = 16;

  [[nodiscard]] Atomic<std::uint64_t>& word_of(std::uint64_t sequence) const noexcept {
    return words_[sequence & (window_ - 1)];
  }
  [[nodiscard]] std::uint64_t lap_of(std::uint64_t sequence) const noexcept {
    return sequence / window_;
  }
  [[nodiscard]] std::uint64_t mine(std::uint64_t sequence) const noexcept {
    return claim::claimed(lap_of(sequence), sitting_.at().place, sitting_.at().generation);
  }

  [[nodiscard]] std::uint64_t first_unclaimed() const noexcept {
    std::uint64_t next = group_->next.load_relaxed();  // a hint: the words decide
    while (claim::ahead(word_of(next).load_acquire(claim::handover{}), lap_of(next)) >= 0) ++next;
    return next;
  }
  void hint(std::uint64_t next) noexcept {
    if (group_->next.load_relaxed() < next) group_->next.store_relaxed(next);  // as above
  }

  Pull take_next(T* to) noexcept {
    std::uint64_t next = group_->next.load_relaxed();  // a hint: the words decide
    for (;;) {
      Atomic<std::uint64_t>& word = word_of(next);
      std::uint64_t found = word.load_acquire(claim::handover{});
      const std::int64_t ahead = claim::ahead(found, lap_of(next));
      if (ahead >= 0) {
        ++next;
        continue;
      }
      if (ahead < -1 || !claim::is_done(found)) return Pull::crowded;
      const RingSlot<T>& slot = slots_[next & mask_];
      const std::uint64_t awaited = stamp::published(next);
      const std::uint64_t seen = slot.stamp.look();
      if (seen == awaited) {
        if (LEAT_MUTANT("group.claim_by_store")) {
          word.store_release(mine(next), claim::handover{});
        } else if (!word.compare_exchange_strong_acq_rel(found, mine(next), claim::handover{},
                                                         claim::handover{})) {
          continue;  // another was quicker: look at the word again
        }
        LEAT_RING_STEP("member.claimed");
        hint(next + 1);
        return deliver(to, next, false);
      }
      if (seen < stamp::busy(next)) {
        if (stamp::is_busy(seen) && was_passed_over(next)) {
          if (lose(next, 1)) return Pull::lost;
          continue;
        }
        return Pull::empty;
      }
      if (seen == stamp::busy(next)) return Pull::in_flight;
      if (seen == stamp::tombstone(next)) {
        static_cast<void>(word.compare_exchange_strong_acq_rel(
            found, claim::done(lap_of(next)), claim::handover{}, claim::handover{}));
        tell_producers();
        continue;
      }
      const std::uint64_t oldest =
          core().oldest(std::max(core().frontier(), stamp::sequence(seen) + 1));
      if (lose(next, std::max(oldest, next + 1) - next)) return Pull::lost;
    }
  }

  // Copies what was claimed. If it is overwritten by now it is lost, and we are the one to say so.
  Pull deliver(T* to, std::uint64_t sequence, bool again) noexcept {
    const RingSlot<T>& slot = slots_[sequence & mask_];
    const std::uint64_t awaited = stamp::published(sequence);
    if (slot.stamp.look() == awaited && slot.copy_to(to, awaited)) {
      LEAT_RING_STEP("member.copied");
      sequence_ = sequence;
      redelivered_ = again;
      if (again) group_->redelivered.fetch_add_relaxed(1);  // a count, no more
      if (ack_ == Ack::on_next) held_ = sequence;
      return Pull::ok;
    }
    static_cast<void>(finish(sequence));
    loss_ = {sequence, 1};
    group_->lost.fetch_add_relaxed(1);  // a count, no more
    return Pull::lost;
  }

  // Claims and ends first ... first + count - 1, or as much of it as nobody else was quicker with.
  // Returns: whether we got the first.
  bool lose(std::uint64_t first, std::uint64_t count) noexcept {
    std::uint64_t lost = 0;
    for (; lost < count; ++lost) {
      const std::uint64_t sequence = first + lost;
      std::uint64_t found = claim::done(lap_of(sequence) - 1);
      if (!word_of(sequence).compare_exchange_strong_acq_rel(
              found, claim::done(lap_of(sequence)), claim::handover{}, claim::handover{})) {
        break;
      }
    }
    if (lost == 0) return false;
    loss_ = {first, lost};
    hint(first + lost);
    group_->lost.fetch_add_relaxed(lost);  // a count, no more
    core().raise_floor(place_);
    tell_producers();
    return true;
  }

  [[nodiscard]] bool finish(std::uint64_t sequence) noexcept {
    std::uint64_t found = mine(sequence);
    const bool was_mine = word_of(sequence).compare_exchange_strong_acq_rel(
        found, claim::done(lap_of(sequence)), claim::handover{}, claim::handover{});
    LEAT_RING_STEP("member.done");
    if (was_mine && sequence == group_->floor.read_relaxed()) core().raise_floor(place_);
    if (was_mine) tell_producers();
    return was_mine;
  }

  // After each message that is done, not only after the lowest: a look at the floor may be old.
  void tell_producers() noexcept {
    if (room_ != nullptr && !LEAT_MUTANT("group.tell_no_producer")) room_->ring_behind_barrier();
  }

  Pull take_orphan(T* to) noexcept {
    const std::uint64_t end = group_->next.load_relaxed();  // a hint is enough: we come again
    for (std::uint64_t n = group_->floor.get(); n < end; ++n) {
      Atomic<std::uint64_t>& word = word_of(n);
      std::uint64_t found = word.load_acquire(claim::handover{});
      if (claim::is_done(found) || claim::ahead(found, lap_of(n)) != 0 || has_owner(found))
        continue;
      if (!word.compare_exchange_strong_acq_rel(found, mine(n), claim::handover{},
                                                claim::handover{})) {
        continue;
      }
      LEAT_RING_STEP("member.adopted");
      return deliver(to, n, true);
    }
    return Pull::empty;
  }

  [[nodiscard]] bool has_owner(std::uint64_t word) const noexcept {
    if (claim::member(word) >= core().shape().seats) return false;
    const SeatState state = core().state_of(claim::member(word));
    return state.status == SeatStatus::active &&
           (state.generation & claim::kGenerationMask) == claim::generation(word);
  }

  [[nodiscard]] bool was_passed_over(std::uint64_t sequence) const noexcept {
    return core().shape().kind == RingKind::many_producers && !core().shape().reliable &&
           core().stamp(sequence + 1).look() >= stamp::busy(sequence + 1);
  }

  internal::Sitting sitting_;
  const RingSlot<T>* slots_;
  Atomic<std::uint64_t>* words_;
  RingGroup* group_;
  RingBell* room_;  // null: no producer sleeps for us
  std::uint32_t place_;
  std::uint64_t mask_;
  std::uint64_t window_;
  Ack ack_;
  std::uint64_t held_ = RingCore::kNone;  // to be said done with the next, under on_next
  std::uint64_t sequence_ = 0;
  bool redelivered_ = false;
  MessageRange loss_{};
  std::uint32_t looks_ = 0;   // in vain, in a row
  std::uint32_t sleeps_ = 0;  // ever
};

}  // namespace leat::queue
