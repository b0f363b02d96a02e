// What      Three hashes that give the same number on every machine and in every build: one for a
//           word, one for text, and one to join two.
// Limits    Not against an adversary. Workers of several processes route records by these numbers,
//           so the functions are frozen; the tests pin known values.
// Source    mix64: Stafford's variant 13 of the MurmurHash3 finalizer, as in SplitMix64.
//           fnv1a: Fowler, Noll, Vo, 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace leat {

/// A bijection of 64-bit words in which each bit of the input moves about half of the output.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebU;
  x ^= x >> 31;
  return x;
}

/// Hashes bytes one by one; for names, not for bulk.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x00000100000001b3U;
  }
  return hash;
}

/// Joins a hash with the next one; the order matters.
[[nodiscard]] constexpr std::uint64_t hash_combine(std::uint64_t seed,
                                                   std::uint64_t next) noexcept {
  return mix64(seed * 0x9e3779b97f4a7c15U + next + 0x9e3779b97f4a7c15U);
}

}  // namespace leat
