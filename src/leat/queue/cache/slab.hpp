// What      Slab<T>: objects that processes hand to each other by a handle of one word, which fits into
//           any message. What a handle names is that object or nothing, never another one.
// Shape     words | places of pins (slab_pins.hpp) | cells
//           `capacity` cells, each on cache lines of its own:
//             | stamp | owner | words of a T |
//           stamp = generation * 4 + state; state: 0 free, 1 being written, 2 there.
//           A handle is generation * capacity + cell: generations of a cell begin with 1, so no handle
//           is 0, and none comes twice.
// Protocol  put:   owner: 0 -> self, or a dead one -> self; stamp: being written, next generation; the
//                  words; stamp: there; owner <- 0. From cell to cell, beginning where the last ended.
//           get:   stamp is that generation, there; the words; stamp is still it.
//           erase: stamp: that generation, there -> free. By anybody; waits for nobody.
//           pin:   say the cell in a place; stamp is still that generation, there: the words stay.
//                  put leaves out a cell that is in a place, and goes on with the next.
// Invariants
//   (1) But for erasing, only who stands in `owner` changes stamp and words.
//   (2) Generations of a cell grow by one per put, also across the death of whoever puts.
// Ordering  published  who puts -> who gets: the words are those of the generation.
//           overwrite  who puts -> who gets: who copied a word of a later object finds the stamp moved.
//           slab_gate  who pins <-> who puts: one sees the other.
//           handed_on  who changed a cell -> who changes it next. A death brings the same, as in
//                      last_value.hpp.
// Limits    Overwriting: put takes the next cell, and what was in it is gone. Keeping: put takes a free
//           cell, and says `full` if there is none. Objects stay until they are erased, whoever put
//           them: they may be on their way to others.
//           get copies; a pin shows the object where it lies, and keeps it there, also when it is
//           erased or overwritten meanwhile: then others do not find it any more. Nothing is changed
//           where it lies: put another one.
// Cost      put: one compare-exchange and one addition; where objects can be pinned a barrier, and a
//           look at as many places as ever were taken at a time. get: no store. pin: one
//           compare-exchange and one seq_cst store.
// Source    Flux's SharedVector, which is of one process, locks, and may show an older object.
#pragma once

#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/result.hpp>
#include <leat/base/word_copy.hpp>
#include <leat/queue/cache/opening.hpp>
#include <leat/queue/cache/slab_pins.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
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

enum class Pinned : std::uint8_t {
  ok,
  gone,     ///< it is not there any more
  crowded,  ///< all places for pins are taken
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
  /// Where the object lies. For who has pinned it.
  [[nodiscard]] const T* place() const noexcept {
    return std::launder(reinterpret_cast<const T*>(words_));
  }
  /// Whether that generation is there; for the look behind `SlabPins::say`.
  [[nodiscard]] bool is_there(std::uint64_t generation) const noexcept {
    const std::uint64_t stamp = generation * 4 + kThere;
    // The first look brings the words, the second stands in the order of the gate.
    return stamp_.load_acquire(published{}) == stamp && stamp_.load_seq_cst(slab_gate{}) == stamp;
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
  /// The same, before a look at who has pinned the cell.
  std::uint64_t begin_at_gate() noexcept {
    const std::uint64_t generation = stamp_.load_relaxed() / 4 + 1;  // only we change it
    stamp_.store_seq_cst(generation * 4 + kWriting, slab_gate{});
    return generation;
  }
  /// Puts nothing there after all. Relaxed: nothing comes with it.
  void leave_free(std::uint64_t generation) noexcept {
    stamp_.store_relaxed(generation * 4 + kFree);
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

/// Stands before the places of pins and the cells.
struct SlabWords {
  alignas(kSector) Atomic<std::uint64_t> next{0};  // where to look first; counts attempts
  alignas(kSector) Atomic<std::uint64_t> pins_used{0};
};
static_assert(sizeof(SlabWords) == 2 * kSector);

[[nodiscard]] constexpr std::uint64_t slab_head_bytes(std::uint64_t pins) noexcept {
  return sizeof(SlabWords) + pins * sizeof(SlabPinPlace);
}
inline SlabPins slab_pins(std::byte* memory, std::uint64_t pins) noexcept {
  auto* const words = reinterpret_cast<SlabWords*>(memory);
  auto* const places = reinterpret_cast<SlabPinPlace*>(memory + sizeof(SlabWords));
  return SlabPins(&words->pins_used, {places, pins});
}

inline constexpr std::uint64_t kSlabPinsMax = 4096;

}  // namespace internal

/// An object that is kept where it lies, until this goes.
///
/// Requires: the slab outlives it. Threads: one at a time.
template <WordCopyable T>
class SlabPin {
 public:
  SlabPin() noexcept = default;
  SlabPin(SlabPin&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        place_(std::exchange(other.place_, nullptr)) {}
  SlabPin& operator=(SlabPin&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(place_, other.place_);
    return *this;
  }
  ~SlabPin() { give_back(); }

  /// Whether it keeps one.
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Requires: it keeps one.
  [[nodiscard]] const T& operator*() const noexcept { return *object_; }
  [[nodiscard]] const T* operator->() const noexcept { return object_; }

  void give_back() noexcept {
    object_ = nullptr;
    if (place_ != nullptr) internal::SlabPins::vacate(*std::exchange(place_, nullptr));
  }

 private:
  template <WordCopyable U>
  friend class Slab;

  const T* object_ = nullptr;
  internal::SlabPinPlace* place_ = nullptr;
};

/// A handle on a slab.
///
/// Threads: any, but for moving and destroying the handle.
template <WordCopyable T>
class Slab {
  using Cell = internal::SlabCell<T>;

 public:
  /// Opens a slab of `capacity` objects, rounded up to a power of two, of which all who use it may
  /// have `pins` pinned at the same moment. When joining 0 of either is whatever is there.
  ///
  /// Errors: what Segment says; a capacity of 0, unless it joins or observes; another kind is there;
  ///         more than 4096 pins.
  [[nodiscard]] static Result<Slab> open(const Where& where, SlabKind kind, std::size_t capacity,
                                         std::uint32_t pins = 0) {
    const bool makes = where.opening != Opening::join && where.opening != Opening::observe;
    if (capacity > std::uint64_t{1} << 40 || (capacity == 0 && makes)) {
      return Error{"slab: asked for a capacity of " + std::to_string(capacity) +
                   "; it is 1 to 2^40; take one of those"};
    }
    if (pins > internal::kSlabPinsMax) {
      return Error{"slab: asked for " + std::to_string(pins) + " pins; there may be 0 to " +
                   std::to_string(internal::kSlabPinsMax) + "; take one of those"};
    }
    const std::uint64_t cells = capacity == 0 ? 0 : std::bit_ceil(capacity);
    auto bytes = internal::payload_bytes("slab", internal::slab_head_bytes(pins),
                                         internal::kSlabStride<T>, cells);
    if (!bytes) return bytes.error();
    auto segment =
        internal::open_segment(where,
                               {.kind = "slab",
                                .kind_version = 2,  // 2: with places for pins
                                .flavour = kind == SlabKind::keeping ? "keeping" : "overwriting",
                                .type = core::segment_type<T>(),
                                .stride = internal::kSlabStride<T>,
                                .count = cells,
                                .payload_bytes = *bytes,
                                // One more, for 0 is "whatever is there".
                                .words = {pins == 0 && !makes ? 0 : std::uint64_t{pins} + 1}},
                               {.format = {}, .make_good = vacate_of_the_dead});
    if (!segment) return segment.error();
    if (auto fits = internal::check_payload(*segment, head_bytes(segment->spec()),
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
  /// Returns:  its handle; none if the slab is full, or others, alive, are at every cell or have
  ///           pinned it.
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
      const std::uint64_t generation = pins_.places() == 0 ? at.begin() : at.begin_at_gate();
      if (pins_.is_pinned(index)) {
        at.leave_free(generation);
        at.give_back();
        continue;
      }
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

  /// Keeps the object where it lies, in the place of what `into` kept.
  ///
  /// Requires: not an observer; checked. A slab that was made without pins is `crowded`.
  /// Ordering: as get.
  [[nodiscard]] Pinned pin(SlabHandle handle, SlabPin<T>& into) const noexcept {
    static_assert(alignof(T) <= kWordBytes, "an object that is shown where it lies aligns to 8");
    LEAT_CHECK(!segment_.is_observer(), "an observer pins an object of a slab");
    into.give_back();
    if (!handle) return Pinned::gone;
    internal::SlabPinPlace* const place = pins_.take(segment_.self().word());
    if (place == nullptr) return Pinned::crowded;
    const Cell& at = cell(handle.word & mask_);
    internal::SlabPins::say(*place, handle.word & mask_);
    if (!at.is_there(handle.word / (mask_ + 1))) {
      internal::SlabPins::vacate(*place);
      return Pinned::gone;
    }
    into.object_ = at.place();
    into.place_ = place;
    return Pinned::ok;
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
        pins_(internal::slab_pins(memory_, pins_in(segment_.spec()))),
        cells_(memory_ + head_bytes(segment_.spec())),
        mask_(segment_.spec().count - 1),
        kind_(kind) {}

  // Of a spec that anybody may have written.
  [[nodiscard]] static std::uint64_t pins_in(const core::SegmentSpec& spec) noexcept {
    const std::uint64_t pins = spec.words[0] == 0 ? 0 : spec.words[0] - 1;
    return pins > internal::kSlabPinsMax ? 0 : pins;
  }
  [[nodiscard]] static std::uint64_t head_bytes(const core::SegmentSpec& spec) noexcept {
    return internal::slab_head_bytes(pins_in(spec));
  }
  static bool vacate_of_the_dead(std::span<std::byte> payload, const core::SegmentSpec& spec,
                                 core::ParticipantId dead) {
    if (payload.size() >= head_bytes(spec)) {
      internal::slab_pins(payload.data(), pins_in(spec)).vacate_all_of(dead.word());
    }
    return true;
  }

  [[nodiscard]] internal::SlabWords& words() const noexcept {
    return *reinterpret_cast<internal::SlabWords*>(memory_);
  }
  [[nodiscard]] Cell& cell(std::uint64_t index) const noexcept {
    return *reinterpret_cast<Cell*>(cells_ + index * internal::kSlabStride<T>);
  }
  [[nodiscard]] bool take(Cell& at) noexcept {
    return at.take(segment_.self().word(),
                   [this](std::uint64_t id) { return internal::is_dead(segment_, id); });
  }

  core::Segment segment_;
  std::byte* memory_;
  internal::SlabPins pins_;
  std::byte* cells_;
  std::uint64_t mask_;
  SlabKind kind_;
};

}  // namespace leat::queue
