// What      The producing ends of a slot ring: SingleProducer, of which a ring has one at a time, and
//           SharedProducer, of which it has as many as it has seats.
// Protocol  Single:  stamp := busy(n); words; stamp := published(n); head := n + 1.
//           Shared:  n := the hint in head, or what we claimed last, plus one; look at slot n. Taken
//                    for n or a later lap: go on behind that. Else note n in our seat, and claim by
//                    one compare-exchange of the stamp, which reserves the sequence and begins the
//                    write in one. Move the hint; words; stamp := published(n).
//           Reliable rings: never claim n at or beyond the limit: the slowest cursor plus the number
//           of slots, looked up again when it is reached.
// Invariants
//   (1) A sequence is reserved by its busy stamp and not before: a producer that dies has either
//       begun nothing, or left a busy slot that its seat answers for.
//   (2) One producer's messages have growing sequences.
// Limits    A lossy ring overwrites; it never waits, except that of many producers those that meet a
//           slot still busy a lap behind pass over that sequence. A reliable one says `full`; `push`
//           waits for room, in a wakeable ring also asleep. Whoever finds it full for long looks for
//           consumers that are dead.
// Cost      Single: no read-modify-write. Shared: one. The lines of the slot, the head, and for
//           Shared its seat. In a wakeable ring one full barrier more.
// Source    Claiming the sequence by the slot itself, in place of a counter and then the slot, is
//           ours: it saves a locked operation, and leaves no reservation without a slot.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/core/stop.hpp>
#include <leat/queue/ring/core.hpp>
#include <leat/queue/ring/result.hpp>
#include <leat/queue/ring/slot.hpp>
#include <leat/queue/ring/step.hpp>
#include <leat/queue/ring/waiting.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace leat::queue {

namespace internal {

// A seat that is left when it goes out of scope.
class Sitting {
 public:
  Sitting() noexcept = default;
  Sitting(std::shared_ptr<RingCore> core, const RingCore::Seated& seat) noexcept
      : core_(std::move(core)), seat_(seat) {}
  Sitting(Sitting&& other) noexcept : core_(std::move(other.core_)), seat_(other.seat_) {}
  Sitting& operator=(Sitting&& other) noexcept {
    if (this != &other) {
      leave();
      core_ = std::move(other.core_);
      seat_ = other.seat_;
    }
    return *this;
  }
  ~Sitting() { leave(); }

  void leave() noexcept {
    if (core_ != nullptr) std::exchange(core_, nullptr)->leave(seat_);
  }

  [[nodiscard]] RingCore& core() const noexcept { return *core_; }
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return core_; }
  [[nodiscard]] const RingCore::Seated& at() const noexcept { return seat_; }
  [[nodiscard]] RingSeat& seat() const noexcept { return core_->seat(seat_.place); }

 private:
  std::shared_ptr<RingCore> core_;
  RingCore::Seated seat_;
};

// What both producers have: the slots, the credit, and the way to tell who sleeps.
template <RingRecord T>
class ProducerEnd {
 public:
  ProducerEnd(Sitting sitting, std::uint64_t next) noexcept
      : sitting_(std::move(sitting)),
        slots_(reinterpret_cast<RingSlot<T>*>(core().slots())),
        head_(&core().words().head),
        bell_(core().shape().wakeable ? &core().words().bell : nullptr),
        mask_(core().shape().mask()),
        next_(next),
        limit_(core().shape().reliable ? next : std::numeric_limits<std::uint64_t>::max()) {}

  [[nodiscard]] RingCore& core() const noexcept { return sitting_.core(); }
  [[nodiscard]] RingSlot<T>& slot(std::uint64_t sequence) const noexcept {
    return slots_[sequence & mask_];
  }
  /// Whether `sequence` may be claimed after all.
  [[nodiscard, gnu::noinline]] bool renew(std::uint64_t sequence) noexcept {
    limit_ = core().limit(sequence);
    if (sequence < limit_) return true;
    if (++refused_ % kRefusedBeforeRepair != 0) return false;
    static_cast<void>(core().try_repair());
    limit_ = core().limit(sequence);
    return sequence < limit_;
  }
  /// Returns: false if `sequence` may be claimed already.
  bool sleep(std::uint64_t sequence, std::optional<Nanos> at_most, const core::StopToken* stop) {
    LEAT_CHECK(core().shape().wakeable, "asked to sleep on a ring that is not wakeable");
    if (at_most && *at_most <= Nanos{0}) return true;
    bool sleeps = true;
    const bool rung = core().words().room.sleep_behind_barrier(
        [&] {
          sleeps = !renew(sequence);
          return !sleeps || (stop != nullptr && stop->requested_before_sleep());
        },
        at_most);
    // Who lives would have rung: perhaps the one that we wait for does not.
    if (!rung) static_cast<void>(core().try_repair());
    return sleeps;
  }
  void publish(RingSlot<T>& slot, std::uint64_t sequence) noexcept {
    LEAT_RING_STEP("produce.filled");
    if (bell_ == nullptr) [[likely]] {
      slot.stamp.publish(sequence);
      LEAT_RING_STEP("produce.published");
      return;
    }
    if (LEAT_MUTANT("ring.publish_softly")) {
      slot.stamp.publish(sequence);
    } else {
      slot.stamp.publish_loudly(sequence);
    }
    LEAT_RING_STEP("produce.published");
    bell_->ring();
  }

  Sitting sitting_;
  RingSlot<T>* slots_;
  RingHead* head_;
  RingBell* bell_;  // null: nobody sleeps
  std::uint64_t mask_;
  std::uint64_t next_;
  std::uint64_t limit_;
  std::uint32_t refused_ = 0;

 private:
  static constexpr std::uint32_t kRefusedBeforeRepair = 1024;
};

}  // namespace internal

/// What a producer does when a consumer is in its way for longer than it will wait.
enum class OnSlow : std::uint8_t {
  give_up,  ///< answer `full`
  evict,    ///< send the slowest away, and go on
};

/// Room for several messages of one producer, claimed at once and published at once, in order; but
/// not as one: a consumer may see the first before the last. What was not set, or if it is never
/// published all of it, is passed over by readers. The producer does nothing else meanwhile.
template <class Producer>
class RingBatch {
 public:
  using Record = typename Producer::Record;

  RingBatch(RingBatch&& other) noexcept
      : producer_(std::exchange(other.producer_, nullptr)),
        first_(other.first_),
        count_(other.count_),
        set_(std::move(other.set_)) {}
  RingBatch& operator=(RingBatch&&) = delete;
  ~RingBatch() {
    if (producer_ == nullptr) return;
    std::fill(set_.begin(), set_.end(), false);
    producer_->finish(first_, set_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }

  /// Requires: `index < size()`; checked in debug builds.
  void set(std::size_t index, const Record& value) noexcept {
    LEAT_DCHECK(index < count_, "no such place in a batch");
    producer_->end_.slot(first_ + index).fill(value);
    set_[index] = true;
  }
  void publish() noexcept { std::exchange(producer_, nullptr)->finish(first_, set_); }

 private:
  friend Producer;
  RingBatch(Producer* producer, std::uint64_t first, std::size_t count)
      : producer_(producer), first_(first), count_(count), set_(count, false) {}

  Producer* producer_;
  std::uint64_t first_;
  std::size_t count_;
  std::vector<bool> set_;
};

namespace internal {

/// What is the same for both: waiting for room.
template <class Producer, class T>
Push push_waiting(Producer& producer, const T& value, Nanos at_most, OnSlow on_slow,
                  const Waiting& waiting, const Clock& clock) {
  if (producer.try_push(value) == Push::ok) return Push::ok;
  const Nanos deadline = clock.now() + at_most;
  IdleSteps idle(waiting);
  for (;;) {
    if (producer.try_push(value) == Push::ok) return Push::ok;
    if (waiting.stopped()) return Push::full;
    const Nanos now = clock.now();
    if (now >= deadline) {
      if (on_slow == OnSlow::give_up || !producer.core().evict_slowest(Eviction::too_slow)) {
        return producer.try_push(value);
      }
      continue;
    }
    idle.step([&] {
      const Nanos left = std::min(deadline - now, waiting.sleep_at_most);
      if (!producer.sleep(left, waiting.stop)) std::this_thread::yield();
    });
  }
}

inline const Clock& steady_clock() noexcept {
  static const RealClock clock;
  return clock;
}

}  // namespace internal

/// The one producer of a ring of that kind.
///
/// Threads:  one at a time.
template <RingRecord T>
class SingleProducer {
 public:
  using Record = T;
  using Batch = RingBatch<SingleProducer>;

  explicit SingleProducer(internal::Sitting sitting) noexcept : end_(std::move(sitting), 0) {
    end_.next_ = end_.core().frontier();
    if (end_.core().shape().reliable) end_.limit_ = end_.next_;
  }

  /// Publishes `value`.
  ///
  /// Returns:  `full` in a reliable ring whose slowest consumer has not read what stands there; else
  ///           `ok`.
  /// Never waits, allocates or throws. In a wakeable ring it may make a system call.
  /// Ordering: what the caller did before is visible to whoever takes the message.
  [[nodiscard]] Push try_push(const T& value) noexcept {
    const std::uint64_t n = end_.next_;
    if (n >= end_.limit_) [[unlikely]] {
      if (!end_.renew(n)) return Push::full;
    }
    RingSlot<T>& slot = end_.slot(n);
    if (!LEAT_MUTANT("slot.no_busy")) slot.stamp.begin(n);
    LEAT_RING_STEP("produce.begun");
    slot.fill(value);
    end_.publish(slot, n);
    end_.next_ = n + 1;
    end_.head_->set(n + 1);
    LEAT_RING_STEP("produce.done");
    return Push::ok;
  }

  /// Waits for room, at most so long; then does as `on_slow` says. Sleeping needs a wakeable ring.
  [[nodiscard]] Push push(const T& value, Nanos at_most, OnSlow on_slow = OnSlow::give_up,
                          const Waiting& waiting = {},
                          const Clock& clock = internal::steady_clock()) {
    return internal::push_waiting(*this, value, at_most, on_slow, waiting, clock);
  }

  /// Sleeps until there may be room, for at most so long if that is said; may end early.
  ///
  /// Requires: a wakeable ring; checked. Returns: false, at once, if there is room.
  bool sleep(std::optional<Nanos> at_most, const core::StopToken* stop = nullptr) {
    return end_.sleep(end_.next_, at_most, stop);
  }

  /// Room for up to `count` messages, fewer or none if consumers are in the way. Allocates a little.
  [[nodiscard]] Batch reserve(std::size_t count) {
    const std::uint64_t first = end_.next_;
    if (first + count > end_.limit_) static_cast<void>(end_.renew(first));
    const std::uint64_t room = std::min(end_.limit_ - first, end_.core().shape().slots);
    const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(count, room));
    for (std::size_t i = 0; i < taken; ++i) {
      end_.slot(first + i).stamp.begin(first + i);
      LEAT_RING_STEP("batch.begun");
    }
    return Batch(this, first, taken);
  }

  /// How many messages are certain to find room now. Threads: as push.
  [[nodiscard]] std::uint64_t credit() noexcept {
    if (!end_.core().shape().reliable) return end_.core().shape().slots;
    static_cast<void>(end_.renew(end_.next_));
    return end_.limit_ - std::min(end_.limit_, end_.next_);
  }
  /// How many fit before somebody is lapped, whether he gates us or not.
  [[nodiscard]] std::uint64_t headroom() const noexcept { return end_.core().headroom(); }
  /// The sequence that the next message gets.
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return end_.next_; }
  [[nodiscard]] RingCore& core() const noexcept { return end_.core(); }

 private:
  friend Batch;

  void finish(std::uint64_t first, const std::vector<bool>& set) noexcept {
    for (std::size_t i = 0; i < set.size(); ++i) {
      RingSlot<T>& slot = end_.slot(first + i);
      if (set[i]) {
        end_.publish(slot, first + i);
      } else {
        slot.stamp.bury(first + i);
      }
    }
    end_.next_ = first + set.size();
    end_.head_->set(end_.next_);
  }

  internal::ProducerEnd<T> end_;
};

/// One of several producers of a ring of that kind.
///
/// Threads:  one at a time; each thread makes its own.
template <RingRecord T>
class SharedProducer {
 public:
  using Record = T;
  using Batch = RingBatch<SharedProducer>;

  explicit SharedProducer(internal::Sitting sitting) noexcept
      : end_(std::move(sitting), 0), seat_(&end_.sitting_.seat()) {}

  /// As SingleProducer's. `full` also in a reliable ring where the slot is still being written, a
  /// lap behind.
  [[nodiscard]] Push try_push(const T& value) noexcept {
    std::uint64_t n = 0;
    if (!claim_next(n)) [[unlikely]]
      return Push::full;
    LEAT_RING_STEP("produce.begun");
    RingSlot<T>& slot = end_.slot(n);
    slot.fill(value);
    end_.publish(slot, n);
    LEAT_RING_STEP("produce.done");
    return Push::ok;
  }

  [[nodiscard]] Push push(const T& value, Nanos at_most, OnSlow on_slow = OnSlow::give_up,
                          const Waiting& waiting = {},
                          const Clock& clock = internal::steady_clock()) {
    return internal::push_waiting(*this, value, at_most, on_slow, waiting, clock);
  }

  /// As SingleProducer's.
  bool sleep(std::optional<Nanos> at_most, const core::StopToken* stop = nullptr) {
    return end_.sleep(end_.core().frontier(), at_most, stop);
  }

  /// As SingleProducer's. Fewer, too, where another producer claims in between.
  [[nodiscard]] Batch reserve(std::size_t count) {
    // The seat answers for the whole range before the first of it is claimed.
    seat_->count.store_relaxed(std::max<std::uint64_t>(count, 1));
    std::uint64_t first = 0;
    if (count == 0 || !claim_next(first)) {
      seat_->count.store_relaxed(1);
      return Batch(this, 0, 0);
    }
    std::size_t taken = 1;
    for (; taken < count && taken < end_.core().shape().slots; ++taken) {
      const std::uint64_t n = first + taken;
      if (n >= end_.limit_ && !end_.renew(n)) break;
      std::uint64_t found = end_.slot(n).stamp.look();
      if (found >= stamp::busy(n) || stamp::is_busy(found)) break;
      if (!end_.slot(n).stamp.claim(found, n)) break;
      LEAT_RING_STEP("batch.begun");
    }
    end_.next_ = first + taken;
    if (end_.head_->guess() < end_.next_) end_.head_->set(end_.next_);
    return Batch(this, first, taken);
  }

  /// How many messages would find room now, if nobody else produced.
  [[nodiscard]] std::uint64_t credit() noexcept {
    if (!end_.core().shape().reliable) return end_.core().shape().slots;
    const std::uint64_t frontier = end_.core().frontier();
    static_cast<void>(end_.renew(frontier));
    return end_.limit_ - std::min(end_.limit_, frontier);
  }
  [[nodiscard]] std::uint64_t headroom() const noexcept { return end_.core().headroom(); }
  [[nodiscard]] RingCore& core() const noexcept { return end_.core(); }

 private:
  friend Batch;
  static constexpr std::uint32_t kRepairEvery = 1024;

  [[nodiscard]] bool claim_next(std::uint64_t& claimed) noexcept {
    std::uint64_t n = std::max(end_.head_->get(), end_.next_);
    for (;;) {
      if (n >= end_.limit_) [[unlikely]] {
        if (!end_.renew(n)) return give_up();
      }
      RingStamp& stamp = end_.slot(n).stamp;
      std::uint64_t found = stamp.look();
      if (found >= stamp::busy(n)) {
        n = stamp::sequence(found) + 1;
        continue;
      }
      if (stamp::is_busy(found)) [[unlikely]] {
        if (!passes_over()) return give_up();
        ++n;
        continue;
      }
      // Relaxed: the claim releases it, so that who sees the busy stamp can find whose it is.
      if (!LEAT_MUTANT("ring.claim_unnoted")) seat_->cursor.note_relaxed(n);
      LEAT_RING_STEP("produce.noted");
      if (stamp.claim(found, n)) break;
    }
    LEAT_RING_STEP("produce.claimed");
    claimed = n;
    end_.next_ = n + 1;
    if (end_.head_->guess() < n + 1) end_.head_->set(n + 1);
    return true;
  }

  // A seat that notes a sequence it did not get would keep that from being buried.
  [[gnu::noinline]] bool give_up() noexcept {
    seat_->cursor.note_relaxed(RingCore::kNone);
    return false;
  }

  // The slot is still being written, a lap behind: by somebody slow, or dead.
  [[nodiscard, gnu::noinline]] bool passes_over() noexcept {
    if (++stalls_ % kRepairEvery == 0) end_.core().repair();
    return !end_.core().shape().reliable;
  }

  void finish(std::uint64_t first, const std::vector<bool>& set) noexcept {
    for (std::size_t i = 0; i < set.size(); ++i) {
      RingSlot<T>& slot = end_.slot(first + i);
      if (set[i]) {
        end_.publish(slot, first + i);
      } else {
        slot.stamp.bury(first + i);
      }
    }
    if (!set.empty()) seat_->count.store_relaxed(1);
  }

  internal::ProducerEnd<T> end_;
  RingSeat* seat_;
  std::uint32_t stalls_ = 0;
};

}  // namespace leat::queue
