// What      SharedHistogram: counts durations in memory that others may read while one thread counts,
//           so that each percentile is one of all samples, to within 1.6 percent.
// Shape     Nanoseconds below 128 have a bucket each; above, each power of two is cut into 64. What is
//           longer than 2^40 ns, 18 minutes, counts as that.
// Invariants  (1) Zeros are an empty histogram. (2) One thread counts; any number reads.
// Limits    A reader may see a sample in one word and not yet in another: figures of a moment.
// Cost      18 KiB; a sample is a shift and a few plain loads and stores.
// Source    Tene's HdrHistogram; base/histogram.hpp is the one for a thread's own use.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace leat::tile {

/// What a histogram held at some moment.
class HistogramCopy {
 public:
  HistogramCopy() = default;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] Nanos sum() const noexcept { return Nanos(static_cast<std::int64_t>(sum_)); }
  [[nodiscard]] Nanos max() const noexcept { return Nanos(static_cast<std::int64_t>(max_)); }
  [[nodiscard]] double mean_ns() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  /// The duration such that `q` of all are not longer, rounded up within its bucket; 0 of none.
  [[nodiscard]] Nanos quantile(double q) const noexcept;
  /// Adds another's samples.
  void merge(const HistogramCopy& other);

 private:
  friend class SharedHistogram;
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

class alignas(kSector) SharedHistogram {
 public:
  static constexpr std::size_t kBuckets = 2240;
  static constexpr std::uint64_t kLongest = (std::uint64_t{1} << 40) - 1;

  /// Threads: one.
  void record(Nanos time) noexcept {
    const auto value = static_cast<std::uint64_t>(
        std::clamp<std::int64_t>(time.count(), 0, static_cast<std::int64_t>(kLongest)));
    // Relaxed, all of it: counts, which order nothing; and one thread writes them.
    add(buckets_[bucket_of(value)], 1);
    add(count_, 1);
    add(sum_, value);
    if (value > max_.load_relaxed()) max_.store_relaxed(value);
  }

  /// Threads: any.
  [[nodiscard]] HistogramCopy copy() const {
    HistogramCopy copy;
    copy.buckets_.resize(kBuckets);
    for (std::size_t i = 0; i < kBuckets; ++i) {
      copy.buckets_[i] = buckets_[i].load_relaxed();  // as above
      copy.count_ += copy.buckets_[i];
    }
    copy.sum_ = sum_.load_relaxed();
    copy.max_ = max_.load_relaxed();
    return copy;
  }

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < 128) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 7;
    return std::size_t{shift} * 64 + static_cast<std::size_t>(value >> shift);
  }
  /// The longest that counts in that bucket.
  [[nodiscard]] static constexpr std::uint64_t last_of(std::size_t bucket) noexcept {
    if (bucket < 128) return bucket;
    const std::size_t shift = bucket / 64 - 1;
    return ((std::uint64_t{bucket} - shift * 64 + 1) << shift) - 1;
  }

 private:
  static void add(Atomic<std::uint64_t>& word, std::uint64_t more) noexcept {
    word.store_relaxed(word.load_relaxed() + more);
  }

  Atomic<std::uint64_t> count_{0};
  Atomic<std::uint64_t> sum_{0};
  Atomic<std::uint64_t> max_{0};
  Atomic<std::uint64_t> unused_{0};
  Atomic<std::uint64_t> buckets_[kBuckets] = {};
};
static_assert(std::is_standard_layout_v<SharedHistogram>);
static_assert(SharedHistogram::bucket_of(SharedHistogram::kLongest) ==
              SharedHistogram::kBuckets - 1);
static_assert(SharedHistogram::last_of(SharedHistogram::kBuckets - 1) == SharedHistogram::kLongest);

inline Nanos HistogramCopy::quantile(double q) const noexcept {
  if (count_ == 0) return Nanos{0};
  const auto wanted = std::max<std::uint64_t>(
      1,
      static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted) {
      return Nanos(static_cast<std::int64_t>(std::min(SharedHistogram::last_of(i), max_)));
    }
  }
  return max();
}

inline void HistogramCopy::merge(const HistogramCopy& other) {
  buckets_.resize(SharedHistogram::kBuckets);
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

}  // namespace leat::tile
