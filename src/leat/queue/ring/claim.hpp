// What      The word by which a group's members agree who handles a message, and whether it is done.
// Shape     | lap: 38 | generation: 14 | member: 10 | state: 2 |      state 0 done, 1 claimed
//           Sequence c has word c mod window and lap c / window. Before c is claimed its word says
//           that c - window is done. A word of zeros says that lap 0 is done: a group is made with
//           all its words set.
// Limits    Laps are compared by their difference: a word that nobody touched for 2^37 laps would
//           be misread. A member is its seat and the low bits of that seat's generation.
#pragma once

#include <leat/base/atomic.hpp>

#include <cstdint>

namespace leat::queue::claim {

struct handover : Edge {};  // who had the word -> who looks at it: the copy is over if it is done

inline constexpr unsigned kLapBits = 38;
inline constexpr std::uint64_t kLapMask = (std::uint64_t{1} << kLapBits) - 1;
inline constexpr std::uint32_t kGenerationMask = (1U << 14) - 1;
inline constexpr std::uint32_t kMemberMask = (1U << 10) - 1;

[[nodiscard]] constexpr std::uint64_t done(std::uint64_t lap) noexcept {
  return (lap & kLapMask) << 26;
}
[[nodiscard]] constexpr std::uint64_t claimed(std::uint64_t lap, std::uint32_t member,
                                              std::uint32_t generation) noexcept {
  return done(lap) | std::uint64_t{generation & kGenerationMask} << 12 |
         std::uint64_t{member & kMemberMask} << 2 | 1;
}
[[nodiscard]] constexpr bool is_done(std::uint64_t word) noexcept { return (word & 3) == 0; }
[[nodiscard]] constexpr std::uint32_t member(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 2) & kMemberMask;
}
[[nodiscard]] constexpr std::uint32_t generation(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 12) & kGenerationMask;
}
/// How many laps `word` is ahead of `lap`; negative: behind.
[[nodiscard]] constexpr std::int64_t ahead(std::uint64_t word, std::uint64_t lap) noexcept {
  const std::uint64_t difference = ((word >> 26) - lap) & kLapMask;
  const bool negative = (difference >> (kLapBits - 1)) != 0;
  return negative ? -static_cast<std::int64_t>(kLapMask + 1 - difference)
                  : static_cast<std::int64_t>(difference);
}

}  // namespace leat::queue::claim
