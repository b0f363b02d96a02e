// What      Partial orders as values: what it means that one time may still lead to another.
// Invariants
//   (1) `less_equal` is a partial order whose equality is `==`.
//   (2) `operator<` is a linear extension: `less_equal(a, b)` and `a != b` imply `a < b`.
//       Worklists, batches and antichains sort by it. If `is_total`, the two orders are the same.
// Limits    A type of one's own takes part by specialising `Order`; where a type has two natural
//           orders (a pair: lexicographic or by component) the type says which, so there are
//           `std::pair` and `Product`.
// Source    Timely Dataflow's `order::{PartialOrder, TotalOrder}`.
#pragma once

#include <chrono>
#include <concepts>
#include <utility>
#include <variant>

namespace leat::progress {

/// The timestamp of a dataflow that has no time: one value.
using Unit = std::monostate;

/// The partial order of `T`: `less_equal(a, b)`, and whether any two values are comparable
/// (`is_total`).
template <class T>
struct Order;

/// A type with a partial order that its `operator<` extends.
template <class T>
concept PartiallyOrdered = std::totally_ordered<T> && requires(const T& a, const T& b) {
  { Order<T>::less_equal(a, b) } -> std::same_as<bool>;
  requires std::same_as<decltype(Order<T>::is_total), const bool>;
};

/// True if `a` may lead to `b`: it is the same or earlier.
template <class T>
[[nodiscard]] constexpr bool less_equal(const T& a, const T& b) {
  return Order<T>::less_equal(a, b);
}

/// True if `a` is strictly earlier than `b`.
template <class T>
[[nodiscard]] constexpr bool less_than(const T& a, const T& b) {
  if constexpr (Order<T>::is_total) {
    return a < b;
  } else {
    return !(a == b) && Order<T>::less_equal(a, b);
  }
}

template <std::integral T>
struct Order<T> {
  static constexpr bool is_total = true;
  [[nodiscard]] static constexpr bool less_equal(const T& a, const T& b) noexcept { return a <= b; }
};

template <std::integral Rep, class Period>
struct Order<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static constexpr bool is_total = true;
  [[nodiscard]] static constexpr bool less_equal(const Duration& a, const Duration& b) noexcept {
    return a <= b;
  }
};

template <>
struct Order<Unit> {
  static constexpr bool is_total = true;
  [[nodiscard]] static constexpr bool less_equal(const Unit&, const Unit&) noexcept { return true; }
};

/// Lexicographic: the second members count only where the first are equal.
template <class A, class B>
struct Order<std::pair<A, B>> {
  static constexpr bool is_total = Order<A>::is_total && Order<B>::is_total;
  [[nodiscard]] static constexpr bool less_equal(const std::pair<A, B>& a,
                                                 const std::pair<A, B>& b) {
    return a.first == b.first ? Order<B>::less_equal(a.second, b.second)
                              : Order<A>::less_equal(a.first, b.first);
  }
};

}  // namespace leat::progress
