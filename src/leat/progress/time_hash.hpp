// What      TimeHash<T>: the hash of a time. The types that Leat ships have one that is the same on
//           every machine; any other type uses its `std::hash`.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>

#include <leat/base/hash.hpp>
#include <leat/progress/order.hpp>

namespace leat::progress {

template <class T>
struct TimeHash {
  [[nodiscard]] std::uint64_t operator()(const T& time) const {
    return mix64(static_cast<std::uint64_t>(std::hash<T>{}(time)));
  }
};

template <std::integral T>
struct TimeHash<T> {
  [[nodiscard]] constexpr std::uint64_t operator()(const T& time) const noexcept {
    return mix64(static_cast<std::uint64_t>(time));
  }
};

template <std::integral Rep, class Period>
struct TimeHash<std::chrono::duration<Rep, Period>> {
  [[nodiscard]] constexpr std::uint64_t operator()(
      const std::chrono::duration<Rep, Period>& time) const noexcept {
    return mix64(static_cast<std::uint64_t>(time.count()));
  }
};

template <>
struct TimeHash<Unit> {
  [[nodiscard]] constexpr std::uint64_t operator()(const Unit&) const noexcept { return mix64(1); }
};

template <class A, class B>
struct TimeHash<std::pair<A, B>> {
  [[nodiscard]] constexpr std::uint64_t operator()(const std::pair<A, B>& time) const {
    return hash_combine(TimeHash<A>{}(time.first), TimeHash<B>{}(time.second));
  }
};

}  // namespace leat::progress
