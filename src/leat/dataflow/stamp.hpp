// What      When a message is: one time, or several that are not comparable.
// Shape     One time stands in the stamp itself; more go to the heap. All but capability sets make
//           one.
// Invariants  (1) Never empty. (2) Progress counts a message's records once for each of its times.
// Source    Timely Dataflow after 0.29 (messages stamped by a multiset of times).
#pragma once

#include <span>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/small_vector.hpp>

namespace leat::dataflow {

template <class T>
class Stamp {
 public:
  Stamp() : times_(1) {}
  explicit Stamp(T time) { times_.push_back(std::move(time)); }

  /// Requires: `times` is not empty and its members are not comparable with each other.
  explicit Stamp(std::span<const T> times) : times_(times.begin(), times.end()) {
    LEAT_DCHECK(!times.empty(), "a message without a time would never be accounted for");
  }

  [[nodiscard]] bool single() const noexcept { return times_.size() == 1; }
  [[nodiscard]] std::span<const T> times() const noexcept { return {times_.data(), times_.size()}; }

  /// The first of the times; the only one if `single()`.
  [[nodiscard]] const T& first() const noexcept { return times_.front(); }

  /// The stamp with each time changed by `f`.
  template <class F>
  [[nodiscard]] auto mapped(F&& f) const {
    using To = std::decay_t<decltype(f(first()))>;
    if (single()) return Stamp<To>(f(first()));
    SmallVector<To, 4> changed;
    for (const T& time : times_) changed.push_back(f(time));
    return Stamp<To>(std::span<const To>(changed.data(), changed.size()));
  }

  friend bool operator==(const Stamp& a, const Stamp& b) { return a.times_ == b.times_; }

 private:
  SmallVector<T, 1> times_;
};

}  // namespace leat::dataflow
