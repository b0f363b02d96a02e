// What      SeqlockArray<T>: the last value for each of a fixed number of indices, such as the price
//           of each instrument. Any number of writers and readers, of any processes.
// Shape     count records of last_value.hpp, each on cache lines of its own; zeros are an array in
//           which nothing was written.
// Limits    T is bytes that mean the same everywhere: no pointers in it. What a hostile process
//           writes into a shared array is taken for a T.
// Cost      Read: the lines of one record, and no store. Write: one compare-exchange beside them.
// Source    Flux's seqlock array, with bounds, typed opening, and dead writers in nobody's way.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/result.hpp>
#include <leat/queue/cache/last_value.hpp>
#include <leat/queue/cache/opening.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace leat::queue {

/// A handle on an array. The array itself is the segment's.
///
/// Threads: any, but for moving and destroying the handle.
template <WordCopyable T>
class SeqlockArray {
  using Record = internal::LastValue<T>;

 public:
  /// Opens an array of `count` values. Where one is there already it may have more: `size()` says.
  ///
  /// Errors: what Segment says; a `count` of 0, unless it joins or observes: any size will do then.
  [[nodiscard]] static Result<SeqlockArray> open(const Where& where, std::size_t count) {
    const bool makes = where.opening != Opening::join && where.opening != Opening::observe;
    if (count == 0 && makes) {
      return Error{"seqlock array: asked for 0 values; take at least one"};
    }
    auto bytes = internal::payload_bytes("seqlock array", 0, internal::kLastValueStride<T>, count);
    if (!bytes) return bytes.error();
    auto segment = internal::open_segment(where,
                                          {.kind = "seqlock_array",
                                           .type = core::segment_type<T>(),
                                           .stride = internal::kLastValueStride<T>,
                                           .count = count,
                                           .payload_bytes = *bytes},
                                          {});
    if (!segment) return segment.error();
    if (auto fits = internal::check_payload(*segment, 0, internal::kLastValueStride<T>); !fits) {
      return fits.error();
    }
    return SeqlockArray(std::move(*segment));
  }

  /// Stores the last value of `index`.
  ///
  /// Returns:  `ok`; `out_of_range`; `busy` if another writer holds the record, alive, for long.
  /// Requires: not an observer; checked.
  /// Ordering: what the caller did before is visible to whoever reads this value.
  Write write(std::size_t index, const T& value) noexcept {
    return with_hold(index, [&](auto& hold) { hold.write(value); });
  }

  /// Takes the last value of `index` away.
  Write clear(std::size_t index) noexcept {
    return with_hold(index, [](auto& hold) {
      hold.begin();
      hold.end(true);
    });
  }

  /// Reads the last value of `index`, and which it is: versions of an index count its writes and
  /// clears.
  ///
  /// Returns: `ok`; `none`; `out_of_range`; `busy` if it is overwritten all the time. `into` has no
  ///          value to speak of unless `ok`.
  Look read(std::size_t index, T& into, std::uint64_t* version = nullptr) const noexcept {
    if (index >= size_) return Look::out_of_range;
    std::uint64_t found = 0;
    const Look look = record(index).read(&into, &found);
    if (version != nullptr) *version = found;
    return look;
  }

  /// How often `index` was written or cleared; 0 out of range.
  [[nodiscard]] std::uint64_t version(std::size_t index) const noexcept {
    return index < size_ ? record(index).version() : 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const core::Segment& segment() const noexcept { return segment_; }
  [[nodiscard]] core::Segment& segment() noexcept { return segment_; }

 private:
  explicit SeqlockArray(core::Segment segment) noexcept
      : segment_(std::move(segment)),
        records_(segment_.payload().data()),
        size_(segment_.spec().count) {}

  Record& record(std::size_t index) const noexcept {
    return *reinterpret_cast<Record*>(records_ + index * internal::kLastValueStride<T>);
  }

  template <class Act>
  Write with_hold(std::size_t index, const Act& act) noexcept {
    LEAT_CHECK(!segment_.is_observer(), "an observer writes into a seqlock array");
    if (index >= size_) return Write::out_of_range;
    auto hold = record(index).hold(segment_.self().word(), [this](std::uint64_t id) {
      return internal::is_dead(segment_, id);
    });
    if (!hold) return Write::busy;
    act(hold);
    return Write::ok;
  }

  core::Segment segment_;
  std::byte* records_;
  std::size_t size_;
};

/// Visits what has changed in an array since the visit before.
///
/// Threads: one at a time.
template <WordCopyable T>
class SeqlockArrayWatch {
 public:
  /// Requires: `array` outlives the watch.
  explicit SeqlockArrayWatch(const SeqlockArray<T>& array) : array_(array), seen_(array.size()) {}

  /// Calls `visit(index, look, value, version)` for each index that has changed; `look` is `none` if
  /// it was cleared, and `value` has no value to speak of then. What is `busy` is left to the next
  /// time.
  ///
  /// Returns: how many were visited.
  template <class Visit>
  std::size_t visit(const Visit& visit) {
    std::size_t visited = 0;
    PrivateCopy<T> copy;
    for (std::size_t index = 0; index < seen_.size(); ++index) {
      if (array_.version(index) == seen_[index]) continue;
      std::uint64_t version = 0;
      const Look look = array_.read(index, *copy.place(), &version);
      if (look == Look::busy) continue;
      seen_[index] = version;
      visit(index, look, copy.value(), version);
      ++visited;
    }
    return visited;
  }

 private:
  const SeqlockArray<T>& array_;
  std::vector<std::uint64_t> seen_;
};

}  // namespace leat::queue
