// What      ChangeBatch<T>: a bag of (value, difference) that puts equal values together when it
//           pays, or when asked. All progress is written down, moved and sent in these.
// Invariants
//   (1) The first `clean_` entries are sorted, their values distinct and their differences not
//       zero.
//   (2) Entries behind those are what came since; nothing of them is lost, and nobody sees them
//       unconsolidated except through `is_dirty` and `stored`.
// Limits    Questions about the content (`is_empty`, `size`, iteration) may consolidate and so are
//           not const. A callback must not touch the batch that calls it. Differences that overflow
//           64 bits are not detected.
// Cost      `update`: a compare with the last entry and an append; nothing is allocated up to N
//           entries. A batch above 32 entries consolidates itself when half of it is new, so it
//           takes at most about twice the memory of what it holds, at an amortised logarithmic
//           cost.
// Source    Timely Dataflow's `ChangeBatch`; that an append in ascending order stays clean is ours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <leat/base/small_vector.hpp>

namespace leat::progress {

/// A value and by how much its count changed. Binds as `auto& [value, diff]`.
template <class T>
struct Change {
  T value{};
  std::int64_t diff = 0;

  friend bool operator==(const Change&, const Change&) = default;
};

/// See the head of this file. `T` needs `<` and `==`; N is how many entries need no allocation.
template <class T, std::size_t N = 2>
class ChangeBatch {
 public:
  ChangeBatch() = default;
  ChangeBatch(T value, std::int64_t diff) { update(std::move(value), diff); }

  /// Adds `diff` to the count of `value`.
  void update(T value, std::int64_t diff) {
    if (!changes_.empty()) {
      Change<T>& last = changes_.back();
      if (last.value == value) {
        last.diff += diff;
        if (last.diff == 0) {
          changes_.pop_back();
          if (clean_ > changes_.size()) clean_ = changes_.size();
        }
        return;
      }
      if (diff == 0) return;
      // Times tend to come in ascending order, and then nothing needs sorting later.
      if (clean_ == changes_.size() && last.value < value) ++clean_;
    } else {
      if (diff == 0) return;
      clean_ = 1;
    }
    changes_.push_back({std::move(value), diff});
    if (changes_.size() > kAutoCompactAbove && changes_.size() / 2 >= clean_) compact();
  }

  /// Adds every (value, difference) of `changes`, each a pair or a `Change`.
  template <class Range>
  void extend(Range&& changes) {
    for (auto&& [value, diff] : changes) update(value, diff);
  }

  /// Calls `f(value, difference)` for each value with a difference, in ascending order, then is
  /// empty.
  template <class F>
  void drain(F&& f) {
    compact();
    for (auto& [value, diff] : changes_) f(std::move(value), std::int64_t{diff});
    clear();
  }

  /// Moves everything into `target`; without looking at it if `target` has nothing.
  template <std::size_t M>
  void drain_into(ChangeBatch<T, M>& target) {
    if constexpr (M == N) {
      if (target.changes_.empty()) {
        std::swap(changes_, target.changes_);
        std::swap(clean_, target.clean_);
        return;
      }
    }
    for (auto& [value, diff] : changes_) target.update(std::move(value), diff);
    clear();
  }

  /// True if all differences cancel. May consolidate.
  [[nodiscard]] bool is_empty() {
    // Each new entry can cancel one clean entry at most.
    if (clean_ > changes_.size() / 2) return false;
    compact();
    return changes_.empty();
  }

  /// The number of values whose differences do not cancel. Consolidates.
  [[nodiscard]] std::size_t size() {
    compact();
    return changes_.size();
  }

  /// The consolidated content in ascending order, until the next change. Consolidates.
  [[nodiscard]] std::span<const Change<T>> changes() {
    compact();
    return {changes_.data(), changes_.size()};
  }
  [[nodiscard]] auto begin() { return changes().data(); }
  [[nodiscard]] auto end() {
    compact();
    return static_cast<const Change<T>*>(changes_.data()) + changes_.size();
  }

  /// True if entries wait to be consolidated.
  [[nodiscard]] bool is_dirty() const noexcept { return changes_.size() > clean_; }

  /// The number of entries held, consolidated or not.
  [[nodiscard]] std::size_t stored() const noexcept { return changes_.size(); }

  /// Forgets everything; keeps the memory.
  void clear() noexcept {
    changes_.clear();
    clean_ = 0;
  }

  /// Puts equal values together and drops what cancels. Allocates nothing.
  void compact() {
    if (clean_ < changes_.size()) consolidate();
  }

 private:
  template <class U, std::size_t M>
  friend class ChangeBatch;  // drain_into moves between batches of different inline sizes

  static constexpr std::size_t kAutoCompactAbove = 32;
  static constexpr std::size_t kInsertionSortUpTo = 16;

  void consolidate() {
    Change<T>* const first = changes_.data();
    Change<T>* const last = first + changes_.size();
    if (changes_.size() <= kInsertionSortUpTo) {
      for (Change<T>* next = first + std::max<std::size_t>(clean_, 1); next < last; ++next) {
        if (!(next->value < next[-1].value)) continue;
        Change<T> moving = std::move(*next);
        Change<T>* hole = next;
        do {
          *hole = std::move(hole[-1]);
          --hole;
        } while (hole != first && moving.value < hole[-1].value);
        *hole = std::move(moving);
      }
    } else {
      std::sort(first, last,
                [](const Change<T>& a, const Change<T>& b) { return a.value < b.value; });
    }
    Change<T>* kept = first;
    for (Change<T>* next = first; next != last;) {
      Change<T>* const run = next;
      std::int64_t sum = 0;
      for (; next != last && next->value == run->value; ++next) sum += next->diff;
      if (sum == 0) continue;
      if (kept != run) kept->value = std::move(run->value);
      kept->diff = sum;
      ++kept;
    }
    changes_.erase(changes_.begin() + (kept - first), changes_.end());
    clean_ = changes_.size();
  }

  SmallVector<Change<T>, N> changes_;
  std::size_t clean_ = 0;
};

}  // namespace leat::progress
