// What      SpscRing<T>: a queue of fixed records from one producer to one consumer, in private memory
//           or in a segment that two processes share. Nothing is lost: it says `full`.
// Shape     tail | head | bell | leases, room (a sector each), then the records
//             records:  [head, tail) are the consumer's, all others the producer's
// Protocol  Producer: if tail - the head we saw last is all there is, look at head again; write the
//           record; tail := tail + 1. Consumer likewise. Each end keeps its own index in itself, and
//           what it saw last of the other's, so that a full burst costs one look at the other's line.
// Invariants
//   (1) head <= tail <= head + slots; both only grow.
// Ordering  publish  tail -> consumer: the record is whole before it is read.
//           recycle  head -> producer: the copy is over before the record is overwritten.
//           lease    who had an end -> who takes it over.
// Limits    A producer that dies has published a record or not; one that takes its end over goes on
//           at tail. The same for the consumer: a record that it had not said done comes again.
//           A producer that sleeps until there is room is woken when the consumer has taken all that
//           it had seen, not at the first record.
// Cost      Two lines a message at most: the record's, and now and then the other's index.
// Source    Lamport 1983; cached indices as in Lee, Bu and Chandranmenon 2010 (MCRingBuffer).
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/result.hpp>
#include <leat/core/stop.hpp>
#include <leat/queue/ring/bell.hpp>
#include <leat/queue/ring/core.hpp>
#include <leat/queue/ring/producer.hpp>
#include <leat/queue/ring/result.hpp>
#include <leat/queue/ring/slot.hpp>
#include <leat/queue/ring/waiting.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace leat::queue {

struct SpscWords {
  struct publish : Edge {};  // tail -> consumer: the record is whole
  struct recycle : Edge {};  // head -> producer: the copy is over
  struct lease : Edge {};    // who had an end -> who takes it over

  alignas(kSector) Atomic<std::uint64_t> tail{0};
  alignas(kSector) Atomic<std::uint64_t> head{0};
  alignas(kSector) RingBell bell;
  alignas(kSector) Atomic<std::uint64_t> producer{0};  // who has that end, or 0
  Atomic<std::uint64_t> consumer{0};
  RingBell room;  // the producer waits for the consumer
};
static_assert(sizeof(SpscWords) == 512 && offsetof(SpscWords, head) == 128);
static_assert(offsetof(SpscWords, room) == 400);

/// What the consumer waits for; as RingAwaited.
struct SpscAwaited {
  RingBell* bell = nullptr;
  const SpscWords* words = nullptr;
  std::uint64_t head = 0;

  [[nodiscard]] bool is_there() const noexcept {
    return words->tail.load_seq_cst(SpscWords::publish{}) != head;
  }
};

struct SpscOptions {
  /// Records that fit. Rounded up to a power of two.
  std::uint64_t slots = 1024;
  /// Whether the two may sleep: one until there is a record, the other until there is room. Costs the
  /// producer a full barrier a message, the consumer one each time that it has taken all it had seen,
  /// and nothing if not.
  bool wakeable = false;
};

/// What both sides of a shared one must agree on.
struct SpscShape {
  std::uint64_t slots = 0;
  std::uint32_t payload_bytes = 0;
  bool wakeable = false;

  [[nodiscard]] std::size_t total_bytes() const noexcept {
    return sizeof(SpscWords) + (slots * payload_bytes + kSector - 1) / kSector * kSector;
  }
};

namespace internal {

struct SpscBody {
  std::byte* memory = nullptr;
  SpscShape shape;
  std::shared_ptr<const RingPeers> peers;
  std::shared_ptr<const void> keep;

  [[nodiscard]] SpscWords& words() const noexcept { return *reinterpret_cast<SpscWords*>(memory); }
};

// One end of the ring, given back when it goes.
class SpscLease {
 public:
  SpscLease(std::shared_ptr<const SpscBody> body, Atomic<std::uint64_t>* word) noexcept
      : body_(std::move(body)), word_(word) {}
  SpscLease(SpscLease&& other) noexcept
      : body_(std::move(other.body_)), word_(std::exchange(other.word_, nullptr)) {}
  SpscLease& operator=(SpscLease&& other) noexcept {
    std::swap(body_, other.body_);
    std::swap(word_, other.word_);
    return *this;
  }
  ~SpscLease() {
    if (word_ != nullptr) word_->store_release(0, SpscWords::lease{});
  }

  /// Takes an end of `body`. Errors: somebody has it who is not proven dead.
  [[nodiscard]] static Result<SpscLease> take(std::shared_ptr<const SpscBody> body,
                                              Atomic<std::uint64_t>& word, const char* what) {
    std::uint64_t holder = 0;
    const std::uint64_t self = body->peers->self();
    if (word.compare_exchange_strong_acquire(holder, self, SpscWords::lease{}) ||
        (body->peers->is_dead(holder) &&
         word.compare_exchange_strong_acquire(holder, self, SpscWords::lease{}))) {
      return SpscLease(std::move(body), &word);
    }
    return Error{
        std::string("spsc ring: asked for its ") + what +
        "; found that another has it and is not proven dead; wait until it leaves, or take "
        "a ring of more"};
  }

  [[nodiscard]] const SpscBody& body() const noexcept { return *body_; }
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return body_; }

 private:
  std::shared_ptr<const SpscBody> body_;
  Atomic<std::uint64_t>* word_;
};

}  // namespace internal

/// Threads: one at a time.
template <RingRecord T>
class SpscProducer {
 public:
  explicit SpscProducer(internal::SpscLease lease) noexcept
      : lease_(std::move(lease)),
        words_(&lease_.body().words()),
        records_(reinterpret_cast<Plain<T>*>(lease_.body().memory + sizeof(SpscWords))),
        slots_(lease_.body().shape.slots),
        tail_(words_->tail.load_relaxed()),  // the lease ordered it
        head_seen_(words_->head.load_acquire(SpscWords::recycle{})),
        wakes_(lease_.body().shape.wakeable) {}

  /// Publishes `value`, unless the ring is full. Never waits, allocates or throws.
  [[nodiscard]] Push try_push(const T& value) noexcept {
    const std::uint64_t tail = tail_;
    if (tail - head_seen_ >= slots_) [[unlikely]] {
      head_seen_ = words_->head.load_acquire(SpscWords::recycle{});
      if (tail - head_seen_ >= slots_) return Push::full;
    }
    records_[tail & (slots_ - 1)].write() = value;
    LEAT_RING_STEP("spsc.filled");
    publish(tail + 1);
    return Push::ok;
  }

  /// Publishes as many as fit, at once. Returns: how many.
  [[nodiscard]] std::size_t try_push_batch(std::span<const T> values) noexcept {
    if (slots_ - (tail_ - head_seen_) < values.size()) {
      head_seen_ = words_->head.load_acquire(SpscWords::recycle{});
    }
    const std::uint64_t room = slots_ - std::min(slots_, tail_ - head_seen_);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(room, values.size()));
    for (std::size_t i = 0; i < count; ++i)
      records_[(tail_ + i) & (slots_ - 1)].write() = values[i];
    if (count == 0) return 0;
    publish(tail_ + count);
    return count;
  }

  /// Waits for room, for at most so long. Returns: `full` if the time ran out, or a stop was
  /// requested. Sleeping needs a wakeable ring.
  [[nodiscard]] Push push(const T& value, Nanos at_most, const Waiting& waiting = {},
                          const Clock& clock = internal::steady_clock()) {
    if (try_push(value) == Push::ok) return Push::ok;
    const Nanos deadline = clock.now() + at_most;
    IdleSteps idle(waiting);
    for (;;) {
      if (try_push(value) == Push::ok) return Push::ok;
      const Nanos now = clock.now();
      if (now >= deadline || waiting.stopped()) return Push::full;
      idle.step([&] { sleep(std::min(deadline - now, waiting.sleep_at_most), waiting.stop); });
    }
  }

  /// Sleeps until there may be room, for at most so long if that is said; may end early. Requires: a
  /// wakeable ring; checked.
  void sleep(std::optional<Nanos> at_most, const core::StopToken* stop = nullptr) {
    LEAT_CHECK(wakes_, "asked to sleep on a ring that is not wakeable");
    if (at_most && *at_most <= Nanos{0}) return;
    words_->room.sleep_behind_barrier(
        [&] { return credit() > 0 || (stop != nullptr && stop->requested_before_sleep()); },
        at_most);
  }

  /// How many are certain to fit.
  [[nodiscard]] std::uint64_t credit() noexcept {
    head_seen_ = words_->head.load_acquire(SpscWords::recycle{});
    return slots_ - std::min(slots_, tail_ - head_seen_);
  }

 private:
  void publish(std::uint64_t tail) noexcept {
    tail_ = tail;
    if (!wakes_) [[likely]] {
      words_->tail.store_release(tail, SpscWords::publish{});
      LEAT_RING_STEP("spsc.published");
      return;
    }
    words_->tail.store_seq_cst(tail, SpscWords::publish{});
    LEAT_RING_STEP("spsc.published");
    words_->bell.ring();
  }

  internal::SpscLease lease_;
  SpscWords* words_;
  Plain<T>* records_;
  std::uint64_t slots_;
  std::uint64_t tail_;
  std::uint64_t head_seen_;
  bool wakes_;
};

/// Threads: one at a time.
template <RingRecord T>
class SpscConsumer {
 public:
  explicit SpscConsumer(internal::SpscLease lease) noexcept
      : lease_(std::move(lease)),
        words_(&lease_.body().words()),
        records_(reinterpret_cast<const Plain<T>*>(lease_.body().memory + sizeof(SpscWords))),
        mask_(lease_.body().shape.slots - 1),
        head_(words_->head.load_relaxed()),  // the lease ordered it
        tail_seen_(head_),
        told_(~head_),
        wakes_(lease_.body().shape.wakeable) {}

  /// Takes the oldest record. Returns: `ok` or `empty`. Never waits, allocates or throws. In a
  /// wakeable ring it may make a system call.
  [[nodiscard]] Pull try_pop(T& to) noexcept {
    const std::uint64_t head = head_;
    if (head == tail_seen_) {
      look();
      if (head == tail_seen_) return Pull::empty;
    }
    to = records_[head & mask_].read();
    LEAT_RING_STEP("spsc.copied");
    head_ = head + 1;
    words_->head.store_release(head + 1, SpscWords::recycle{});
    return Pull::ok;
  }

  /// Takes as many as are there and have room, and says so once. Returns: how many.
  [[nodiscard]] std::size_t try_pop_batch(std::span<T> to) noexcept {
    if (tail_seen_ - head_ < to.size()) look();
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(tail_seen_ - head_, to.size()));
    for (std::size_t i = 0; i < count; ++i) to[i] = records_[(head_ + i) & mask_].read();
    if (count == 0) return 0;
    head_ += count;
    words_->head.store_release(head_, SpscWords::recycle{});
    return count;
  }

  /// The oldest record in its place, or null; it stays until `drop`.
  [[nodiscard]] const T* peek() noexcept {
    if (head_ == tail_seen_) {
      look();
      if (head_ == tail_seen_) return nullptr;
    }
    return &records_[head_ & mask_].read();
  }
  /// Gives the place of the oldest record back. Requires: `peek` returned it.
  void drop() noexcept {
    ++head_;
    words_->head.store_release(head_, SpscWords::recycle{});
  }

  /// Waits for a record, for at most so long. Returns: `ok`, or `empty` if the time ran out or a stop
  /// was requested.
  [[nodiscard]] Pull pop(T& to, Nanos at_most, const Waiting& waiting = {},
                         const Clock& clock = internal::steady_clock()) {
    if (try_pop(to) == Pull::ok) return Pull::ok;
    const Nanos deadline = clock.now() + at_most;
    IdleSteps idle(waiting);
    for (std::uint32_t looks = 1;; ++looks) {
      if (try_pop(to) == Pull::ok) return Pull::ok;
      if (waiting.stopped()) return Pull::empty;
      if ((looks % 16 == 0 || looks > waiting.looks) && clock.now() >= deadline) return Pull::empty;
      idle.step(
          [&] { sleep(std::min(deadline - clock.now(), waiting.sleep_at_most), waiting.stop); });
    }
  }

  /// Sleeps until something may be there. Requires: a wakeable ring; checked.
  void sleep(std::optional<Nanos> at_most, const core::StopToken* stop = nullptr) {
    LEAT_CHECK(wakes_, "asked to sleep on a ring that is not wakeable");
    if (told_ != head_) tell_producer();
    if (at_most && *at_most <= Nanos{0}) return;
    words_->bell.sleep(
        [&] { return awaited().is_there() || (stop != nullptr && stop->requested_before_sleep()); },
        at_most);
  }

  [[nodiscard]] bool can_sleep() const noexcept { return wakes_; }
  /// What this consumer waits for.
  [[nodiscard]] SpscAwaited awaited() const noexcept { return {&words_->bell, words_, head_}; }
  /// Keeps the ring's memory.
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return lease_.memory(); }

 private:
  [[gnu::noinline]] void tell_producer() noexcept {
    told_ = head_;
    if (!LEAT_MUTANT("spsc.tell_no_producer")) words_->room.ring_behind_barrier();
  }
  void look() noexcept {
    if (wakes_ && told_ != head_) [[unlikely]]
      tell_producer();
    tail_seen_ = words_->tail.load_acquire(SpscWords::publish{});
  }

  internal::SpscLease lease_;
  SpscWords* words_;
  const Plain<T>* records_;
  std::uint64_t mask_;
  std::uint64_t head_;
  std::uint64_t tail_seen_;
  std::uint64_t told_;  // our head when we last looked whether the producer sleeps
  bool wakes_;
};

/// A handle on such a ring; copies are of the same ring. Ends keep its memory. Threads: any.
template <RingRecord T>
class SpscRing {
 public:
  /// Errors: slots out of their range.
  [[nodiscard]] static Result<SpscShape> shape_of(const SpscOptions& options) {
    if (options.slots == 0 || options.slots > kRingSlotsMax) {
      return Error{"spsc ring: asked " + std::to_string(options.slots) +
                   " slots; found that 1 to " + std::to_string(kRingSlotsMax) +
                   " are possible; choose one of these"};
    }
    return SpscShape{std::bit_ceil(options.slots), static_cast<std::uint32_t>(sizeof(T)),
                     options.wakeable};
  }

  /// A ring in this process's own memory. Errors: as shape_of.
  [[nodiscard]] static Result<SpscRing> make(const SpscOptions& options) {
    auto shape = shape_of(options);
    if (!shape) return shape.error();
    const std::size_t bytes = shape->total_bytes();
    auto* memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kRingAlign}));
    std::fill_n(memory, bytes, std::byte{0});
    std::shared_ptr<const void> keep(memory, [](const void* at) {
      ::operator delete(const_cast<void*>(at), std::align_val_t{kRingAlign});
    });
    return SpscRing(memory, *shape, private_ring_peers(), std::move(keep));
  }

  /// Over memory of `shape.total_bytes()` bytes, zeros when the ring is new, aligned to kRingAlign.
  /// Requires: the shape is of a ring of `T`s; checked.
  SpscRing(std::byte* memory, const SpscShape& shape, std::shared_ptr<const RingPeers> peers,
           std::shared_ptr<const void> keep)
      : body_(std::make_shared<internal::SpscBody>(
            internal::SpscBody{memory, shape, std::move(peers), std::move(keep)})) {
    LEAT_CHECK(shape.payload_bytes == sizeof(T) && std::has_single_bit(shape.slots),
               "an spsc ring was taken for one of other records");
  }

  /// Errors: another has that end and is not proven dead.
  [[nodiscard]] Result<SpscProducer<T>> producer() {
    auto lease = internal::SpscLease::take(body_, body_->words().producer, "producer");
    if (!lease) return lease.error();
    return SpscProducer<T>(std::move(*lease));
  }
  [[nodiscard]] Result<SpscConsumer<T>> consumer() {
    auto lease = internal::SpscLease::take(body_, body_->words().consumer, "consumer");
    if (!lease) return lease.error();
    return SpscConsumer<T>(std::move(*lease));
  }

  [[nodiscard]] const SpscShape& shape() const noexcept { return body_->shape; }
  /// Makes an end that sleeps look again.
  void wake_all() noexcept {
    body_->words().bell.wake_all();
    body_->words().room.wake_all();
  }
  [[nodiscard]] std::uint64_t size_approx() const noexcept {
    const std::uint64_t head = body_->words().head.load_relaxed();  // approximate
    const std::uint64_t tail = body_->words().tail.load_relaxed();
    return tail > head ? tail - head : 0;
  }

 private:
  std::shared_ptr<const internal::SpscBody> body_;
};

}  // namespace leat::queue
