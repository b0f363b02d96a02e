// What      Rng: a small, fast, seedable source of random words, for tests, back-off and sampling.
// Limits    Not for secrets. One thread at a time. The same seed gives the same words everywhere.
// Cost      32 bytes; about a nanosecond a word.
// Source    Blackman and Vigna, xoshiro256++, seeded by SplitMix64; Lemire 2019 for below().
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/hash.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace leat {

/// A UniformRandomBitGenerator; every seed is good, zero too.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Rng(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      word = mix64(seed);
    }
  }

  /// 64 random bits.
  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// A number in [0, n), each as likely as any other.
  ///
  /// Requires: `n > 0`; checked.
  constexpr std::uint64_t below(std::uint64_t n) noexcept {
    LEAT_CHECK(n > 0, "a random number below zero was asked for");
    Wide product = Wide{next()} * n;
    if (static_cast<std::uint64_t>(product) < n) {
      // The low words under this threshold would favour some results: draw again.
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold) product = Wide{next()} * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// A number in [0, 1), a multiple of 2^-53.
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  constexpr std::uint64_t operator()() noexcept { return next(); }
  static constexpr std::uint64_t min() noexcept { return 0; }
  static constexpr std::uint64_t max() noexcept {
    return std::numeric_limits<std::uint64_t>::max();
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t state_[4];
};

}  // namespace leat
