// What      A broadcast consumer: sees every message of a ring, whatever others read. Lossy unless it
//           asks to gate the producers.
// Protocol  Look at the stamp of the next slot. Published: copy, look again, go on. Older: nothing is
//           there yet. A tombstone: pass over it. Newer: we were lapped, and what is lost is known
//           exactly: from the next sequence to where the recovery policy lets us go on.
// Invariants
//   (1) What is delivered is whole, and has the sequence that was awaited.
//   (2) delivered + lost + passed over = the sequences from the start to the next one.
// Limits    A busy slot is waited for; its owner's death is looked for every 1024 looks in vain. A
//           lossy consumer passes over a slot that stays busy for `grace` while later ones are there.
// Cost      A look touches the line of its slot and nothing else; taking a message, the lines of the
//           slot. No read-modify-write. The cursor, on a line of its own, is published every
//           `publish_every` messages and when there is nothing to read; in a wakeable ring a reliable
//           consumer then passes a full barrier and looks whether a producer sleeps.
// Source    See slot.hpp. The ways to consume are Flux's.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/word_copy.hpp>
#include <leat/queue/ring/producer.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace leat::queue {

/// Where a consumer that was lapped goes on.
enum class Recovery : std::uint8_t {
  oldest,  ///< with the oldest message that is safe to read
  latest,  ///< with the next that is produced
  fail,    ///< nowhere: every look says `lost` until `recover` is called
};

struct ConsumerOptions {
  std::string label{};
  StartAt start{};
  /// Producers wait for this consumer. Needs a reliable ring.
  bool reliable = false;
  Recovery recovery = Recovery::oldest;
  /// Messages between two publications of the cursor. 0: 1 if reliable and the ring is small, else
  /// up to 64. Larger costs less, and a producer that waits for us learns later.
  std::uint32_t publish_every = 0;
  /// After so long a lossy consumer passes over a message that is being written and is not finished.
  Nanos grace = std::chrono::milliseconds(100);
  const Clock* clock = nullptr;  // null: the machine's
};

/// How much was consumed, and what was not.
struct Consumed {
  std::size_t messages = 0;
  std::uint64_t lost = 0;
  Pull last = Pull::empty;  ///< why it stopped; `ok` if it had as many as it asked for
};

/// Threads: one at a time.
template <RingRecord T>
class BroadcastConsumer {
 public:
  BroadcastConsumer(internal::Sitting sitting, const ConsumerOptions& options) noexcept
      : sitting_(std::move(sitting)),
        slots_(reinterpret_cast<const RingSlot<T>*>(core().slots())),
        cursor_(&sitting_.seat().cursor),
        room_(options.reliable && core().shape().wakeable ? &core().words().room : nullptr),
        mask_(core().shape().mask()),
        next_(sitting_.at().cursor),
        publish_mask_(publish_mask(core().shape(), options)),
        recovery_(options.recovery),
        reliable_(options.reliable),
        grace_(options.grace),
        clock_(options.clock != nullptr ? options.clock : &internal::steady_clock()) {}

  /// Takes the next message.
  ///
  /// Returns:  `ok`; `empty` or `in_flight` if it is not there yet; `lost` once per lap, see
  ///           `loss()`; `evicted`. Anything but `ok` leaves `to` with any bytes at all.
  /// Never waits, allocates or throws; at most it asks the system whether a producer lives.
  /// Ordering: what the producer did before it pushed is visible.
  [[nodiscard]] Pull try_pop(T& to) noexcept { return take(&to); }

  /// Waits for the next message, for at most so long. Returns: as try_pop; `empty` or `in_flight` if
  /// the time ran out, or a stop was requested.
  [[nodiscard]] Pull pop(T& to, Nanos at_most, const Waiting& waiting = {}) {
    Pull got = try_pop(to);
    if (got != Pull::empty && got != Pull::in_flight) return got;
    const Nanos deadline = clock_->now() + at_most;
    IdleSteps idle(waiting);
    for (std::uint32_t looks = 1;; ++looks) {
      got = try_pop(to);
      if (got != Pull::empty && got != Pull::in_flight) return got;
      if (waiting.stopped()) return got;
      // The clock is read now and then while we spin, and always before something slower.
      if ((looks % 16 == 0 || looks > waiting.looks) && clock_->now() >= deadline) return got;
      idle.step(
          [&] { sleep(std::min(deadline - clock_->now(), waiting.sleep_at_most), waiting.stop); });
    }
  }

  /// Calls `act(const T&)` for up to `count` messages that are there. After a loss it goes on,
  /// unless the policy is `fail`.
  template <std::invocable<const T&> Act>
  Consumed consume(std::size_t count, Act&& act) {
    return consume_if(count, [](const T&) { return true; }, act);
  }
  /// All that are there.
  template <std::invocable<const T&> Act>
  Consumed consume_all(Act&& act) {
    return consume(std::numeric_limits<std::size_t>::max(), act);
  }
  /// The same, for those that `filter` lets through; the others are taken and forgotten.
  template <std::predicate<const T&> Filter, std::invocable<const T&> Act>
  Consumed consume_if(std::size_t count, Filter&& filter, Act&& act) {
    Consumed consumed;
    PrivateCopy<T> copy;
    while (consumed.messages < count) {
      consumed.last = take(copy.place());
      if (consumed.last == Pull::lost && recovery_ != Recovery::fail) {
        consumed.lost += loss_.count;
        continue;
      }
      if (consumed.last != Pull::ok) return consumed;
      if (!filter(copy.value())) continue;
      ++consumed.messages;
      act(copy.value());
    }
    return consumed;
  }

  /// Takes as many messages as are there and have room, in one go: the cursor is published once.
  ///
  /// Returns: as consume; `to` holds anything behind `messages`.
  [[nodiscard]] Consumed pop_batch(std::span<T> to) noexcept {
    Consumed consumed;
    const std::uint64_t before = next_;
    for (; consumed.messages < to.size(); ++consumed.messages) {
      const RingSlot<T>& slot = slots_[next_ & mask_];
      const std::uint64_t awaited = stamp::published(next_);
      if (slot.stamp.look() != awaited || !slot.copy_to(&to[consumed.messages], awaited)) {
        if (consumed.messages > 0) break;  // what is wrong shows at the next call
        consumed.last = take(to.data());
        if (consumed.last == Pull::lost) consumed.lost = loss_.count;
        if (consumed.last != Pull::ok) return consumed;
        continue;
      }
      ++next_;
    }
    consumed.last = consumed.messages == to.size() ? Pull::ok : Pull::empty;
    if (next_ != before) publish_cursor();
    return consumed;
  }

  /// Takes the newest message that is whole, and leaves out all before it: `passed_over` counts them.
  ///
  /// Returns: `ok`, or `empty` if there is none that was not taken yet. Looks at no more slots than
  ///          the ring has.
  [[nodiscard]] Pull pop_last(T& to) noexcept {
    const std::uint64_t front = core().frontier();
    const std::uint64_t floor = std::max(next_, core().oldest(front));
    for (std::uint64_t n = front; n-- > floor;) {
      if (!copy_of(n, &to)) continue;
      passed_over_ += n - next_;
      next_ = n + 1;
      publish_cursor();
      return Pull::ok;
    }
    if (is_evicted()) return Pull::evicted;
    return Pull::empty;
  }

  /// Goes on to the first message, of those that are there and were not taken, for which `is_due` holds;
  /// `passed_over` counts those before it. It is searched by halving: `is_due` must hold for no message
  /// before that one and for all behind it, as "not older than" does of records that carry a time. So
  /// a consumer that begins with the oldest starts by time.
  ///
  /// Returns: whether there is such a message; else the next one that is produced will be taken.
  template <std::predicate<const T&> IsDue>
  bool seek(IsDue&& is_due) {
    const std::uint64_t front = core().frontier();
    std::uint64_t first = std::max(next_, std::min(front, core().oldest(front)));
    std::uint64_t end = front;
    PrivateCopy<T> copy;
    while (first < end) {
      const std::uint64_t middle = first + (end - first) / 2;
      std::uint64_t n = middle;  // or the next one that can be read
      while (n < end && !copy_of(n, copy.place())) ++n;
      if (n < end && !is_due(copy.value())) {
        first = n + 1;
      } else {
        end = middle;
      }
    }
    if (first > next_) {
      passed_over_ += first - next_;
      next_ = first;
      publish_cursor();
    }
    return next_ < front;
  }

  /// The last loss that was told.
  [[nodiscard]] MessageRange loss() const noexcept { return loss_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  /// Sequences that held no message for us: tombstones, and what `pop_last` and `seek` left out.
  [[nodiscard]] std::uint64_t passed_over() const noexcept { return passed_over_; }
  /// After a loss under Recovery::fail: goes on as `how` says.
  void recover(Recovery how) noexcept {
    const std::uint64_t from = next_;
    move_on(how, core().frontier());
    loss_ = {from, next_ - from};
    count_loss();
  }

  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
  /// How many sequences were claimed that we have not come to. Reads the producers' line.
  [[nodiscard]] std::uint64_t lag() const noexcept {
    const std::uint64_t front = core().frontier();
    return front > next_ ? front - next_ : 0;
  }
  [[nodiscard]] bool is_evicted() const noexcept {
    return core().state_of(sitting_.at().place).status == SeatStatus::evicted;
  }
  [[nodiscard]] Eviction eviction() const noexcept {
    return core().state_of(sitting_.at().place).reason;
  }
  [[nodiscard]] RingCore& core() const noexcept { return sitting_.core(); }

  /// Sleeps until something may be there, for at most so long if that is said; may end early.
  ///
  /// Requires: a wakeable ring, and the right to write to it; checked.
  void sleep(std::optional<Nanos> at_most, const core::StopToken* stop = nullptr) {
    LEAT_CHECK(core().shape().wakeable, "asked to sleep on a ring that is not wakeable");
    LEAT_CHECK(sitting_.at().place != RingCore::kNoSeat,
               "an observer of a ring cannot sleep on it");
    publish_cursor();
    // What is being written may be a dead one's, who wakes nobody.
    if (slots_[next_ & mask_].stamp.look() == stamp::busy(next_)) {
      at_most = std::min(at_most.value_or(grace_), grace_);
    }
    if (at_most && *at_most <= Nanos{0}) return;
    const RingAwaited awaits = awaited();
    const bool rung = core().words().bell.sleep(
        [&] {
          return (!LEAT_MUTANT("ring.sleep_unchecked") && awaits.is_there()) ||
                 (stop != nullptr && stop->requested_before_sleep());
        },
        at_most);
    // Who lives would have rung: the next look in vain looks for the dead, too.
    if (!rung) looks_ |= kLooksBeforeRepair - 1;
  }

  /// Whether `sleep` may be called.
  [[nodiscard]] bool can_sleep() const noexcept {
    return core().shape().wakeable && sitting_.at().place != RingCore::kNoSeat;
  }
  /// What this consumer waits for.
  [[nodiscard]] RingAwaited awaited() const noexcept {
    return {&core().words().bell, &slots_[next_ & mask_].stamp, stamp::busy(next_)};
  }
  /// Keeps the ring's memory.
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return sitting_.memory(); }

 private:
  static constexpr std::uint32_t kLooksBeforeRepair = 1024;

  static std::uint64_t publish_mask(const RingShape& shape,
                                    const ConsumerOptions& options) noexcept {
    std::uint64_t every = options.publish_every;
    if (every == 0)
      every = std::min<std::uint64_t>(64, std::max<std::uint64_t>(1, shape.slots / 8));
    return std::bit_ceil(every) - 1;
  }

  [[nodiscard]] bool copy_of(std::uint64_t sequence, T* to) const noexcept {
    const RingSlot<T>& slot = slots_[sequence & mask_];
    const std::uint64_t awaited = stamp::published(sequence);
    return slot.stamp.look() == awaited && slot.copy_to(to, awaited);
  }

  Pull take(T* to) noexcept {
    const RingSlot<T>& slot = slots_[next_ & mask_];
    const std::uint64_t awaited = stamp::published(next_);
    const std::uint64_t found = slot.stamp.look();
    if (found == awaited || (LEAT_MUTANT("ring.any_lap") && stamp::is_published(found)))
        [[likely]] {
      if (slot.copy_to(to, found)) [[likely]] {
        LEAT_RING_STEP("consume.copied");
        ++next_;
        if ((next_ & publish_mask_) == 0) publish_cursor();
        return Pull::ok;
      }
    }
    return look_closer(to);
  }

  [[gnu::noinline]] Pull look_closer(T* to) noexcept {
    for (;;) {
      const RingStamp& stamp = slots_[next_ & mask_].stamp;
      const std::uint64_t found = stamp.look();
      if (found == stamp::published(next_)) {
        looks_ = 0;
        return take_again(to);
      }
      if (found < stamp::busy(next_)) {
        if (stamp::is_busy(found) && was_passed_over()) {
          lose_one();
          return Pull::lost;
        }
        return idle(Pull::empty);
      }
      if (found == stamp::busy(next_)) return idle(Pull::in_flight);
      looks_ = 0;
      if (found == stamp::tombstone(next_)) {
        ++next_;
        ++passed_over_;
        continue;
      }
      return lapped(stamp::sequence(found) + 1);
    }
  }

  Pull take_again(T* to) noexcept {
    const RingSlot<T>& slot = slots_[next_ & mask_];
    if (!slot.copy_to(to, stamp::published(next_))) return lapped(next_ + mask_ + 2);
    ++next_;
    publish_cursor();
    return Pull::ok;
  }

  // Something of a later lap stands where we are; `frontier` is at least that.
  Pull lapped(std::uint64_t frontier) noexcept {
    if (is_evicted()) return Pull::evicted;
    const std::uint64_t from = next_;
    frontier = std::max(frontier, core().frontier());
    if (recovery_ == Recovery::fail) {
      loss_ = {from, core().oldest(frontier) - from};
      return Pull::lost;
    }
    move_on(recovery_, frontier);
    loss_ = {from, next_ - from};
    count_loss();
    return Pull::lost;
  }

  void move_on(Recovery how, std::uint64_t frontier) noexcept {
    // A little beyond the oldest: it is the next to be overwritten.
    const std::uint64_t oldest = core().oldest(frontier);
    const std::uint64_t to =
        how == Recovery::latest ? frontier : std::min(frontier, oldest + (mask_ + 1) / 8);
    next_ = std::max(next_, to);
    publish_cursor();
  }

  void lose_one() noexcept {
    loss_ = {next_, 1};
    ++next_;
    count_loss();
  }
  void count_loss() noexcept {
    lost_ += loss_.count;
    sitting_.seat().lost.store_relaxed(lost_);  // a count for tools
  }

  // In a lossy ring of several producers a sequence whose slot was still busy a lap behind is left
  // out: then somebody has claimed the next one.
  [[nodiscard]] bool was_passed_over() const noexcept {
    return core().shape().kind == RingKind::many_producers && !core().shape().reliable &&
           core().stamp(next_ + 1).look() >= stamp::busy(next_ + 1);
  }

  Pull idle(Pull why) noexcept {
    ++looks_;
    if (looks_ == 1) publish_cursor();
    if (looks_ % kLooksBeforeRepair != 0) return why;
    return look_for_the_dead(why);
  }

  [[gnu::noinline]] Pull look_for_the_dead(Pull why) noexcept {
    if (is_evicted()) return Pull::evicted;
    if (why != Pull::in_flight) return why;
    core().repair();
    if (reliable_) return why;
    const Nanos now = clock_->now();
    if (looks_ == kLooksBeforeRepair || waits_for_ != next_) {
      waits_for_ = next_;
      waits_since_ = now;
    } else if (now - waits_since_ >= grace_ && core().frontier() > next_ + 1) {
      lose_one();
      looks_ = 0;
      return Pull::lost;
    }
    return why;
  }

  void publish_cursor() noexcept {
    cursor_->set(next_);
    if (room_ != nullptr && !LEAT_MUTANT("ring.tell_no_producer")) [[unlikely]] {
      room_->ring_behind_barrier();
    }
  }

  internal::Sitting sitting_;
  const RingSlot<T>* slots_;
  RingCursor* cursor_;
  RingBell* room_;  // null: no producer sleeps for us
  std::uint64_t mask_;
  std::uint64_t next_;
  std::uint64_t publish_mask_;
  Recovery recovery_;
  bool reliable_;
  std::uint32_t looks_ = 0;  // in vain, in a row
  std::uint64_t lost_ = 0;
  std::uint64_t passed_over_ = 0;
  MessageRange loss_{};
  Nanos grace_;
  const Clock* clock_;
  std::uint64_t waits_for_ = RingCore::kNone;
  Nanos waits_since_{0};
};

}  // namespace leat::queue
