// What      Antichain<T>: the minimal elements of a set of times. As a frontier it says which times
//           may still come: those that some element is less than or equal to.
// Invariants
//   (1) No element is less than or equal to another.
//   (2) A <= B iff every element of B has one of A that is less than or equal to it. So the empty
//       antichain is the greatest: nothing more comes.
// Limits    `AntichainRef` views times that somebody else keeps and trusts them to satisfy (1).
// Cost      A frontier of a totally ordered time has at most one element and allocates nothing.
// Source    Timely Dataflow's `Antichain` and `AntichainRef`.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <utility>

#include <leat/base/small_vector.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/print.hpp>
#include <leat/progress/time_hash.hpp>

namespace leat::progress {

template <class T>
class Antichain;

/// A view of mutually incomparable times, with the questions that one asks a frontier. Cheap to
/// copy.
template <class T>
class AntichainRef {
 public:
  constexpr AntichainRef() = default;
  /// Requires: `elements` are mutually incomparable and outlive the view.
  constexpr explicit AntichainRef(std::span<const T> elements) noexcept : elements_(elements) {}

  [[nodiscard]] constexpr std::span<const T> elements() const noexcept { return elements_; }
  [[nodiscard]] constexpr auto begin() const noexcept { return elements_.begin(); }
  [[nodiscard]] constexpr auto end() const noexcept { return elements_.end(); }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return elements_.empty(); }
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const { return elements_[index]; }

  /// True if some element is less than or equal to `time`: it may still come.
  [[nodiscard]] constexpr bool less_equal(const T& time) const {
    for (const T& element : elements_) {
      if (Order<T>::less_equal(element, time)) return true;
    }
    return false;
  }
  /// True if some element is strictly less than `time`.
  [[nodiscard]] constexpr bool less_than(const T& time) const {
    for (const T& element : elements_) {
      if (progress::less_than(element, time)) return true;
    }
    return false;
  }

  /// The one element, or null if empty.
  [[nodiscard]] constexpr const T* as_option() const noexcept
    requires(Order<T>::is_total)
  {
    return elements_.empty() ? nullptr : elements_.data();
  }

  [[nodiscard]] Antichain<T> to_owned() const;

  /// Equal as sets.
  [[nodiscard]] friend constexpr bool operator==(AntichainRef a, AntichainRef b) {
    if (a.size() != b.size()) return false;
    for (const T& element : a) {
      if (std::find(b.begin(), b.end(), element) == b.end()) return false;
    }
    return true;
  }
  /// Invariant (2); two antichains may be unordered.
  [[nodiscard]] friend constexpr std::partial_ordering operator<=>(AntichainRef a, AntichainRef b) {
    const bool less = a.dominates(b);
    const bool greater = b.dominates(a);
    if (less) return greater ? std::partial_ordering::equivalent : std::partial_ordering::less;
    return greater ? std::partial_ordering::greater : std::partial_ordering::unordered;
  }

  /// Writes `{a, b}`.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      AntichainRef antichain) {
    out << "{";
    const char* between = "";
    for (const T& element : antichain) {
      out << between;
      print_time(out, element);
      between = ", ";
    }
    out << "}";
    return out;
  }

  /// True if this is less than or equal to `other`: every time of `other` may come here.
  [[nodiscard]] constexpr bool dominates(AntichainRef other) const {
    return std::all_of(other.begin(), other.end(),
                       [this](const T& time) { return less_equal(time); });
  }

 private:
  std::span<const T> elements_;
};

/// See the head of this file.
template <class T>
class Antichain {
 public:
  Antichain() = default;
  explicit Antichain(T element) { elements_.push_back(std::move(element)); }
  /// Keeps the minimal ones of `elements`.
  Antichain(std::initializer_list<T> elements) { extend(elements); }

  /// Adds `time` and drops the elements that it makes superfluous.
  ///
  /// Returns: false, and nothing changes, if some element is less than or equal to `time`.
  bool insert(T time) {
    if (less_equal(time)) return false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if (Order<T>::less_equal(time, elements_[i])) continue;
      if (kept != i) elements_[kept] = std::move(elements_[i]);
      ++kept;
    }
    elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(kept), elements_.end());
    elements_.push_back(std::move(time));
    return true;
  }

  /// Inserts each of `times`; true if any of them changed the antichain.
  template <class Range>
  bool extend(Range&& times) {
    bool changed = false;
    for (auto&& time : times) changed = insert(time) || changed;
    return changed;
  }

  [[nodiscard]] AntichainRef<T> borrow() const noexcept { return AntichainRef<T>(elements()); }
  operator AntichainRef<T>() const noexcept { return borrow(); }  // NOLINT: a view, as string_view

  [[nodiscard]] std::span<const T> elements() const noexcept {
    return {elements_.data(), elements_.size()};
  }
  [[nodiscard]] auto begin() const noexcept { return elements_.begin(); }
  [[nodiscard]] auto end() const noexcept { return elements_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] bool empty() const noexcept { return elements_.empty(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return elements_[index]; }

  /// True if some element is less than or equal to `time`.
  [[nodiscard]] bool less_equal(const T& time) const { return borrow().less_equal(time); }
  /// True if some element is strictly less than `time`.
  [[nodiscard]] bool less_than(const T& time) const { return borrow().less_than(time); }
  /// True if this is less than or equal to `other` as antichains.
  [[nodiscard]] bool dominates(AntichainRef<T> other) const { return borrow().dominates(other); }

  /// The one element, or null if empty.
  [[nodiscard]] const T* as_option() const noexcept
    requires(Order<T>::is_total)
  {
    return borrow().as_option();
  }

  /// Puts the elements into ascending order of `<`; the antichain stays the same.
  void sort() { std::sort(elements_.begin(), elements_.end()); }

  void clear() noexcept { elements_.clear(); }

  /// The same for equal antichains, in whatever order their elements came.
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t sum = elements_.size();
    for (const T& element : elements_) sum += mix64(TimeHash<T>{}(element));
    return mix64(sum);
  }

  // Both take two owners exactly, so that a view on either side is compared by AntichainRef's.
  [[nodiscard]] friend bool operator==(const Antichain& a, const Antichain& b) {
    return a.borrow() == b.borrow();
  }
  [[nodiscard]] friend std::partial_ordering operator<=>(const Antichain& a, const Antichain& b) {
    return a.borrow() <=> b.borrow();
  }

  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const Antichain& antichain) {
    return out << antichain.borrow();
  }

 private:
  SmallVector<T, 1> elements_;
};

template <class T>
Antichain<T> AntichainRef<T>::to_owned() const {
  Antichain<T> owned;
  owned.extend(elements_);
  return owned;
}

}  // namespace leat::progress

template <class T>
struct std::hash<leat::progress::Antichain<T>> {
  std::size_t operator()(const leat::progress::Antichain<T>& antichain) const {
    return static_cast<std::size_t>(antichain.hash());
  }
};
