// What      A time as text for reports, whatever its type: one that has no text of its own is named
//           as such.
#pragma once

#include <chrono>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include <leat/progress/print.hpp>
#include <leat/progress/product.hpp>

namespace leat::progress {

namespace internal {
template <class T>
inline constexpr bool kHasText = requires(std::ostream& out, const T& time) { out << time; };
template <>
inline constexpr bool kHasText<Unit> = true;
template <class Rep, class Period>
inline constexpr bool kHasText<std::chrono::duration<Rep, Period>> = true;
template <class A, class B>
inline constexpr bool kHasText<std::pair<A, B>> = kHasText<A> && kHasText<B>;
template <class A, class B>
inline constexpr bool kHasText<Product<A, B>> = kHasText<A> && kHasText<B>;
}  // namespace internal

template <class T>
[[nodiscard]] std::string time_text(const T& time) {
  if constexpr (internal::kHasText<T>) {
    std::ostringstream out;
    print_time(out, time);
    return out.str();
  } else {
    return "(no text)";
  }
}

}  // namespace leat::progress
