// What      The two distances that keep threads off each other's lines.
// Limits    Fixed numbers, not std::hardware_destructive_interference_size: layouts that processes
//           share may not depend on a compiler flag.
#pragma once

#include <cstddef>

namespace leat {

/// Bytes that move between cores together.
inline constexpr std::size_t kCacheLine = 64;

/// Bytes between the words of two writers: the prefetcher of x86 pulls lines in pairs.
inline constexpr std::size_t kSector = 128;

}  // namespace leat
