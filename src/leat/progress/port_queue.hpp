// What      Ports that wait to be settled, taken in a fixed order: a bit for each place in the order.
// Shape     order: place -> port      places: port -> place      (neither if each port is at its own)
//           bits: one per place, and over each 64 of those one that says whether any is set
//           one: a port that waits alone, which is in no word; mostly that is all
// Cost      add and take: a few instructions; take looks at one word more per 4096 places that are
//           empty. At most nine bytes per port.
// Source    Ours.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/progress/location.hpp>

namespace leat::progress {

class PortQueue {
 public:
  PortQueue() = default;
  /// Requires: `order` names each port once.
  explicit PortQueue(std::vector<PortIndex> order)
      : bits_((order.size() + 63) / 64), words_((bits_.size() + 63) / 64) {
    if (std::is_sorted(order.begin(), order.end())) return;  // as in most graphs
    order_ = std::move(order);
    places_.resize(order_.size());
    for (std::uint32_t place = 0; place < order_.size(); ++place) places_[order_[place]] = place;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Adds a port, unless it waits already.
  void add(PortIndex port) noexcept {
    if (size_ == 0) {
      one_ = port;
      size_ = 1;
    } else {
      add_to_others(port);
    }
  }

  /// Takes the next at or after the place of the last one taken; from the beginning if there is
  /// none. Requires: not empty.
  PortIndex take() noexcept {
    LEAT_DCHECK(!empty(), "no port waits");
    if (one_ == kNone) return take_of_many();
    size_ = 0;
    return std::exchange(one_, kNone);
  }

 private:
  static constexpr PortIndex kNone = UINT32_MAX;

  [[gnu::noinline]] void add_to_others(PortIndex port) noexcept {
    if (one_ == port) return;
    if (one_ != kNone) {
      size_ = 0;
      set(std::exchange(one_, kNone));
    }
    set(port);
  }

  void set(PortIndex port) noexcept {
    const std::uint32_t place = places_.empty() ? port : places_[port];
    std::uint64_t& bits = bits_[place / 64];
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if ((bits & bit) != 0) return;
    bits |= bit;
    words_[place / 4096] |= std::uint64_t{1} << (place / 64 % 64);
    ++size_;
  }

  [[gnu::noinline]] PortIndex take_of_many() noexcept {
    std::size_t word = at_ / 64;
    std::uint64_t bits = bits_[word] & (~std::uint64_t{0} << (at_ % 64));
    if (bits == 0) {
      word = next_word(word + 1);
      bits = bits_[word];
    }
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
    bits_[word] &= ~(std::uint64_t{1} << bit);
    if (bits_[word] == 0) words_[word / 64] &= ~(std::uint64_t{1} << (word % 64));
    at_ = --size_ == 0 ? 0 : static_cast<std::uint32_t>(word * 64 + bit);
    const auto place = static_cast<PortIndex>(word * 64 + bit);
    return order_.empty() ? place : order_[place];
  }

  // The first word from `word` on that has a bit, around the end. Some word has.
  [[nodiscard]] std::size_t next_word(std::size_t word) const noexcept {
    std::size_t block = word / 64;
    std::uint64_t words =
        block < words_.size() ? words_[block] & (~std::uint64_t{0} << (word % 64)) : 0;
    while (words == 0) {
      block = block + 1 < words_.size() ? block + 1 : 0;
      words = words_[block];
    }
    return block * 64 + static_cast<std::size_t>(std::countr_zero(words));
  }

  PortIndex one_ = kNone;
  std::size_t size_ = 0;
  std::uint32_t at_ = 0;  // where the next look begins
  std::vector<PortIndex> order_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> words_;
};

}  // namespace leat::progress
