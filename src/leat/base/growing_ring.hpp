// What      A first-in first-out queue of one thread that grows when it must and allocates nothing
//           when it need not: what carries batches between operators of one worker.
// Shape     A power of two of places, used round and round; both counts run on without wrapping in
//           practice.
// Cost      push and pop: a few instructions. `std::deque` frees and allocates a block every few
//           entries of a steady stream; this keeps its places.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include <leat/base/check.hpp>

namespace leat {

template <class T>
class GrowingRing {
 public:
  GrowingRing() = default;
  GrowingRing(const GrowingRing&) = delete;
  GrowingRing& operator=(const GrowingRing&) = delete;
  ~GrowingRing() {
    clear();
    release();
  }

  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }

  void push_back(T&& value) {
    if (size() == capacity_) grow();
    std::construct_at(places_ + (tail_ & (capacity_ - 1)), std::move(value));
    ++tail_;
  }

  /// The oldest entry. Requires: not empty.
  [[nodiscard]] T& front() noexcept {
    LEAT_DCHECK(!empty(), "front of an empty ring");
    return places_[head_ & (capacity_ - 1)];
  }

  /// Takes the oldest entry out. Requires: not empty.
  T pop_front() {
    T value = std::move(front());
    std::destroy_at(&front());
    ++head_;
    return value;
  }

  /// Destroys the oldest entry. Requires: not empty.
  void drop_front() noexcept {
    std::destroy_at(&front());
    ++head_;
  }

  /// Gives the places back if nothing is in them.
  void shrink() noexcept {
    if (!empty()) return;
    release();
    places_ = nullptr;
    capacity_ = 0;
  }

  void clear() noexcept {
    for (; head_ != tail_; ++head_) std::destroy_at(places_ + (head_ & (capacity_ - 1)));
  }

 private:
  void grow() {
    const std::size_t capacity = capacity_ == 0 ? 4 : capacity_ * 2;
    T* const places = std::allocator<T>().allocate(capacity);
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) {
      T& old = places_[(head_ + i) & (capacity_ - 1)];
      std::construct_at(places + i, std::move(old));
      std::destroy_at(&old);
    }
    release();
    places_ = places;
    capacity_ = capacity;
    head_ = 0;
    tail_ = count;
  }

  void release() noexcept {
    if (places_ != nullptr) std::allocator<T>().deallocate(places_, capacity_);
  }

  T* places_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace leat
