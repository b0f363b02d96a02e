// What      The messages that wait on an edge within a worker, oldest first. Both ends exchange
//           messages with its places: a batch that was emptied goes back the way it came, and a steady
//           stream allocates nothing.
// Shape     A power of two of places, used round and round, and from the first again whenever nothing
//           waits.
// Limits    Of a burst, only the last batches' memory is kept: one that comes back while more than
//           kKept messages wait is let go.
// Cost      push, pull: a compare, and an exchange of a message.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/dataflow/message.hpp>

namespace leat::dataflow {

template <class T, Container C>
class MessageRing {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }

  /// Takes the batch and leaves an empty one, which may own memory to fill again.
  void push(Message<T, C>& message) {
    if (tail_ - head_ == capacity_) grow();
    Message<T, C>& place = places_[tail_ & (capacity_ - 1)];
    place.stamp = message.stamp;
    std::swap(place.batch, message.batch);
    ++tail_;
  }

  /// Exchanges the oldest for `message`, whose batch is empty.
  ///
  /// Returns: false, with nothing changed, if none waits.
  bool pull(Message<T, C>& message) {
    if (empty()) return false;
    Message<T, C>& place = places_[head_ & (capacity_ - 1)];
    message.stamp = std::move(place.stamp);
    std::swap(place.batch, message.batch);
    if (tail_ - head_ > kKept) place.batch = C{};
    if (++head_ == tail_) head_ = tail_ = 0;
    return true;
  }

  /// The oldest; leaves `spare`, an empty batch, in its place. Requires: some waits.
  [[nodiscard]] Message<T, C> take(C& spare) {
    LEAT_DCHECK(!empty(), "no message waits");
    Message<T, C>& place = places_[head_ & (capacity_ - 1)];
    Message<T, C> oldest{std::move(place.stamp), std::move(place.batch)};
    if (tail_ - head_ > kKept) [[unlikely]]
      spare = C{};
    std::swap(place.batch, spare);
    if (++head_ == tail_) head_ = tail_ = 0;
    return oldest;
  }

  /// Gives back the memory of places where nothing waits.
  void release_spares() {
    if (empty()) {
      places_.reset();
      capacity_ = head_ = tail_ = 0;
      return;
    }
    for (std::uint32_t free = tail_; free != head_ + capacity_; ++free) {
      places_[free & (capacity_ - 1)].batch = C{};
    }
  }

 private:
  static constexpr std::uint32_t kKept = 2;

  [[gnu::noinline]] void grow() {
    LEAT_CHECK(capacity_ <= UINT32_MAX / 2, "too many messages wait on one edge");
    const std::uint32_t capacity = capacity_ == 0 ? 1 : capacity_ * 2;
    auto places = std::make_unique<Message<T, C>[]>(capacity);
    const std::uint32_t count = tail_ - head_;
    for (std::uint32_t i = 0; i < count; ++i) {
      places[i] = std::move(places_[(head_ + i) & (capacity_ - 1)]);
    }
    places_ = std::move(places);
    capacity_ = capacity;
    head_ = 0;
    tail_ = count;
  }

  std::unique_ptr<Message<T, C>[]> places_;
  std::uint32_t capacity_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
};

}  // namespace leat::dataflow
