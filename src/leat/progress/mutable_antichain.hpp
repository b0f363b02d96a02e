// What      MutableAntichain<T>: a multiset of times, and its frontier: the minimal times with a
//           positive count. A tracker keeps what is counted at a port in one, and what that implies
//           in another where times cannot all be compared.
// Shape     Total order: the sorted counts and the index of the first positive one, which is the
//           frontier; 32 bytes for a 64-bit time. Partial order: the sorted counts and the
//           frontier's elements.
// Protocol  `update` changes one count and reports each change of the frontier as (time, +1 or -1),
//           those that join before those that leave, so that a reader who applies them never sees a
//           gap.
// Invariants
//   (1) Counts may be negative for a while and are kept; only positive ones form the frontier.
//   (2) Over any sequence of updates the reported changes sum to the difference of the frontiers.
//   (3) The frontier may advance and retreat.
// Limits    A callback must not touch the antichain that calls it, and what it is given is good
//           during the call only. An `update` may be given a time that lies in `frontier()`.
// Cost      Total order: about sixty instructions an update for the common sequence (one more at a
//           later time, one less at the earliest), which allocates once, for a second time that
//           is outstanding. Partial order: linear in the outstanding times when an element leaves the
//           frontier, else in the frontier.
// Source    Timely Dataflow's `MutableAntichain`. Incremental change in place of its rebuilds is
//           ours, and so is the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <leat/base/small_vector.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/change_batch.hpp>
#include <leat/progress/internal/sorted_counts.hpp>
#include <leat/progress/order.hpp>

namespace leat::progress {

namespace internal {

/// Counts whose frontier is the first positive one.
template <class T>
class TotalCounts {
  using Counts = SortedCounts<T>;

 public:
  /// Requires: `diff` is not 0.
  template <class F>
  void update(const T& time, std::int64_t diff, F& on_change) {
    if (counts_.size() != 0) {
      auto* const entries = counts_.data();
      const std::uint32_t first = counts_.mark();
      if (first != Counts::kNone && entries[first].time == time) {
        const std::int64_t now = Counts::sum(entries[first].count, diff);
        entries[first].count = now;
        if (now <= 0) leave(first, now, time, on_change);
        return;
      }
      if (!(entries[counts_.size() - 1].time < time)) {
        update_anywhere(time, diff, on_change);
        return;
      }
    }
    const std::uint32_t index = counts_.append(time, diff);
    if (diff > 0 && counts_.mark() == Counts::kNone) {
      counts_.set_mark(index);
      on_change(time, 1);
    }
  }

  /// Gives the one entry there is another time, if it is `count` of `from`.
  bool replace_only(const T& from, const T& to, std::int64_t count) {
    if (counts_.size() != 1) return false;
    auto& only = *counts_.data();
    if (only.count != count || count <= 0 || !(only.time == from)) return false;
    only.time = to;
    return true;
  }

  template <class Range, class F>
  void update_all(Range&& changes, F& on_change) {
    std::optional<T> before;
    if (counts_.mark() != Counts::kNone) before = counts_[counts_.mark()].time;
    auto ignore = [](const T&, int) {};
    for (auto&& [time, diff] : changes) {
      if (diff != 0) update(time, diff, ignore);
    }
    const AntichainRef<T> after = frontier();
    if (!after.empty() && before && after[0] == *before) return;
    if (!after.empty()) on_change(after[0], 1);
    if (before) on_change(std::as_const(*before), -1);
  }

  [[nodiscard]] AntichainRef<T> frontier() const noexcept {
    const std::uint32_t first = counts_.mark();
    if (first == Counts::kNone) return {};
    return AntichainRef<T>(std::span<const T>(&counts_[first].time, 1));
  }
  [[nodiscard]] bool empty() const noexcept { return counts_.mark() == Counts::kNone; }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  void clear() noexcept { counts_.clear(); }

 private:
  /// The frontier's count is no longer positive: the next positive one takes over.
  template <class F>
  void leave(std::uint32_t first, std::int64_t now, const T& time, F& on_change) {
    const auto* const entries = std::as_const(counts_).data();
    const std::uint32_t size = counts_.size();
    std::uint32_t next = first + 1;
    while (next < size && entries[next].count <= 0) ++next;
    if (next < size) {
      counts_.set_mark(next);
      on_change(entries[next].time, 1);
    } else {
      counts_.set_mark(Counts::kNone);
    }
    on_change(time, -1);
    if (now == 0) counts_.settle(first);
  }

  template <class F>
  [[gnu::noinline]] void update_anywhere(const T& time, std::int64_t diff, F& on_change) {
    const auto [index, before, now] = counts_.add(time, diff);  // not the frontier's
    if (now == 0) {
      counts_.settle(index);
    } else if (now > 0 && index < counts_.mark()) {
      const std::uint32_t first = counts_.mark();
      counts_.set_mark(index);
      on_change(time, 1);
      if (first != Counts::kNone) on_change(std::as_const(counts_)[first].time, -1);
    }
  }

  Counts counts_;  // its mark is the frontier
};

/// Counts with a frontier of several elements beside them.
template <class T>
class PartialCounts {
  using Counts = SortedCounts<T>;

 public:
  /// Requires: `diff` is not 0.
  template <class F>
  void update(const T& time, std::int64_t diff, F& on_change) {
    const auto [index, before, now] = counts_.add(time, diff);
    if ((before > 0) != (now > 0)) {
      if (now > 0) {
        appear(time, on_change);
      } else {
        vanish(index, on_change);
      }
    }
    if (now == 0) counts_.settle(index);
  }

  template <class Range, class F>
  void update_all(Range&& changes, F& on_change) {
    ChangeBatch<T, 4> net;
    auto note = [&net](const T& time, int by) { net.update(time, by); };
    for (auto&& [time, diff] : changes) {
      if (diff != 0) update(time, diff, note);
    }
    for (const auto& [time, by] : net) {
      if (by > 0) on_change(time, 1);
    }
    for (const auto& [time, by] : net) {
      if (by < 0) on_change(time, -1);
    }
  }

  [[nodiscard]] AntichainRef<T> frontier() const noexcept {
    return AntichainRef<T>(std::span<const T>(frontier_.data(), frontier_.size()));
  }
  [[nodiscard]] bool empty() const noexcept { return frontier_.empty(); }
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  void clear() noexcept {
    counts_.clear();
    frontier_.clear();
  }

 private:
  template <class F>
  void appear(const T& time, F& on_change) {
    if (frontier().less_equal(time)) return;
    on_change(time, 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < frontier_.size(); ++i) {
      if (Order<T>::less_equal(time, frontier_[i])) {
        on_change(std::as_const(frontier_[i]), -1);
        continue;
      }
      if (kept != i) frontier_[kept] = std::move(frontier_[i]);
      ++kept;
    }
    frontier_.erase(frontier_.begin() + static_cast<std::ptrdiff_t>(kept), frontier_.end());
    frontier_.push_back(time);
  }

  template <class F>
  void vanish(std::uint32_t index, F& on_change) {
    const auto* const entries = std::as_const(counts_).data();
    const T& time = entries[index].time;
    const auto found = std::find(frontier_.begin(), frontier_.end(), time);
    if (found == frontier_.end()) return;
    if (found != frontier_.end() - 1) *found = std::move(frontier_.back());
    frontier_.pop_back();
    // What `time` kept out of the frontier comes behind it. In ascending order nothing that joins
    // is greater than anything that follows, so nobody has to leave again.
    for (std::uint32_t next = index + 1; next < counts_.size(); ++next) {
      const auto& [later, count] = entries[next];
      if (count <= 0 || !Order<T>::less_equal(time, later)) continue;
      if (frontier().less_equal(later)) continue;
      frontier_.push_back(later);
      on_change(later, 1);
    }
    on_change(time, -1);
  }

  Counts counts_;
  SmallVector<T, 1> frontier_;
};

}  // namespace internal

/// See the head of this file.
template <class T>
class MutableAntichain {
  using Counts =
      std::conditional_t<Order<T>::is_total, internal::TotalCounts<T>, internal::PartialCounts<T>>;

 public:
  MutableAntichain() = default;
  /// Starts with `count` of `time`, reporting to nobody.
  explicit MutableAntichain(const T& time, std::int64_t count = 1) { update(time, count); }

  /// Adds `diff` to the count of `time` and calls `on_change(const T&, int)` for each change of the
  /// frontier.
  template <class F>
  void update(const T& time, std::int64_t diff, F&& on_change) {
    if (diff != 0) counts_.update(time, diff, on_change);
  }
  /// The same, reporting to nobody.
  void update(const T& time, std::int64_t diff) {
    update(time, diff, [](const T&, int) {});
  }

  /// Turns `count` of `from` into as many of `to`, reporting to nobody, if nothing else is here.
  ///
  /// Returns: whether it did.
  bool replace_only(const T& from, const T& to, std::int64_t count)
    requires(Order<T>::is_total)
  {
    return counts_.replace_only(from, to, count);
  }

  /// Applies each (time, difference) of `changes` and reports the net change of the frontier only.
  template <class Range, class F>
  void update_all(Range&& changes, F&& on_change) {
    counts_.update_all(std::forward<Range>(changes), on_change);
  }

  /// The minimal times with a positive count, until the next change.
  [[nodiscard]] AntichainRef<T> frontier() const noexcept { return counts_.frontier(); }

  /// True if some time of the frontier is less than or equal to `time`.
  [[nodiscard]] bool less_equal(const T& time) const { return frontier().less_equal(time); }
  /// True if some time of the frontier is strictly less than `time`.
  [[nodiscard]] bool less_than(const T& time) const { return frontier().less_than(time); }

  /// True if no count is positive. Negative ones may be there: see `nonzero`.
  [[nodiscard]] bool empty() const noexcept { return counts_.empty(); }

  /// The count of `time`; 0 for one never mentioned.
  [[nodiscard]] std::int64_t count_for(const T& time) const {
    const auto& counts = counts_.counts();
    const std::uint32_t index = counts.find(time);
    return index == std::remove_cvref_t<decltype(counts)>::kNone ? 0 : counts[index].count;
  }

  /// The number of times whose count is not zero, negative ones included: 0 means that nothing is
  /// outstanding.
  [[nodiscard]] std::size_t nonzero() const noexcept { return counts_.counts().nonzero(); }

  /// The number of entries held, which may exceed `nonzero` by those whose removal waits for
  /// others.
  [[nodiscard]] std::size_t stored() const noexcept { return counts_.counts().size(); }

  /// Calls `f(const T&, std::int64_t)` for each time whose count is not zero, in ascending order.
  template <class F>
  void for_each(F&& f) const {
    const auto& counts = counts_.counts();
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
      if (counts[i].count != 0) f(counts[i].time, counts[i].count);
    }
  }

  /// Forgets everything, reporting to nobody, and gives the memory back.
  void clear() noexcept { counts_.clear(); }

 private:
  Counts counts_;
};

static_assert(sizeof(MutableAntichain<std::uint64_t>) <= 32,
              "one per port or two, and graphs have 100 000 ports");

}  // namespace leat::progress
