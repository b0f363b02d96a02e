// What      draw<T>(rng, range): random times of `T`, with about `range` values a coordinate. With
//           a small range they meet, and the interesting cases are where times meet.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <utility>

#include <leat/base/rng.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/product.hpp>

namespace leat::property {

template <class T>
struct Draw;

template <std::integral T>
struct Draw<T> {
  static T time(Rng& rng, std::uint64_t range) { return static_cast<T>(rng.below(range)); }
};
template <>
struct Draw<progress::Unit> {
  static progress::Unit time(Rng&, std::uint64_t) { return {}; }
};
template <class Rep, class Period>
struct Draw<std::chrono::duration<Rep, Period>> {
  static auto time(Rng& rng, std::uint64_t range) {
    return std::chrono::duration<Rep, Period>(static_cast<Rep>(rng.below(range)));
  }
};
template <class A, class B>
struct Draw<std::pair<A, B>> {
  static std::pair<A, B> time(Rng& rng, std::uint64_t range) {
    auto first = Draw<A>::time(rng, range);
    return {first, Draw<B>::time(rng, range)};
  }
};
template <class A, class B>
struct Draw<progress::Product<A, B>> {
  static progress::Product<A, B> time(Rng& rng, std::uint64_t range) {
    auto outer = Draw<A>::time(rng, range);
    return {outer, Draw<B>::time(rng, range)};
  }
};

template <class T>
T draw(Rng& rng, std::uint64_t range) {
  return Draw<T>::time(rng, range);
}

/// `time` with `by` added to each coordinate.
template <std::integral T>
T shifted(T time, std::uint64_t by) {
  return static_cast<T>(time + static_cast<T>(by));
}
template <class A, class B>
progress::Product<A, B> shifted(const progress::Product<A, B>& time, std::uint64_t by) {
  return {shifted(time.outer, by), shifted(time.inner, by)};
}
template <class A, class B>
std::pair<A, B> shifted(const std::pair<A, B>& time, std::uint64_t by) {
  return {shifted(time.first, by), shifted(time.second, by)};
}

/// A small difference of a count, in [-2, 2].
inline std::int64_t draw_diff(Rng& rng) { return static_cast<std::int64_t>(rng.below(5)) - 2; }

}  // namespace leat::property
