// What      The 64-bit stamp that stands before each payload of a slot ring: whose it is and whether
//           it may be read.
// Shape     (n + 1) * 4 + state     n: absolute sequence, from 0      0: the slot was never used
//           state  1 busy  2 published  3 tombstone (its producer died, or gave it up)
// Invariants
//   (1) The stamp of a slot only grows. Sequence n lives in slot n mod slots, so that a stamp tells
//       which lap it is of, and a message can never pass for another one.
// Limits    2^62 sequences: at a thousand million a second, 146 years.
// Source    Ours. Lap counters that count relatively (Flux's slot versions) stay wrong for ever
//           after one lost increment; absolute stamps heal with the next lap.
#pragma once

#include <cstdint>

namespace leat::queue::stamp {

[[nodiscard]] constexpr std::uint64_t busy(std::uint64_t sequence) noexcept {
  return (sequence + 1) * 4 + 1;
}
[[nodiscard]] constexpr std::uint64_t published(std::uint64_t sequence) noexcept {
  return (sequence + 1) * 4 + 2;
}
[[nodiscard]] constexpr std::uint64_t tombstone(std::uint64_t sequence) noexcept {
  return (sequence + 1) * 4 + 3;
}

/// Requires: the slot was used.
[[nodiscard]] constexpr std::uint64_t sequence(std::uint64_t stamp) noexcept {
  return stamp / 4 - 1;
}
[[nodiscard]] constexpr bool is_busy(std::uint64_t stamp) noexcept { return stamp % 4 == 1; }
[[nodiscard]] constexpr bool is_published(std::uint64_t stamp) noexcept { return stamp % 4 == 2; }

}  // namespace leat::queue::stamp
