// What      The bytes of a data cache and who may touch which: a ring of memory out of which writers
//           reserve, and from which readers copy, or which they read in place.
// Shape     | words | hold | hold | ... | bytes, `capacity` of them, a power of two |
//           Positions are absolute: position p lies at byte p % capacity. A reservation is a multiple
//           of 64 bytes and never crosses the end of the memory: what is left of it is skipped.
//               ... | skipped |  A  |   B   |  C  |          reserved --^ behind C
//           A hold is a range of bytes that somebody is at, and who: a writer that fills it, or a
//           reader that reads it in place.
// Protocol  Writer:  reserved <- behind its range; look at all holds: is one in there? leave the range
//                    to it, and reserve once more. Say the range in the own hold; reserved: at most
//                    `capacity` behind the beginning? write. Else somebody came a lap later in
//                    between: take the hold back, and reserve once more.
//           Copying: copy the words; reserved again, as above? the copy is whole.
//           Reading in place: say the range in the own hold; reserved, as above? the bytes stay as
//                    they are until the hold is taken back. Else take it back at once.
//           A sole writer laps nobody but itself: it says nothing, and looks only at readers.
// Invariants
//   (1) `reserved` grows. Whoever writes bytes has reserved them, and all who reserve them once more
//       come a lap later.
//   (2) No two holds that were granted overlap, but those of readers. So a writer that falls asleep
//       for a lap finds its bytes as it left them, and does not write over another's.
//   (3) Nobody waits for anybody. A reservation that is never used is skipped like any payload.
// Ordering  overwrite   writer -> reader: who copied a word of the next lap sees that it is reserved.
//           gate        who says a range and then looks at reserved, and who reserves and then looks
//                       at the ranges: all seq_cst, so that one of the two sees the other.
//           given_back  who had a range -> writer: it has been read, or written, before.
//           vacated     of a hold's owner, to the next one.
//           That a payload is written before it is read is the affair of whatever carries its
//           reference.
// Source    Firedancer's dcache, in Flux's form; ours are the check by positions, the bounds, and the
//           holds, which are hazard pointers (Michael 2004) over ranges.
#pragma once

#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/word_copy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace leat::queue::internal {

inline constexpr std::uint64_t kCacheGranule = 64;

[[nodiscard]] constexpr std::uint64_t to_granules(std::uint64_t bytes) noexcept {
  return (bytes + kCacheGranule - 1) / kCacheGranule * kCacheGranule;
}

struct CacheWords {
  alignas(kSector) Atomic<std::uint64_t> reserved{0};
  alignas(kSector) Atomic<std::uint64_t> holds_used{0};  // from the first one; grows
};

struct alignas(kSector) CacheHold {
  Atomic<std::uint64_t> owner{0};  // a participant
  Atomic<std::uint64_t> range{0};  // first granule << 32 | granules; 0: none
};
static_assert(std::is_standard_layout_v<CacheHold> && sizeof(CacheHold) == kSector);
static_assert(sizeof(CacheWords) == 2 * kSector);

class CacheSpace {
  struct overwrite : Edge {};   // writer -> reader: who copied newer words sees them reserved
  struct gate : Edge {};        // who says a range <-> who reserves: one sees the other
  struct given_back : Edge {};  // who had a range -> writer: read or written before
  struct vacated : Edge {};     // owner of a hold -> the next: nothing is left in it

 public:
  CacheSpace(CacheWords* words, std::span<CacheHold> holds, SharedWord* bytes,
             std::uint64_t capacity) noexcept
      : words_(words), holds_(holds), bytes_(bytes), capacity_(capacity) {}

  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint64_t reserved() const noexcept {
    return words_->reserved.load_relaxed();  // a hint, or checked by what follows it
  }

  /// Takes `size` bytes that nobody is at, for the owner of `hold`, until they are given back. Empty:
  /// somebody is at all there is.
  ///
  /// Requires: a multiple of 64, not 0, at most the capacity; `hold` holds nothing.
  std::optional<std::uint64_t> reserve(CacheHold& hold, std::uint64_t size, bool sole) noexcept {
    std::uint64_t gone = 0;
    std::uint64_t reserved = words_->reserved.load_relaxed();  // checked by the exchange
    while (gone <= capacity_ + size) {
      const std::uint64_t begin = fit(reserved, size);
      if (LEAT_MUTANT("cache_space.holds_first") && held(begin, size)) return std::nullopt;
      if (!words_->reserved.compare_exchange_weak_seq_cst(reserved, begin + size, gate{}, gate{})) {
        continue;
      }
      if (LEAT_MUTANT("cache_space.holds_first") || !held(begin, size)) {
        if (sole) note(hold, begin, size);
        if (sole || say(hold, begin, size) || LEAT_MUTANT("cache_space.writes_lapped")) {
          return begin;
        }
      }
      gone += begin + size - reserved;
      reserved = begin + size;
    }
    return std::nullopt;
  }

  /// The same where nobody else writes, and nobody reads in place.
  std::uint64_t reserve_alone(CacheHold& hold, std::uint64_t size) noexcept {
    const std::uint64_t begin = fit(words_->reserved.load_relaxed(), size);  // only we store it
    words_->reserved.store_relaxed(begin + size);  // before the words, by the edge overwrite
    note(hold, begin, size);
    return begin;
  }

  /// Whether a reservation is open. For its own writer.
  [[nodiscard]] static bool holds_any(const CacheHold& hold) noexcept {
    return hold.range.load_relaxed() != 0;  // only its owner stores it
  }

  /// Writes `from` into a reservation at `position`, from its byte `at` on.
  void write(std::uint64_t position, std::uint64_t at, std::span<const std::byte> from) noexcept {
    SharedWord* word = word_at(position) + at / kWordBytes;
    if (const std::size_t into = at % kWordBytes; into != 0 && !from.empty()) {
      const std::size_t part = from.size() < kWordBytes - into ? from.size() : kWordBytes - into;
      patch(word++, into, from.first(part));
      from = from.subspan(part);
    }
    write_words(word, from.data(), from.size(), overwrite{});
  }

  /// Copies a payload out. Returns: whether the copy is whole.
  [[nodiscard]] bool read(std::uint64_t position, std::span<std::byte> into) const noexcept {
    if (LEAT_MUTANT("cache_space.look_first") && !whole(position)) return false;
    read_words(word_at(position), into.data(), into.size(), overwrite{});
    return LEAT_MUTANT("cache_space.look_first") || whole(position);
  }

  /// A hold for `owner` among those from `first` on, `count` of them. Null: all are taken.
  [[nodiscard]] CacheHold* take_hold(std::uint64_t owner, std::size_t first,
                                     std::size_t count) noexcept {
    for (std::size_t i = first; i < first + count; ++i) {
      std::uint64_t nobody = 0;
      if (!holds_[i].owner.compare_exchange_strong_acquire(nobody, owner, vacated{})) continue;
      std::uint64_t used = words_->holds_used.load_relaxed();  // checked by the exchange
      while (used < i + 1 &&
             !words_->holds_used.compare_exchange_weak_seq_cst(used, i + 1, gate{}, gate{})) {
      }
      return &holds_[i];
    }
    return nullptr;
  }
  static void vacate(CacheHold& hold) noexcept {
    hold.range.store_release(0, given_back{});
    hold.owner.store_release(0, vacated{});
  }
  /// Takes back what `owner`, who is dead, holds. May be done again.
  void vacate_all_of(std::uint64_t owner) noexcept {
    for (CacheHold& hold : holds_) {
      if (hold.owner.load_acquire(vacated{}) == owner) vacate(hold);
    }
  }

  /// Says that the owner of `hold` is at `size` bytes at `position`. Returns: whether they are still
  /// those of that position; else nothing is held.
  [[nodiscard]] bool say(CacheHold& hold, std::uint64_t position, std::uint64_t size) noexcept {
    hold.range.store_seq_cst(range_of(position, size), gate{});
    if (words_->reserved.load_seq_cst(gate{}) <= position + capacity_) return true;
    give_back(hold);
    return false;
  }
  static void give_back(CacheHold& hold) noexcept { hold.range.store_release(0, given_back{}); }

  [[nodiscard]] std::byte* place(std::uint64_t position) const noexcept {
    return reinterpret_cast<std::byte*>(word_at(position));
  }

 private:
  [[nodiscard]] std::uint64_t range_of(std::uint64_t position, std::uint64_t size) const noexcept {
    return (position % capacity_ / kCacheGranule) << 32 | size / kCacheGranule;
  }
  // For the owner itself: no other writer is there to look.
  void note(CacheHold& hold, std::uint64_t position, std::uint64_t size) noexcept {
    hold.range.store_relaxed(range_of(position, size));
  }

  [[nodiscard]] std::uint64_t fit(std::uint64_t reserved, std::uint64_t size) const noexcept {
    const std::uint64_t at = reserved & (capacity_ - 1);
    return at + size <= capacity_ ? reserved : reserved - at + capacity_;
  }

  [[nodiscard]] SharedWord* word_at(std::uint64_t position) const noexcept {
    return bytes_ + (position & (capacity_ - 1)) / kWordBytes;
  }

  // Nobody has reserved what would overlap the payload at `position` a lap later.
  [[nodiscard]] bool whole(std::uint64_t position) const noexcept {
    return words_->reserved.load_relaxed() <= position + capacity_;  // behind the edge overwrite
  }

  [[nodiscard]] bool held(std::uint64_t position, std::uint64_t size) const noexcept {
    const std::uint64_t first = position % capacity_ / kCacheGranule;
    const std::uint64_t last = first + size / kCacheGranule;
    const std::uint64_t used = words_->holds_used.load_seq_cst(gate{});
    bool any = false;
    for (std::size_t i = 0; i < used && i < holds_.size(); ++i) {
      // seq_cst for the gate; from who gave it back it acquires.
      const std::uint64_t range = holds_[i].range.load_seq_cst(given_back{});
      const std::uint64_t begin = range >> 32;
      any |= range != 0 && begin < last && first < begin + (range & 0xFFFF'FFFF);
    }
    return any;
  }

  void patch(SharedWord* word, std::size_t into, std::span<const std::byte> from) noexcept {
    std::uint64_t value = word->load_relaxed();  // only we write it
    std::memcpy(reinterpret_cast<std::byte*>(&value) + into, from.data(), from.size());
    write_words(word, value, overwrite{});
  }

  CacheWords* words_;
  std::span<CacheHold> holds_;
  SharedWord* bytes_;
  std::uint64_t capacity_;
};

}  // namespace leat::queue::internal
