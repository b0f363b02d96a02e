#include <leat/base/os/memory.hpp>

#include <gtest/gtest.h>
#include <cstddef>
#include <memory>

namespace leat::os {
namespace {

TEST(Memory, PeakKeepsWhatWasTouchedAndIsNeverBelowCurrent) {
  constexpr std::size_t kBytes = 64 << 20;
  {
    const auto block = std::make_unique_for_overwrite<volatile char[]>(kBytes);
    for (std::size_t i = 0; i < kBytes; i += 4096) block[i] = 1;
  }
  EXPECT_GE(peak_rss_bytes(), kBytes);
  const std::size_t current = current_rss_bytes();
  EXPECT_GT(current, 0U);
  EXPECT_GE(peak_rss_bytes(), current);
}

}  // namespace
}  // namespace leat::os
