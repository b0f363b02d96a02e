// What      When a message is: one time, or several that are not comparable.
// Shape     One time stands in the stamp itself; more go to the heap. All but capability sets make
//           one.
// Invariants  (1) Never empty. (2) Progress counts a message's records once for each of its times.
// Source    Timely Dataflow after 0.29 (messages stamped by a multiset of times).
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>

namespace leat::dataflow {

template <class T>
class Stamp {
 public:
  Stamp() = default;
  explicit Stamp(T time) : first_(std::move(time)) {}

  /// Requires: `times` is not empty and its members are not comparable with each other.
  explicit Stamp(std::span<const T> times) : first_(times.front()) {
    LEAT_DCHECK(!times.empty(), "a message without a time would never be accounted for");
    if (times.size() > 1) all_ = std::make_unique<const Times>(times.begin(), times.end());
  }

  Stamp(const Stamp& other) : first_(other.first_) {
    if (other.all_) [[unlikely]]
      all_ = std::make_unique<const Times>(*other.all_);
  }
  Stamp& operator=(const Stamp& other) {
    if (single() && other.single()) [[likely]] {
      first_ = other.first_;
    } else if (this != &other) {
      *this = Stamp(other);
    }
    return *this;
  }
  /// Leaves the first time there.
  Stamp(Stamp&&) noexcept = default;
  Stamp& operator=(Stamp&&) noexcept = default;
  ~Stamp() = default;

  [[nodiscard]] bool single() const noexcept { return all_ == nullptr; }
  [[nodiscard]] std::span<const T> times() const noexcept {
    if (single()) [[likely]]
      return {&first_, 1};
    return {all_->data(), all_->size()};
  }

  /// The first of the times; the only one if `single()`.
  [[nodiscard]] const T& first() const noexcept { return first_; }

  /// The stamp with each time changed by `f`.
  template <class F>
  [[nodiscard]] auto mapped(F&& f) const {
    using To = std::decay_t<decltype(f(first_))>;
    if (single()) [[likely]]
      return Stamp<To>(f(first_));
    std::vector<To> changed;
    for (const T& time : times()) changed.push_back(f(time));
    return Stamp<To>(std::span<const To>(changed));
  }

  friend bool operator==(const Stamp& a, const Stamp& b) {
    if (a.single() && b.single()) [[likely]]
      return a.first_ == b.first_;
    return std::equal(a.times().begin(), a.times().end(), b.times().begin(), b.times().end());
  }

 private:
  using Times = std::vector<T>;

  T first_{};
  std::unique_ptr<const Times> all_;  // if there are several
};

}  // namespace leat::dataflow
