// What      The frontier changes that a tracker still has to settle, least (time, port) first;
//           equal ones are put together.
// Shape     A few entries in a sorted array, its least at the end; what exceeds it in a heap. A
//           round of progress has two or three entries at once, and each new one belongs at or near
//           the end.
// Cost      Few entries: a compare and a move each way. Many: the logarithm, as any heap.
// Source    Ours.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/progress/location.hpp>

namespace leat::progress {

template <class T>
class Worklist {
 public:
  struct Item {
    T time{};
    PortIndex port = 0;
    std::int64_t delta = 0;
  };

  [[nodiscard]] bool empty() const noexcept { return near_size_ == 0 && heap_.empty(); }

  /// Adds `delta` to what is to be settled at (`time`, `port`).
  void add(const T& time, PortIndex port, std::int64_t delta) {
    std::size_t at = near_size_;
    while (at > 0 && before(near_[at - 1], time, port)) --at;
    if (at > 0 && near_[at - 1].port == port && near_[at - 1].time == time) {
      near_[at - 1].delta += delta;
      return;
    }
    if (near_size_ == kNear) {
      heap_.push_back({time, port, delta});
      std::push_heap(heap_.begin(), heap_.end(), later);
      return;
    }
    for (std::size_t i = near_size_; i > at; --i) near_[i] = std::move(near_[i - 1]);
    near_[at] = {time, port, delta};
    ++near_size_;
  }

  /// Takes the least. Requires: not empty.
  Item take() {
    Item item = take_one();
    while (!empty() && peek().port == item.port && peek().time == item.time)
      item.delta += take_one().delta;
    return item;
  }

 private:
  static constexpr std::size_t kNear = 16;

  // Whether `item` comes before (time, port).
  static bool before(const Item& item, const T& time, PortIndex port) {
    if (item.time == time) return item.port < port;
    return item.time < time;
  }
  // `std::push_heap` keeps the largest in front; ours is the least.
  static bool later(const Item& a, const Item& b) { return before(b, a.time, a.port); }

  [[nodiscard]] bool near_is_least() const {
    if (heap_.empty()) [[likely]]
      return true;
    return near_size_ != 0 && !later(near_[near_size_ - 1], heap_.front());
  }
  [[nodiscard]] const Item& peek() const {
    return near_is_least() ? near_[near_size_ - 1] : heap_.front();
  }
  Item take_one() {
    if (near_is_least()) {
      LEAT_DCHECK(near_size_ > 0, "nothing to settle");
      return std::move(near_[--near_size_]);
    }
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Item item = std::move(heap_.back());
    heap_.pop_back();
    return item;
  }

  std::array<Item, kNear> near_{};  // descending: the least is the last
  std::size_t near_size_ = 0;
  std::vector<Item> heap_;
};

}  // namespace leat::progress
