// What      The programs that are measured: what smarm, Tokio and others measure under these names, each
//           with its answer, and the part that a program without actors would have to do as well.
#pragma once

#include <cstdint>

namespace leat::bench {

inline constexpr std::uint64_t kPrimeRange = 3125;
inline constexpr std::uint64_t kPrimesBelow200000 = 17'984;

/// The primes in [from, to), by trial division.
[[nodiscard]] inline std::uint64_t count_primes(std::uint64_t from, std::uint64_t to) {
  std::uint64_t count = 0;
  for (std::uint64_t n = from; n < to; ++n) {
    if (n < 2 || (n != 2 && n % 2 == 0)) continue;
    bool prime = true;
    for (std::uint64_t d = 3; d * d <= n && prime; d += 2) prime = n % d != 0;
    count += prime ? 1 : 0;
  }
  return count;
}

/// Some 0.25 microseconds of work that cannot be left out.
[[nodiscard, gnu::noinline]] inline std::uint64_t busy(std::uint64_t seed) {
  for (int i = 0; i < 200; ++i) seed = seed * 6364136223846793005U + 1442695040888963407U;
  return seed;
}

}  // namespace leat::bench
