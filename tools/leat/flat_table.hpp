// What      A hash table from pairs of 32-bit numbers to a small value: which (candidate, node) has
//           been seen, and how many alternatives of a (candidate, clause) are gone. Millions of
//           entries that are only ever added.
// Shape     One flat array of slots, a power of two; a key is looked for from its hash onwards. A
//           slot is free while its key is kFree, which is no pair of ids.
// Limits    Nothing is erased. References hold until the next insertion.
// Cost      8 bytes and the value per slot, at most three quarters of the slots used; about one
//           cache line per access.
// Source    Open addressing with linear probing; ours is as plain as it gets.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace leat::tool {

template <class Value>
class FlatTable {
 public:
  /// The value of (high, low), made as `Value{}` if it is new; and whether it is new.
  ///
  /// Requires: `high` and `low` are not both the largest number.
  std::pair<Value&, bool> find_or_insert(std::uint32_t high, std::uint32_t low) {
    if (used_ + 1 > slots_.size() / 4 * 3) grow();
    const std::uint64_t key = (std::uint64_t{high} << 32U) | low;
    LEAT_DCHECK(key != kFree, "the one key that stands for a free slot");
    Slot& slot = slots_[place_of(key)];
    const bool is_new = slot.key == kFree;
    if (is_new) {
      slot.key = key;
      ++used_;
    }
    return {slot.value, is_new};
  }

  [[nodiscard]] bool contains(std::uint32_t high, std::uint32_t low) const {
    if (slots_.empty()) return false;
    const std::uint64_t key = (std::uint64_t{high} << 32U) | low;
    return slots_[place_of(key)].key == key;
  }

  [[nodiscard]] std::size_t size() const noexcept { return used_; }

 private:
  static constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();

  struct Slot {
    std::uint64_t key = kFree;
    [[no_unique_address]] Value value{};
  };

  /// Where the key is, or the free slot where it would be.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mix64(key) & mask;
    while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? 64 : slots_.size() * 2);
    before.swap(slots_);
    for (Slot& slot : before) {
      if (slot.key != kFree) slots_[place_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// The value of a table that is only a set.
struct Nothing {};

}  // namespace leat::tool
