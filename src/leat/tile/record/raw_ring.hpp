// What      RawConsumer, RawProducer: the ends of a ring for who knows no type of its messages: tools that
//           record any ring, and play back into it.
// Protocol  As consumer.hpp and producer.hpp of queue/ring, for a payload of as many bytes as the shape
//           says.
// Limits    A consumer takes a seat only if it is to gate producers, or can be seen. A producer into a
//           reliable ring answers `full`, as any.
#pragma once

#include <leat/queue/ring/ring.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::tile {

/// Threads: one at a time.
class RawConsumer {
 public:
  /// Without a seat: nobody sees it, and nobody waits for it.
  RawConsumer(std::shared_ptr<queue::RingCore> ring, queue::StartAt start)
      : ring_(std::move(ring)), payload_(ring_->shape().payload_bytes) {
    next_ = ring_->resolve(start);
  }
  /// With one. Errors: as Ring::consumer.
  [[nodiscard]] static Result<RawConsumer> seated(std::shared_ptr<queue::RingCore> ring,
                                                  std::string_view label, queue::StartAt start,
                                                  bool reliable) {
    auto seat = ring->sit(queue::SeatRole::broadcast, label, start, reliable);
    if (!seat) return seat.error();
    RawConsumer consumer(ring, start);
    consumer.next_ = seat->cursor;
    consumer.sitting_.emplace(std::move(ring), *seat);
    return consumer;
  }

  /// Takes the next message into `payload()`. `lost`: see `lost()`. Ordering: as BroadcastConsumer.
  [[nodiscard]] queue::Pull try_pop() {
    for (;;) {
      const queue::RingStamp& stamp = ring_->stamp(next_);
      const std::uint64_t published = queue::stamp::published(next_);
      const std::uint64_t seen = stamp.look();
      if (seen < published) {
        return seen == queue::stamp::busy(next_) ? queue::Pull::in_flight : queue::Pull::empty;
      }
      if (seen == published) {
        const auto* const words = reinterpret_cast<const SharedWord*>(
            reinterpret_cast<const std::byte*>(&stamp) + sizeof stamp);
        read_words(words, payload_.data(), payload_.size(),
                   queue::RingSlot<std::uint64_t>::overwrite{});
        if (stamp.look_again() == published) {
          move_to(next_ + 1);
          return queue::Pull::ok;
        }
      } else if (seen == queue::stamp::tombstone(next_)) {
        move_to(next_ + 1);
        continue;
      }
      const std::uint64_t frontier = ring_->frontier();
      const std::uint64_t room = ring_->shape().slots / 8;
      const std::uint64_t to =
          std::max(next_ + 1, std::min(frontier, ring_->oldest(frontier) + room));
      lost_ = to - next_;
      move_to(to);
      return queue::Pull::lost;
    }
  }

  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }

 private:
  void move_to(std::uint64_t next) noexcept {
    next_ = next;
    if (!sitting_) return;
    sitting_->seat().cursor.set(next);
    ring_->tell_producers();
  }

  std::shared_ptr<queue::RingCore> ring_;
  std::optional<queue::internal::Sitting> sitting_;
  std::vector<std::byte> payload_;
  std::uint64_t next_ = 0;
  std::uint64_t lost_ = 0;
};

/// Threads: one at a time.
class RawProducer {
 public:
  /// Errors: as Ring::single_producer and Ring::shared_producer.
  [[nodiscard]] static Result<RawProducer> sit(std::shared_ptr<queue::RingCore> ring,
                                               std::string_view label) {
    auto seat = ring->sit(queue::SeatRole::producer, label, {}, false);
    if (!seat) return seat.error();
    RawProducer producer(std::move(ring));
    producer.sitting_.emplace(producer.ring_, *seat);
    return producer;
  }

  /// Requires: `payload` has the size that the ring's shape says; checked.
  [[nodiscard]] queue::Push try_push(std::span<const std::byte> payload) noexcept {
    LEAT_CHECK(payload.size() == ring_->shape().payload_bytes,
               "a message of another size for a ring");
    std::uint64_t n = std::max(next_, ring_->words().head.get());
    for (;;) {
      if (n >= limit_) {
        limit_ =
            ring_->shape().reliable ? ring_->limit(n) : std::numeric_limits<std::uint64_t>::max();
        if (n >= limit_) return queue::Push::full;
      }
      queue::RingStamp& stamp = ring_->stamp(n);
      if (ring_->shape().kind == queue::RingKind::single_producer) {
        stamp.begin(n);
        break;
      }
      std::uint64_t found = stamp.look();
      if (found >= queue::stamp::busy(n)) {
        n = queue::stamp::sequence(found) + 1;
        continue;
      }
      if (queue::stamp::is_busy(found)) {
        if (ring_->shape().reliable) return queue::Push::full;
        ++n;
        continue;
      }
      sitting_->seat().cursor.note_relaxed(n);  // the claim releases it
      if (stamp.claim(found, n)) break;
    }
    queue::RingStamp& stamp = ring_->stamp(n);
    auto* const words =
        reinterpret_cast<SharedWord*>(reinterpret_cast<std::byte*>(&stamp) + sizeof stamp);
    write_words(words, payload.data(), payload.size(), queue::RingSlot<std::uint64_t>::overwrite{});
    next_ = n + 1;
    if (ring_->shape().wakeable) {
      stamp.publish_loudly(n);
      ring_->words().bell.ring();
    } else {
      stamp.publish(n);
    }
    if (ring_->words().head.guess() < next_) ring_->words().head.set(next_);
    return queue::Push::ok;
  }

 private:
  explicit RawProducer(std::shared_ptr<queue::RingCore> ring) : ring_(std::move(ring)) {
    next_ = ring_->frontier();
    limit_ = ring_->shape().reliable ? next_ : std::numeric_limits<std::uint64_t>::max();
  }

  std::shared_ptr<queue::RingCore> ring_;
  std::optional<queue::internal::Sitting> sitting_;
  std::uint64_t next_ = 0;
  std::uint64_t limit_ = 0;
};

}  // namespace leat::tile
