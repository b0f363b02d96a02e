// What      Histogram: counts 64-bit values (nanoseconds, bytes) so that any quantile is known to
//           within 0.8 percent, however large the range.
// Shape     Values below 128 have a bucket each; above, each power of two is cut into 128 buckets:
//             [128, 256) by 1   [256, 512) by 2   [512, 1024) by 4   ...   [2^63, 2^64) by 2^56
// Invariants  (1) A bucket's width is at most 1/128 of any value in it.
//             (2) count() is the sum of all buckets; min() and max() are exact.
// Limits    One thread at a time: each thread records into its own, and one merges them.
// Cost      58 KiB each, allocated once; record is a shift, a subtraction and an increment.
// Source    Tene's HdrHistogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leat {

class Histogram {
 public:
  Histogram();

  /// Counts `value`, `times` times.
  void record(std::uint64_t value, std::uint64_t times = 1) noexcept;

  /// Adds all that `other` has counted.
  void merge(const Histogram& other) noexcept;

  /// Forgets everything.
  void clear() noexcept;

  /// The smallest value such that at least `q` of all values are not greater, rounded up to the
  /// end of its bucket and never above max(). The smallest of all for `q <= 0`; 0 if nothing was
  /// counted.
  [[nodiscard]] std::uint64_t quantile(double q) const noexcept;

  /// How many values are not less than `value`, or share its bucket.
  [[nodiscard]] std::uint64_t count_from(std::uint64_t value) const noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// 0 if nothing was counted.
  [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  /// 0 if nothing was counted.
  [[nodiscard]] double mean() const noexcept;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace leat
