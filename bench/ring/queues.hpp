// What      The queues that are compared, behind two faces:
//             one to one        push(const P&), pop(P&); each says whether it could
//             one to all        push(const P&), pop(consumer, P&)
//           Ours; a plain ring with cached indices; Boost's; TBB's bounded queue; a mutex with a
//           condition variable; moodycamel's two, where their packages are there (Debian's
//           libconcurrentqueue-dev and libreaderwriterqueue-dev); and the protocol of Flux.
// Limits    Flux itself never waits for its consumers. To compare what is delivered, its producer here
//           looks at the consumers' cursors, which it has anyway, when a lap is used up.
#pragma once

#include "messages.hpp"

#include <leat/queue/ring/ring.hpp>
#include <leat/queue/ring/spsc.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <boost/lockfree/spsc_queue.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(LEAT_BENCH_TBB)
#include <tbb/concurrent_queue.h>
#endif
#if __has_include(<concurrentqueue/concurrentqueue.h>)
#include <concurrentqueue/concurrentqueue.h>
#define LEAT_BENCH_MOODYCAMEL 1
#endif
#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <readerwriterqueue/readerwriterqueue.h>
#define LEAT_BENCH_READERWRITER 1
#endif

namespace leat::bench {

// One to one.

template <class P>
class LeatSpsc {
 public:
  explicit LeatSpsc(std::size_t slots)
      : ring_(queue::SpscRing<P>::make({.slots = slots}).value()),
        producer_(ring_.producer().value()),
        consumer_(ring_.consumer().value()) {}
  bool push(const P& value) { return producer_.try_push(value) == queue::Push::ok; }
  bool pop(P& to) { return consumer_.try_pop(to) == queue::Pull::ok; }

 private:
  queue::SpscRing<P> ring_;
  alignas(128) queue::SpscProducer<P> producer_;
  alignas(128) queue::SpscConsumer<P> consumer_;
};

/// Thirty lines that anybody writes: two indices, each end with a copy of the other's.
template <class P>
class PlainRing {
 public:
  explicit PlainRing(std::size_t slots) : mask_(slots - 1), records_(new P[slots]) {}
  bool push(const P& value) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ > mask_) return false;
    }
    records_[tail & mask_] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool pop(P& to) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head == tail_seen_) return false;
    }
    to = records_[head & mask_];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  std::uint64_t mask_;
  std::unique_ptr<P[]> records_;
  alignas(128) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t head_seen_ = 0;
  alignas(128) std::atomic<std::uint64_t> head_{0};
  std::uint64_t tail_seen_ = 0;
};

template <class P>
class BoostSpsc {
 public:
  explicit BoostSpsc(std::size_t slots) : queue_(slots) {}
  bool push(const P& value) { return queue_.push(value); }
  bool pop(P& to) { return queue_.pop(to); }

 private:
  boost::lockfree::spsc_queue<P> queue_;
};

template <class P>
class MutexQueue {
 public:
  explicit MutexQueue(std::size_t slots) : slots_(slots) {}
  bool push(const P& value) {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.size() == slots_) return false;
      queue_.push_back(value);
    }
    there_.notify_one();
    return true;
  }
  bool pop(P& to) {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    to = queue_.front();
    queue_.pop_front();
    return true;
  }

 private:
  std::size_t slots_;
  std::mutex mutex_;
  std::condition_variable there_;
  std::deque<P> queue_;
};

#if defined(LEAT_BENCH_TBB)
template <class P>
class TbbBounded {
 public:
  explicit TbbBounded(std::size_t slots) {
    queue_.set_capacity(static_cast<std::ptrdiff_t>(slots));
  }
  bool push(const P& value) { return queue_.try_push(value); }
  bool pop(P& to) { return queue_.try_pop(to); }

 private:
  tbb::concurrent_bounded_queue<P> queue_;
};
#endif

#if defined(LEAT_BENCH_MOODYCAMEL)
/// Unbounded: it never says that it is full. Of several to one, with a token for each.
template <class P>
class MoodycamelMany {
 public:
  MoodycamelMany(std::size_t slots, std::size_t producers, std::size_t)
      : queue_(slots), consumer_(queue_) {
    for (std::size_t i = 0; i < producers; ++i) producers_.emplace_back(queue_);
  }
  bool push(std::size_t producer, const P& value) {
    return queue_.enqueue(producers_[producer], value);
  }
  bool pop(std::size_t, P& to) { return queue_.try_dequeue(consumer_, to); }

 private:
  moodycamel::ConcurrentQueue<P> queue_;
  std::deque<moodycamel::ProducerToken> producers_;
  moodycamel::ConsumerToken consumer_;
};

template <class P>
class Moodycamel {
 public:
  explicit Moodycamel(std::size_t slots) : queue_(slots, 1, 1) {}
  bool push(const P& value) { return queue_.push(0, value); }
  bool pop(P& to) { return queue_.pop(0, to); }

 private:
  MoodycamelMany<P> queue_;
};
#endif

#if defined(LEAT_BENCH_READERWRITER)
/// Made to be bounded: it says that it is full in place of allocating.
template <class P>
class ReaderWriter {
 public:
  explicit ReaderWriter(std::size_t slots) : queue_(slots) {}
  bool push(const P& value) { return queue_.try_enqueue(value); }
  bool pop(P& to) { return queue_.try_dequeue(to); }

 private:
  moodycamel::ReaderWriterQueue<P> queue_;
};
#endif

// One to all, and several to one.

/// Ours. `kGated`: nothing is overwritten before all have read it.
template <class P, queue::RingKind kKind, bool kGated, bool kWakeable = false>
class LeatRing {
 public:
  LeatRing(std::size_t slots, std::size_t producers, std::size_t consumers)
      : ring_(queue::Ring<P>::make(
                  {.kind = kKind, .slots = slots, .reliable = kGated, .wakeable = kWakeable})
                  .value()) {
    for (std::size_t i = 0; i < producers; ++i) {
      if constexpr (kKind == queue::RingKind::single_producer) {
        producers_.push_back(std::make_unique<Producer>(ring_.single_producer().value()));
      } else {
        producers_.push_back(std::make_unique<Producer>(ring_.shared_producer().value()));
      }
    }
    for (std::size_t i = 0; i < consumers; ++i) {
      consumers_.push_back(
          std::make_unique<Consumer>(ring_.consumer({.reliable = kGated}).value()));
    }
  }
  bool push(std::size_t producer, const P& value) {
    return producers_[producer]->end.try_push(value) == queue::Push::ok;
  }
  bool pop(std::size_t consumer, P& to) {
    return consumers_[consumer]->end.try_pop(to) == queue::Pull::ok;
  }

 private:
  template <class End>
  struct alignas(128) Apart {
    explicit Apart(End made) : end(std::move(made)) {}
    End end;
  };
  using Producer = Apart<std::conditional_t<kKind == queue::RingKind::single_producer,
                                            queue::SingleProducer<P>, queue::SharedProducer<P>>>;
  using Consumer = Apart<queue::BroadcastConsumer<P>>;

  queue::Ring<P> ring_;
  std::vector<std::unique_ptr<Producer>> producers_;
  std::vector<std::unique_ptr<Consumer>> consumers_;
};

template <class P>
using LeatSingle = LeatRing<P, queue::RingKind::single_producer, true>;
template <class P>
using LeatMany = LeatRing<P, queue::RingKind::many_producers, true>;
template <class P>
using LeatSingleLossy = LeatRing<P, queue::RingKind::single_producer, false>;
template <class P>
using LeatManyLossy = LeatRing<P, queue::RingKind::many_producers, false>;
template <class P>
using LeatSingleWakeable = LeatRing<P, queue::RingKind::single_producer, true, true>;

/// A ring of its own for each consumer.
template <class P, template <class> class Queue>
class PrivateRings {
 public:
  PrivateRings(std::size_t slots, std::size_t, std::size_t consumers) {
    for (std::size_t i = 0; i < consumers; ++i)
      queues_.push_back(std::make_unique<Queue<P>>(slots));
  }
  bool push(std::size_t, const P& value) {
    for (const auto& each : queues_) {
      Backoff backoff;
      while (!each->push(value)) backoff.wait();
    }
    return true;
  }
  bool pop(std::size_t consumer, P& to) { return queues_[consumer]->pop(to); }

 private:
  std::vector<std::unique_ptr<Queue<P>>> queues_;
};

template <class P>
using PrivatePlain = PrivateRings<P, PlainRing>;
template <class P>
using PrivateBoost = PrivateRings<P, BoostSpsc>;
template <class P>
using PrivateLeat = PrivateRings<P, LeatSpsc>;
#if defined(LEAT_BENCH_READERWRITER)
template <class P>
using PrivateReaderWriter = PrivateRings<P, ReaderWriter>;
#endif

/// How a Flux consumer finds the version that it awaits.
enum class Epoch {
  header_division,  // before its PR 180: the mask from the producers' line, and a division
  header_shift,
  cached_division,
  cached_shift,  // after
};

/// The protocol of Flux's queue, step by step as its sources have it: versions that grow by two per lap,
/// a locked increment of the version before the copy, a cursor that each consumer increments with a
/// lock per message; flavour, length, a flag for parking and the producers' count in one line of the
/// header; producers that look at the flavour each time, and whether they have produced before;
/// consumers that look whether they have subscribed, and copy into a buffer of their own, which they
/// show to whoever consumes.
template <class P, bool kManyProducers, Epoch kEpoch>
class FluxRing {
 public:
  FluxRing(std::size_t slots, std::size_t producers, std::size_t consumers)
      : header_(new Header), slots_(new Slot[slots]) {
    header_->flavour = kManyProducers ? Flavour::many : Flavour::single;
    header_->mask = slots - 1;
    for (std::size_t i = 0; i < producers; ++i) producers_.push_back(std::make_unique<Producer>());
    for (std::size_t i = 0; i < consumers; ++i) {
      cursors_.push_back(std::make_unique<Cursor>());
      consumers_.push_back(std::make_unique<Consumer>());
      Consumer& consumer = *consumers_.back();
      consumer.mask = slots - 1;
      consumer.shift = static_cast<unsigned>(std::bit_width(slots) - 1);
      consumer.cursor = cursors_.back().get();
      consumer.slots = slots_.get();
      consumer.is_running = true;
    }
  }

  bool push(std::size_t producer, const P& value) {
    Producer& me = *producers_[producer];
    // The harness's, for Flux never waits: a producer may overshoot by the others' messages, so that
    // room for them is left.
    const std::uint64_t behind = kManyProducers ? 8 : 0;
    const std::uint64_t front = header_->count.load(std::memory_order_relaxed) + behind;
    if (front >= limit_.load(std::memory_order_relaxed) && !renew(front)) return false;
    if (!me.has_produced) me.has_produced = true;  // it would look for a slot left half-written
    std::uint64_t n = 0;
    if (header_->flavour == Flavour::many) {
      n = header_->count.fetch_add(1, std::memory_order_acq_rel);
    } else {
      n = header_->count.load(std::memory_order_relaxed);
      header_->count.store(n + 1, std::memory_order_relaxed);
    }
    Slot& slot = slots_[n & header_->mask];
    const std::uint64_t version = slot.version.fetch_add(1, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_acq_rel);
    slot.value = value;
    std::atomic_signal_fence(std::memory_order_acq_rel);
    slot.version.store(version + 2, std::memory_order_release);
    if (header_->signals.load(std::memory_order_relaxed)) ++me.signals;
    return true;
  }

  bool pop(std::size_t consumer, P& to) {
    P buffer;
    if (!try_consume(*consumers_[consumer], buffer)) return false;
    to = buffer;
    return true;
  }

 private:
  enum class Flavour : std::uint8_t { unknown, many, single };
  struct alignas(64) Header {
    Flavour flavour = Flavour::unknown;
    bool is_initialised = true;
    std::atomic<bool> group_lock{false};
    std::atomic<bool> signals{false};
    std::uint64_t element_bytes = sizeof(P);
    std::uint64_t mask = 0;
    std::atomic<std::uint64_t> count{0};
  };
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> version{0};
    P value{};
  };
  struct alignas(64) Cursor {
    std::atomic<std::uint64_t> next{1};
  };
  struct alignas(128) Producer {
    bool has_produced = false;
    std::uint64_t signals = 0;
  };
  struct alignas(128) Consumer {
    std::uint64_t position = 0;
    std::uint64_t mask = 0;
    std::uint64_t expected = 2;
    unsigned shift = 0;
    bool is_running = false;
    Cursor* cursor = nullptr;
    Slot* slots = nullptr;
  };

  bool try_consume(Consumer& me, P& buffer) {
    if (!me.is_running) return false;  // it would subscribe
    Slot& slot = me.slots[me.position];
    const std::uint64_t before = slot.version.load(std::memory_order_acquire);
    if (before < me.expected) return false;
    std::atomic_signal_fence(std::memory_order_acq_rel);
    buffer = slot.value;
    std::atomic_signal_fence(std::memory_order_acq_rel);
    if (slot.version.load(std::memory_order_acquire) != me.expected) return false;
    const std::uint64_t next = me.cursor->next.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t mask =
        kEpoch == Epoch::cached_shift || kEpoch == Epoch::cached_division ? me.mask : header_->mask;
    me.position = next & mask;
    me.expected = kEpoch == Epoch::cached_shift || kEpoch == Epoch::header_shift
                      ? 2 * (next >> me.shift) + 2
                      : 2 * (next / (mask + 1)) + 2;
    return true;
  }

  bool renew(std::uint64_t n) {
    std::uint64_t least = ~std::uint64_t{0};
    for (const auto& each : cursors_) {
      least = std::min(least, each->next.load(std::memory_order_acquire) - 1);
    }
    limit_.store(least + header_->mask + 1, std::memory_order_relaxed);
    return n < least + header_->mask + 1;
  }

  std::unique_ptr<Header> header_;
  std::unique_ptr<Slot[]> slots_;
  std::vector<std::unique_ptr<Producer>> producers_;
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<std::unique_ptr<Consumer>> consumers_;
  alignas(128) std::atomic<std::uint64_t> limit_{0};
};

template <class P>
using FluxSingle = FluxRing<P, false, Epoch::cached_shift>;
template <class P>
using FluxMany = FluxRing<P, true, Epoch::cached_shift>;

/// Any queue of several producers and one consumer as a ring of one consumer.
template <class P, template <class> class Queue>
class OneConsumer {
 public:
  OneConsumer(std::size_t slots, std::size_t, std::size_t) : queue_(slots) {}
  bool push(std::size_t, const P& value) { return queue_.push(value); }
  bool pop(std::size_t, P& to) { return queue_.pop(to); }

 private:
  Queue<P> queue_;
};

}  // namespace leat::bench
