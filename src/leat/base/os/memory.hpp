// What      How much memory this process holds, and held at most.
// Limits    What the kernel counts as resident: shared pages count in full. 0 without /proc.
// Cost      One small file read each.
#pragma once

#include <cstdint>

namespace leat::os {

/// The most bytes that were resident at once since this program was started.
[[nodiscard]] std::uint64_t peak_rss_bytes();

/// The bytes that are resident now.
[[nodiscard]] std::uint64_t current_rss_bytes();

}  // namespace leat::os
