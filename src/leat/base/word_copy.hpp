// What      Copies a record into and out of shared words, while others may do the same: a torn copy
//           may come out, a data race does not. Whoever shares a record under a stamp (ring slots,
//           seqlocks, caches) copies through here and then looks at the stamp again.
// Shape     A record of n bytes lies in words_for(n) words, in memory order; the bytes of the last
//           word behind the record are zero. Equal in every build.
// Protocol  Writer:  stamp <- busy, relaxed;   write_words(words, record, overwrite{});
//                    stamp <- new, release
//           Reader:  stamp -> s, acquire;      read_words(words, copy, overwrite{});
//                    stamp is still s? the copy is whole; else it is thrown away, unlooked at
// Ordering  The edge passed to both halves: who has copied one word of a new record sees, when it
//           looks again, that the stamp has moved. It is a release fence before relaxed stores, and
//           an acquire fence behind relaxed loads. That the new record is whole when its stamp
//           stands there is the writer's last store, an edge of its own.
// Limits    ThreadSanitizer does not know fences: there, or with LEAT_FENCE_FREE=1, each word is
//           stored with release and loaded with acquire instead. The two variants understand each
//           other. In the model build both are there: `.mutants = {"word_copy.fence_free"}` takes
//           the second one.
// Cost      One load and one store per word, and on x86 nothing else, in either variant. A hot path
//           hands in the place where the record is to be: a copy of the copy waits for its stores.
// Source    Boehm 2012 ("Can seqlocks get along with programming language memory models?"), and
//           Abseil's sequence_lock.h, which copies in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/sanitizers.hpp>

#ifndef LEAT_FENCE_FREE
#define LEAT_FENCE_FREE LEAT_TSAN
#endif

namespace leat {

/// A word of a record that threads, or processes, share.
using SharedWord = Atomic<std::uint64_t>;

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
static_assert(sizeof(SharedWord) == kWordBytes && alignof(SharedWord) == kWordBytes);

/// The words that a record of `bytes` bytes takes.
[[nodiscard]] constexpr std::size_t words_for(std::size_t bytes) noexcept {
  return bytes / kWordBytes + (bytes % kWordBytes != 0 ? 1 : 0);
}

/// What can be shared word by word: its bytes are its value.
template <class T>
concept WordCopyable = std::is_trivially_copyable_v<T> && std::is_object_v<T>;

namespace internal {

/// Records up to so many words are copied without a loop; of longer ones eight words a turn.
inline constexpr std::size_t kWordsUnrolled = 16;
inline constexpr std::size_t kWordsPerTurn = 8;

inline std::uint64_t take_word(const std::byte* from, std::size_t bytes = kWordBytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

inline void put_word(std::byte* to, std::uint64_t word, std::size_t bytes = kWordBytes) noexcept {
  std::memcpy(to, &word, bytes);
}

inline bool fence_free() noexcept {
  return LEAT_FENCE_FREE != 0 || LEAT_MUTANT("word_copy.fence_free");
}

// Calls word(index, 8) for kCount indices from `first` on, without a loop.
template <std::size_t kCount, class Word>
void unrolled([[maybe_unused]] std::size_t first, [[maybe_unused]] const Word& word) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (word(first + kIndex, kWordBytes), ...);
  }(std::make_index_sequence<kCount>());
}

// Calls word(index, bytes of it) for each word of a record of `bytes` bytes.
template <class Word>
void for_each_word(std::size_t bytes, const Word& word) {
  const std::size_t whole = bytes / kWordBytes;
  std::size_t i = 0;
  for (; i + kWordsPerTurn <= whole; i += kWordsPerTurn) unrolled<kWordsPerTurn>(i, word);
  for (; i < whole; ++i) word(i, kWordBytes);
  if (const std::size_t rest = bytes % kWordBytes; rest != 0) word(whole, rest);
}

// The same for a size known when it is compiled.
template <std::size_t kBytes, class Word>
void for_each_word_of(const Word& word) {
  constexpr std::size_t kWhole = kBytes / kWordBytes;
  constexpr std::size_t kRest = kBytes % kWordBytes;
  if constexpr (kWhole <= kWordsUnrolled) {
    unrolled<kWhole>(0, word);
  } else {
    constexpr std::size_t kTurns = kWhole / kWordsPerTurn;
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      unrolled<kWordsPerTurn>(turn * kWordsPerTurn, word);
    }
    unrolled<kWhole % kWordsPerTurn>(kTurns * kWordsPerTurn, word);
  }
  if constexpr (kRest != 0) word(kWhole, kRest);
}

template <NamedEdge E, class ForEach>
void write_each_word(SharedWord* to, const std::byte* from, E edge, const ForEach& for_each) {
  if (fence_free()) {
    for_each([&](std::size_t i, std::size_t bytes) {
      to[i].store_release(take_word(from + i * kWordBytes, bytes), edge);
    });
  } else {
    fence_release(edge);
    for_each([&](std::size_t i, std::size_t bytes) {
      to[i].store_relaxed(take_word(from + i * kWordBytes, bytes));  // the fence orders them
    });
  }
}

template <NamedEdge E, class ForEach>
void read_each_word(const SharedWord* from, std::byte* to, E edge, const ForEach& for_each) {
  if (fence_free()) {
    for_each([&](std::size_t i, std::size_t bytes) {
      put_word(to + i * kWordBytes, from[i].load_acquire(edge), bytes);
    });
  } else {
    for_each([&](std::size_t i, std::size_t bytes) {
      put_word(to + i * kWordBytes, from[i].load_relaxed(), bytes);  // the fence orders them
    });
    fence_acquire(edge);
  }
}

}  // namespace internal

/// Copies `bytes` bytes into words_for(bytes) words. The release half of `E`.
///
/// Threads:  the caller holds the stamp that keeps other writers away; readers may read meanwhile.
template <NamedEdge E>
void write_words(SharedWord* to, const void* from, std::size_t bytes, E edge) noexcept {
  internal::write_each_word(to, static_cast<const std::byte*>(from), edge,
                            [&](const auto& word) { internal::for_each_word(bytes, word); });
}

/// Copies `bytes` bytes out of words_for(bytes) words. The acquire half of `E`.
///
/// The copy may be torn: it is nothing but bytes until the stamp, looked at again, has not moved.
template <NamedEdge E>
void read_words(const SharedWord* from, void* to, std::size_t bytes, E edge) noexcept {
  internal::read_each_word(from, static_cast<std::byte*>(to), edge,
                           [&](const auto& word) { internal::for_each_word(bytes, word); });
}

/// Copies `value` into words_for(sizeof(T)) words. The release half of `E`.
template <WordCopyable T, NamedEdge E>
void write_words(SharedWord* to, const T& value, E edge) noexcept {
  internal::write_each_word(to, reinterpret_cast<const std::byte*>(&value), edge,
                            [](const auto& word) { internal::for_each_word_of<sizeof(T)>(word); });
}

/// Copies words_for(sizeof(T)) words to where a T is to be. The acquire half of `E`.
///
/// A torn copy is no T (a bool in it may be neither true nor false): `*to` is nothing but bytes
/// until the stamp, looked at again, has not moved.
template <WordCopyable T, NamedEdge E>
void read_words(const SharedWord* from, T* to, E edge) noexcept {
  internal::read_each_word(from, reinterpret_cast<std::byte*>(to), edge,
                           [](const auto& word) { internal::for_each_word_of<sizeof(T)>(word); });
}

/// Room for a copy of a T that may turn out to be torn, where T cannot be made before.
template <WordCopyable T>
class PrivateCopy {
 public:
  PrivateCopy() noexcept {}

  /// Where the copy goes.
  [[nodiscard]] T* place() noexcept { return &room_.value; }

  /// The copy, once the stamp has not moved.
  [[nodiscard]] const T& value() const noexcept { return room_.value; }

 private:
  union Room {
    Room() noexcept {}
    T value;
  } room_;
};

}  // namespace leat
