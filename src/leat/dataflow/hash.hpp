// What      The hash that routes records: std::hash, mixed, so that even keys do not all go to one
//           worker.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include <leat/base/hash.hpp>

namespace leat::dataflow {

namespace internal {
struct HashFn {
  template <class T>
  [[nodiscard]] std::uint64_t operator()(const T& value) const {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return mix64(std::hash<std::string_view>{}(value));
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      return std::apply(
          [this](const auto&... members) {
            std::uint64_t hash = 0;
            ((hash = hash_combine(hash, (*this)(members))), ...);
            return hash;
          },
          value);
    } else {
      static_assert(
          requires { std::hash<T>{}(value); },
          "hash: the type has no std::hash; give a function of your own");
      return mix64(std::hash<T>{}(value));
    }
  }
};
}  // namespace internal

/// A hash of a value that is spread over all its bits.
inline constexpr internal::HashFn hash{};

}  // namespace leat::dataflow
