// What      A time or record as text, for messages that a person reads.
#pragma once

#include <chrono>
#include <concepts>
#include <string>
#include <utility>
#include <variant>

#include <leat/progress/product.hpp>

namespace leat::dataflow {

template <class T>
[[nodiscard]] std::string show(const T& value);

namespace internal {
inline std::string show_pair(std::string a, const std::string& b) {
  return "(" + std::move(a) + ", " + b + ")";
}

template <std::integral T>
std::string shown(const T& value) {
  return std::to_string(value);
}
inline std::string shown(const std::string& value) { return value; }
inline std::string shown(const std::monostate&) { return "()"; }
template <class Rep, class Period>
std::string shown(const std::chrono::duration<Rep, Period>& value) {
  return std::to_string(value.count());
}
template <class A, class B>
std::string shown(const std::pair<A, B>& value) {
  return show_pair(show(value.first), show(value.second));
}
template <class A, class B>
std::string shown(const progress::Product<A, B>& value) {
  return show_pair(show(value.outer), show(value.inner));
}
}  // namespace internal

/// `12`, `(3, 4)`; a type that has no text of its own is named as such.
template <class T>
std::string show(const T& value) {
  if constexpr (requires { internal::shown(value); }) {
    return internal::shown(value);
  } else {
    return "(no text)";
  }
}

}  // namespace leat::dataflow
