// What      A slot of a ring: a stamp and a payload that several threads, also of several processes,
//           may read while it is overwritten, and who can tell afterwards.
// Shape     | stamp | word 0 | word 1 | ... |     64-bit words
//           A payload of at most 56 bytes stands with its stamp in one cache line. Larger ones are
//           packed, so that a lap touches as few lines as there are bytes.
// Protocol  write n:  stamp := busy(n); the words; stamp := published(n).
//           read n:   the stamp must be published(n); copy the words; the stamp must still be it.
// Invariants
//   (1) One thread at a time writes a slot; see producer.hpp for who.
// Ordering  published  from the store of published(n) to the load before the copy: the words are
//                      those of n or newer.
//           overwrite  from the words to their copy: a copy that took a word of a later write finds
//                      at its second look at the stamp that the later write had begun.
// Limits    The payload is copied word by word (base/word_copy.hpp), never as an object: a torn copy
//           is seen and thrown away.
// Cost      No read-modify-write. Reading touches the lines of this slot and no others.
// Source    Seqlocks as Boehm 2012 ("Can seqlocks get along with programming language memory
//           models?"), with absolute stamps.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/word_copy.hpp>
#include <leat/queue/ring/stamp.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace leat::queue {

/// What a ring may carry: bytes that mean the same in another process.
template <class T>
concept RingRecord = WordCopyable<T> && !std::is_pointer_v<T> && !std::is_const_v<T> &&
                     !std::is_volatile_v<T> && alignof(T) <= kCacheLine;

namespace internal {

[[nodiscard]] constexpr std::size_t slot_align(std::size_t payload_bytes) noexcept {
  const std::size_t bytes = 8 + (payload_bytes + 7) / 8 * 8;
  return bytes <= kCacheLine ? std::bit_ceil(bytes) : 8;
}

}  // namespace internal

/// The stamp of a slot, and what may be done to it.
class RingStamp {
  struct published : Edge {};  // producer -> consumer: the words are those of the stamp

 public:
  [[nodiscard]] std::uint64_t look() const noexcept { return word_.load_acquire(published{}); }
  /// For the look before falling asleep: orders against `publish_loudly`.
  [[nodiscard]] std::uint64_t look_seq_cst() const noexcept {
    return word_.load_seq_cst(published{});
  }
  /// Relaxed: what the copy took orders it.
  [[nodiscard]] std::uint64_t look_again() const noexcept { return word_.load_relaxed(); }

  /// Whoever alone may write the slot begins to. Relaxed: a copy that meets a word stored after it
  /// acquires that word.
  void begin(std::uint64_t sequence) noexcept { word_.store_relaxed(stamp::busy(sequence)); }
  void publish(std::uint64_t sequence) noexcept {
    word_.store_release(stamp::published(sequence), published{});
  }
  /// The same, so that a load of who sleeps, after it, misses nobody.
  void publish_loudly(std::uint64_t sequence) noexcept {
    word_.store_seq_cst(stamp::published(sequence), published{});
  }

  /// Takes the slot for `sequence` from whoever left `found` there.
  ///
  /// Returns: whether it is ours now; if not, `found` is what stands there.
  [[nodiscard]] bool claim(std::uint64_t& found, std::uint64_t sequence) noexcept {
    return word_.compare_exchange_strong_acq_rel(found, stamp::busy(sequence), published{},
                                                 published{});
  }
  /// Ends what `sequence`'s producer, who is dead or gives up, began. Returns: whether it was busy.
  bool bury(std::uint64_t sequence) noexcept {
    std::uint64_t found = stamp::busy(sequence);
    return word_.compare_exchange_strong_acq_rel(found, stamp::tombstone(sequence), published{},
                                                 published{});
  }

 private:
  Atomic<std::uint64_t> word_{0};
};

class RingBell;

/// What an end of a ring waits for: a stamp beyond `begun`, told of by `bell`. Points into the ring's
/// memory. For `RingReady`, and for whoever sleeps by himself.
struct RingAwaited {
  RingBell* bell = nullptr;
  const RingStamp* stamp = nullptr;
  std::uint64_t begun = 0;

  /// For the look before falling asleep.
  [[nodiscard]] bool is_there() const noexcept { return stamp->look_seq_cst() > begun; }
};

/// A slot for a `T`.
template <RingRecord T>
struct alignas(internal::slot_align(sizeof(T))) RingSlot {
  struct overwrite : Edge {};  // producer -> consumer: who sees a later word sees its busy stamp

  /// Copies the payload to where a T is to be; that holds anything if the answer is no.
  ///
  /// Requires: `stamp.look()` was `published`, and that it is.
  /// Returns:  whether the copy is the payload of that stamp, whole.
  [[nodiscard]] bool copy_to(T* to, std::uint64_t published) const noexcept {
    read_words(words, to, overwrite{});
    if (LEAT_MUTANT("slot.no_second_look")) return true;
    return stamp.look_again() == published;
  }

  /// Between the stamp's `begin` or `claim`, and its `publish`.
  void fill(const T& value) noexcept { write_words(words, value, overwrite{}); }

  RingStamp stamp;
  SharedWord words[words_for(sizeof(T))];
};

static_assert(sizeof(RingSlot<char>) == 16 && alignof(RingSlot<char[24]>) == 32);
static_assert(sizeof(RingSlot<char[56]>) == 64 && sizeof(RingSlot<char[64]>) == 72);

/// The bytes from one slot of `T`s to the next.
template <RingRecord T>
inline constexpr std::uint32_t kRingStride = sizeof(RingSlot<T>);

}  // namespace leat::queue
