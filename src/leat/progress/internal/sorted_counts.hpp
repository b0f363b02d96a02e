// What      SortedCounts<T>: times with their counts in ascending order, one of them in place. The
//           storage under MutableAntichain, of which each port of a dataflow has one or two.
// Shape     size, capacity, zeros, mark | an entry in place, or the address of more
//           (32 bytes for a 64-bit time)
// Invariants
//   (1) Entries are distinct and ascending; `zeros` of them have count 0, and never the last.
//   (2) `mark` is the owner's index of an entry, or kNone; it follows that entry when others move.
// Protocol  Change a count with `add` (or in place, through `data`), then call `settle` if it
//           became 0. In between the entry is still there, so its time can be reported.
// Limits    Of more than two entries, one whose count became 0 stays until room is needed or such
//           are the majority: removing is a store, and a new time may take the place of an old
//           neighbour. Memory that was allocated is kept until `clear`.
// Cost      `append` is a store. `add` finds the last entry and the marked one by a compare each,
//           others by binary search, and moves the entries behind a new one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <leat/base/check.hpp>

namespace leat::progress::internal {

template <class T>
class SortedCounts {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "a timestamp must be movable without exceptions");

 public:
  struct Entry {
    T time;
    std::int64_t count;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  SortedCounts() noexcept {}
  SortedCounts(const SortedCounts& other) {
    reserve_empty(other.size_);
    std::uninitialized_copy_n(other.data(), other.size_, data());
    take_numbers(other);
  }
  SortedCounts(SortedCounts&& other) noexcept { steal(other); }
  SortedCounts& operator=(const SortedCounts& other) {
    if (this != &other) *this = SortedCounts(other);
    return *this;
  }
  SortedCounts& operator=(SortedCounts&& other) noexcept {
    if (this != &other) {
      clear();
      steal(other);
    }
    return *this;
  }
  ~SortedCounts() { clear(); }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t nonzero() const noexcept { return size_ - zeros_; }
  [[nodiscard]] std::uint32_t mark() const noexcept { return mark_; }
  void set_mark(std::uint32_t index) noexcept { mark_ = index; }

  [[nodiscard]] Entry* data() noexcept { return in_place() ? place_.entries : place_.heap; }
  [[nodiscard]] const Entry* data() const noexcept {
    return in_place() ? place_.entries : place_.heap;
  }
  [[nodiscard]] const Entry& operator[](std::uint32_t index) const noexcept {
    return data()[index];
  }

  /// The index of `time`, or kNone.
  [[nodiscard]] std::uint32_t find(const T& time) const {
    const std::uint32_t index = lower_bound(time);
    return index < size_ && data()[index].time == time ? index : kNone;
  }

  /// Makes an entry behind all others and returns its index.
  ///
  /// Requires: `time` is greater than every entry's, and `count` is not 0.
  std::uint32_t append(const T& time, std::int64_t count) {
    if (size_ == capacity_) make_room();
    std::construct_at(data() + size_, Entry{time, count});
    return size_++;
  }

  struct Added {
    std::uint32_t index;
    std::int64_t before;
    std::int64_t now;
  };

  /// Adds `diff`, which is not 0, to the count of `time`.
  Added add(const T& time, std::int64_t diff) {
    const std::uint32_t index = slot(time);
    std::int64_t& count = data()[index].count;
    const std::int64_t before = count;
    if (before == 0) --zeros_;
    count = sum(before, diff);
    return {index, before, count};
  }

  /// To be called when the count at `index` has become 0.
  ///
  /// Requires: `index` is not the mark.
  void settle(std::uint32_t index) noexcept {
    Entry* const entries = data();
    if (index + 1 == size_) {
      std::destroy_at(entries + --size_);
      for (; size_ > 0 && entries[size_ - 1].count == 0; --zeros_) {
        std::destroy_at(entries + --size_);
      }
    } else if (size_ == 2) {
      entries[0] = std::move(entries[1]);
      std::destroy_at(entries + 1);
      size_ = 1;
      if (mark_ == 1) mark_ = 0;
    } else {
      ++zeros_;
      if (zeros_ > kTidyAbove && zeros_ > size_ / 2) drop_zeros();
    }
  }

  /// `count + diff`; that it fits is checked in debug builds.
  [[nodiscard]] static std::int64_t sum(std::int64_t count, std::int64_t diff) {
    std::int64_t result = 0;
    [[maybe_unused]] const bool wraps = __builtin_add_overflow(count, diff, &result);
    LEAT_DCHECK(!wraps, "a count at a time overflows 64 bits");
    return result;
  }

  /// Forgets everything and gives the memory back.
  void clear() noexcept {
    std::destroy_n(data(), size_);
    if (!in_place()) std::allocator<Entry>{}.deallocate(place_.heap, capacity_);
    size_ = 0;
    capacity_ = kInPlace;
    zeros_ = 0;
    mark_ = kNone;
  }

 private:
  static constexpr std::uint32_t kInPlace = 1;
  static constexpr std::uint32_t kTidyAbove = 8;

  [[nodiscard]] bool in_place() const noexcept { return capacity_ == kInPlace; }

  /// The first entry that is not before `time`. Looks at the end and at the mark first.
  [[nodiscard]] std::uint32_t lower_bound(const T& time) const {
    if (size_ == 0) return 0;
    const Entry* const entries = data();
    const std::uint32_t last = size_ - 1;
    if (!(time < entries[last].time)) return entries[last].time == time ? last : size_;
    if (mark_ < last && entries[mark_].time == time) return mark_;
    const Entry* const found =
        std::lower_bound(entries, entries + last, time,
                         [](const Entry& entry, const T& wanted) { return entry.time < wanted; });
    return static_cast<std::uint32_t>(found - entries);
  }

  /// The index of `time`, whose entry is made with count 0 if there is none.
  std::uint32_t slot(const T& time) {
    std::uint32_t index = lower_bound(time);
    Entry* entries = data();
    if (index < size_) {
      if (entries[index].time == time) return index;
      if (entries[index].count == 0) return reuse(index, time);
    }
    if (index > 0 && entries[index - 1].count == 0) return reuse(index - 1, time);
    if (size_ == capacity_) {
      make_room();
      index = lower_bound(time);
      entries = data();
    }
    if (index == size_) {
      std::construct_at(entries + index, Entry{time, 0});
    } else {
      std::construct_at(entries + size_, std::move(entries[size_ - 1]));
      std::move_backward(entries + index, entries + size_ - 1, entries + size_);
      entries[index] = Entry{time, 0};
      if (mark_ != kNone && mark_ >= index) ++mark_;
    }
    ++size_;
    ++zeros_;
    return index;
  }

  /// Gives the entry of a neighbour that is 0 to `time`; the order stays.
  std::uint32_t reuse(std::uint32_t index, const T& time) {
    data()[index].time = time;
    return index;
  }

  /// At least half of the room is free afterwards, or half of it more: the next time is far.
  [[gnu::noinline]] void make_room() {
    if (zeros_ != 0 && zeros_ * 2 >= size_) {
      drop_zeros();
    } else {
      grow();
    }
  }

  [[gnu::noinline]] void drop_zeros() noexcept {
    Entry* const entries = data();
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
      if (entries[i].count == 0) continue;
      if (mark_ == i) mark_ = kept;
      if (kept != i) entries[kept] = std::move(entries[i]);
      ++kept;
    }
    std::destroy(entries + kept, entries + size_);
    size_ = kept;
    zeros_ = 0;
  }

  void grow() {
    LEAT_CHECK(capacity_ < kNone / 2, "too many outstanding times at one port");
    const std::uint32_t capacity = capacity_ * 2;
    Entry* const entries = std::allocator<Entry>{}.allocate(capacity);
    std::uninitialized_move_n(data(), size_, entries);
    std::destroy_n(data(), size_);
    if (!in_place()) std::allocator<Entry>{}.deallocate(place_.heap, capacity_);
    place_.heap = entries;
    capacity_ = capacity;
  }

  void reserve_empty(std::uint32_t wanted) {
    if (wanted <= kInPlace) return;
    place_.heap = std::allocator<Entry>{}.allocate(wanted);
    capacity_ = wanted;
  }
  void take_numbers(const SortedCounts& other) noexcept {
    size_ = other.size_;
    zeros_ = other.zeros_;
    mark_ = other.mark_;
  }
  /// Requires: this is empty and in place.
  void steal(SortedCounts& other) noexcept {
    take_numbers(other);
    if (other.in_place()) {
      std::uninitialized_move_n(other.place_.entries, other.size_, place_.entries);
    } else {
      place_.heap = other.place_.heap;
      capacity_ = std::exchange(other.capacity_, kInPlace);
      other.size_ = 0;  // its entries are ours now
    }
    other.clear();
  }

  union Place {
    Place() noexcept : heap(nullptr) {}
    ~Place() {}
    Entry entries[kInPlace];
    Entry* heap;
  };

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInPlace;
  std::uint32_t zeros_ = 0;
  std::uint32_t mark_ = kNone;
  Place place_;
};

}  // namespace leat::progress::internal
