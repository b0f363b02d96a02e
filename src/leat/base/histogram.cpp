#include <leat/base/histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace leat {
namespace {

constexpr unsigned kStepBits = 7;  // 2^7 buckets per power of two
constexpr std::uint64_t kSteps = std::uint64_t{1} << kStepBits;
constexpr std::size_t kBuckets = (64 - kStepBits + 1) * kSteps;

std::size_t bucket_of(std::uint64_t value) noexcept {
  if (value < kSteps) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kStepBits;
  return shift * kSteps + (value >> shift);  // value >> shift is in [kSteps, 2 * kSteps)
}

std::uint64_t last_value_of(std::size_t bucket) noexcept {
  if (bucket < 2 * kSteps) return bucket;
  const unsigned shift = static_cast<unsigned>(bucket / kSteps) - 1;
  const std::uint64_t step = bucket - shift * kSteps;
  // The last bucket ends at 2^64, so subtract before the sum can wrap.
  return (step << shift) + ((std::uint64_t{1} << shift) - 1);
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets, 0) {}

void Histogram::record(std::uint64_t value, std::uint64_t times) noexcept {
  if (times == 0) return;
  buckets_[bucket_of(value)] += times;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(times);
}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

void Histogram::clear() noexcept {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  count_ = 0;
  min_ = UINT64_MAX;
  max_ = 0;
  sum_ = 0;
}

std::uint64_t Histogram::quantile(double q) const noexcept {
  if (count_ == 0) return 0;
  if (!(q > 0)) return min_;
  if (q >= 1) return max_;
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t i = bucket_of(min_); i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return std::min(last_value_of(i), max_);
  }
  return max_;
}

std::uint64_t Histogram::count_from(std::uint64_t value) const noexcept {
  return std::accumulate(buckets_.begin() + static_cast<std::ptrdiff_t>(bucket_of(value)),
                         buckets_.end(), std::uint64_t{0});
}

double Histogram::mean() const noexcept {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

}  // namespace leat
