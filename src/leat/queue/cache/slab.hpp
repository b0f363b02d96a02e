// What      Slab<T>: objects that processes hand to each other by a handle of one word, which fits into
//           any message. What a handle names is that object or nothing, never another one.
// Shape     `capacity` cells, each on cache lines of its own:
//             | stamp | owner | words of a T |
//           stamp = generation * 4 + state; state: 0 free, 1 being written, 2 there.
//           A handle is generation * capacity + cell: generations of a cell begin with 1, so no handle
//           is 0, and none comes twice.
// Protocol  put:   owner: 0 -> self, or a dead one -> self; stamp: being written, next generation; the
//                  words; stamp: there; owner <- 0. From cell to cell, beginning where the last ended.
//           get:   stamp is that generation, there; the words; stamp is still it.
//           erase: stamp: that generation, there -> free. By anybody; waits for nobody.
// Invariants
//   (1) But for erasing, only who stands in `owner` changes stamp and words.
//   (2) Generations of a cell grow by one per put, also across the death of whoever puts.
// Ordering  published  who puts -> who gets: the words are those of the generation.
//           overwrite  who puts -> who gets: who copied a word of a later object finds the stamp moved.
//           handed_on  who changed a cell -> who changes it next. A death brings the same, as in
//                      last_value.hpp.
// Limits    Overwriting: put takes the next cell, and what was in it is gone. Keeping: put takes a free
//           cell, and says `full` if there is none. Objects stay until they are erased, whoever put
//           them: they may be on their way to others.
//           get copies: an object is not pinned, and not changed where it lies.
// Cost      put: one compare-exchange and one addition. get: no store.
// Source    Flux's SharedVector, which is of one process, locks, and may show an older object.
#pragma once

#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/result.hpp>
#include <leat/base/word_copy.hpp>
#include <leat/queue/cache/opening.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace leat::queue {

/// Names an object of a slab. Trivially copyable; the default names none.
struct SlabHandle {
  std::uint64_t word = 0;

  explicit constexpr operator bool() const noexcept { return word != 0; }
  friend constexpr bool operator==(SlabHandle, SlabHandle) noexcept = default;
};

enum class SlabKind : std::uint8_t {
  keeping,      ///< objects stay until they are erased
  overwriting,  ///< the oldest makes room for the newest
};

namespace internal {

template <WordCopyable T>
class SlabCell {
  struct published : Edge {};  // who puts -> who gets: the words are those of the generation
  struct overwrite : Edge {};  // who puts -> who gets: who copied newer words sees the stamp moved
  struct handed_on : Edge {};  // who changed the cell -> who changes it next

 public:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint64_t kWriting = 1;
  static constexpr std::uint64_t kThere = 2;

  [[nodiscard]] bool get(std::uint64_t generation, T* into) const noexcept {
    const std::uint64_t stamp = generation * 4 + kThere;
    if (stamp_.load_acquire(published{}) != stamp) return false;
    read_words(words_, into, overwrite{});
    // Relaxed: the edge overwrite orders it behind the copy.
    return stamp_.load_relaxed() == stamp || LEAT_MUTANT("slab.no_second_look");
  }

  /// Takes the cell for `self`. Returns: false if another one, who lives, is at it.
  template <class IsDead>
  [[nodiscard]] bool take(std::uint64_t self, const IsDead& is_dead) noexcept {
    std::uint64_t holder = 0;
    if (owner_.compare_exchange_strong_acquire(holder, self, handed_on{})) return true;
    return holder != self && is_dead(holder) &&
           owner_.compare_exchange_strong_acquire(holder, self, handed_on{});
  }
  void give_back() noexcept { owner_.store_release(0, handed_on{}); }

  [[nodiscard]] bool erase(std::uint64_t generation) noexcept {
    std::uint64_t stamp = generation * 4 + kThere;
    // Relaxed: nothing comes with it but the word itself.
    return stamp_.compare_exchange_strong_relaxed(stamp, generation * 4 + kFree);
  }
  /// The generation of what was there a moment ago; 0 if nothing was.
  [[nodiscard]] std::uint64_t was_there() const noexcept {
    const std::uint64_t stamp = stamp_.load_relaxed();
    return stamp % 4 == kThere ? stamp / 4 : 0;
  }

  // By who has taken it; in two steps, so that a test can die in between.
  std::uint64_t begin() noexcept {
    const std::uint64_t generation = LEAT_MUTANT("slab.same_generation")
                                         ? (stamp_.load_relaxed() / 4 | 1)
                                         : stamp_.load_relaxed() / 4 + 1;  // only we change it
    stamp_.store_relaxed(generation * 4 + kWriting);  // before the words, by the edge overwrite
    return generation;
  }
  void fill(const T& value, std::uint64_t generation) noexcept {
    write_words(words_, value, overwrite{});
    stamp_.store_release(generation * 4 + kThere, published{});
  }

 private:
  Atomic<std::uint64_t> stamp_{0};
  Atomic<std::uint64_t> owner_{0};
  SharedWord words_[words_for(sizeof(T))] = {};
};

template <WordCopyable T>
inline constexpr std::size_t kSlabStride =
    (sizeof(SlabCell<T>) + kCacheLine - 1) / kCacheLine * kCacheLine;

/// Stands before the cells.
struct SlabWords {
  alignas(kSector) Atomic<std::uint64_t> next{0};  // where to look first; counts attempts
};
static_assert(sizeof(SlabWords) == kSector);

}  // namespace internal

/// A handle on a slab.
///
/// Threads: any, but for moving and destroying the handle.
template <WordCopyable T>
class Slab {
  using Cell = internal::SlabCell<T>;

 public:
  /// Opens a slab of `capacity` objects, rounded up to a power of two.
  ///
  /// Errors: what Segment says; a capacity of 0, unless it joins or observes; another kind is there.
  [[nodiscard]] static Result<Slab> open(const Where& where, SlabKind kind, std::size_t capacity) {
    const bool makes = where.opening != Opening::join && where.opening != Opening::observe;
    if (capacity > std::uint64_t{1} << 40 || (capacity == 0 && makes)) {
      return Error{"slab: asked for a capacity of " + std::to_string(capacity) +
                   "; it is 1 to 2^40; take one of those"};
    }
    const std::uint64_t cells = capacity == 0 ? 0 : std::bit_ceil(capacity);
    auto bytes = internal::payload_bytes("slab", sizeof(internal::SlabWords),
                                         internal::kSlabStride<T>, cells);
    if (!bytes) return bytes.error();
    auto segment =
        internal::open_segment(where,
                               {.kind = "slab",
                                .flavour = kind == SlabKind::keeping ? "keeping" : "overwriting",
                                .type = internal::element_type<T>(),
                                .stride = internal::kSlabStride<T>,
                                .count = cells,
                                .payload_bytes = *bytes},
                               {});
    if (!segment) return segment.error();
    if (auto fits = internal::check_payload(*segment, sizeof(internal::SlabWords),
                                            internal::kSlabStride<T>);
        !fits) {
      return fits.error();
    }
    if (!std::has_single_bit(segment->spec().count)) {
      return core::segment_mismatch(segment->where(), "cells", "a power of two",
                                    std::to_string(segment->spec().count));
    }
    return Slab(std::move(*segment), kind);
  }

  /// Puts a copy of `value` into the slab.
  ///
  /// Returns:  its handle; none if the slab is full, or others, alive, are at every cell.
  /// Ordering: what the caller did before is visible to whoever gets the object.
  [[nodiscard]] SlabHandle put(const T& value) noexcept {
    LEAT_CHECK(!segment_.is_observer(), "an observer puts into a slab");
    for (std::uint64_t attempt = 0; attempt <= mask_; ++attempt) {
      // Relaxed: a place to begin, nothing more.
      const std::uint64_t index = words().next.fetch_add_relaxed(1) & mask_;
      Cell& at = cell(index);
      if (kind_ == SlabKind::keeping && at.was_there() != 0) continue;  // looked at again below
      if (!take(at)) continue;
      if (kind_ == SlabKind::keeping && at.was_there() != 0) {
        at.give_back();
        continue;
      }
      const std::uint64_t generation = at.begin();
      at.fill(value, generation);
      at.give_back();
      return {generation * (mask_ + 1) + index};
    }
    return {};
  }

  /// Copies the object out. Returns: whether it is still there; `into` has no value to speak of else.
  [[nodiscard]] bool get(SlabHandle handle, T& into) const noexcept {
    return handle && cell(handle.word & mask_).get(handle.word / (mask_ + 1), &into);
  }

  /// Takes the object out. Returns: whether it was there, and is gone by this call.
  bool erase(SlabHandle handle) noexcept {
    LEAT_CHECK(!segment_.is_observer(), "an observer erases from a slab");
    if (!handle) return false;
    return cell(handle.word & mask_).erase(handle.word / (mask_ + 1));
  }

  /// Takes all objects out that were there when it was called. Others may put meanwhile.
  void clear() noexcept {
    LEAT_CHECK(!segment_.is_observer(), "an observer clears a slab");
    for (std::uint64_t index = 0; index <= mask_; ++index) {
      const std::uint64_t generation = cell(index).was_there();
      if (generation != 0) static_cast<void>(cell(index).erase(generation));
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
  /// How many objects there are, or were a moment ago.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    std::size_t there = 0;
    for (std::uint64_t index = 0; index <= mask_; ++index)
      there += cell(index).was_there() != 0 ? 1 : 0;
    return there;
  }
  [[nodiscard]] const core::Segment& segment() const noexcept { return segment_; }
  [[nodiscard]] core::Segment& segment() noexcept { return segment_; }

 private:
  Slab(core::Segment segment, SlabKind kind) noexcept
      : segment_(std::move(segment)),
        memory_(segment_.payload().data()),
        mask_(segment_.spec().count - 1),
        kind_(kind) {}

  [[nodiscard]] internal::SlabWords& words() const noexcept {
    return *reinterpret_cast<internal::SlabWords*>(memory_);
  }
  [[nodiscard]] Cell& cell(std::uint64_t index) const noexcept {
    return *reinterpret_cast<Cell*>(memory_ + sizeof(internal::SlabWords) +
                                    index * internal::kSlabStride<T>);
  }
  [[nodiscard]] bool take(Cell& at) noexcept {
    return at.take(segment_.self().word(),
                   [this](std::uint64_t id) { return internal::is_dead(segment_, id); });
  }

  core::Segment segment_;
  std::byte* memory_;
  std::uint64_t mask_;
  SlabKind kind_;
};

}  // namespace leat::queue
