// What      Product<Outer, Inner>: the time of a nested scope: when outside, and which round
//           inside.
// Invariants
//   (1) `less_equal` goes by component: (0, 1) and (1, 0) are not comparable.
//   (2) `<` is lexicographic, which is a linear extension of (1).
// Limits    Both parts need `<=>`.
// Source    Timely Dataflow's `order::Product`.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <tuple>
#include <type_traits>

#include <leat/base/codec/codec.hpp>
#include <leat/base/fields.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/print.hpp>
#include <leat/progress/time_hash.hpp>

namespace leat::progress {

template <class Outer, class Inner>
struct Product {
  Outer outer{};
  Inner inner{};

  auto operator<=>(const Product&) const = default;

  /// Writes `(outer, inner)`.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const Product& time) {
    out << "(";
    print_time(out, time.outer);
    out << ", ";
    print_time(out, time.inner);
    out << ")";
    return out;
  }
};

template <class Outer, class Inner>
Product(Outer, Inner) -> Product<Outer, Inner>;

/// The members, for codecs and the like.
template <class Outer, class Inner>
[[nodiscard]] constexpr auto leat_fields(std::type_identity<Product<Outer, Inner>>) {
  using Time = Product<Outer, Inner>;
  return std::tuple{Field{"outer", &Time::outer}, Field{"inner", &Time::inner}};
}

/// By component; total only if one side is `Unit` and the other total.
template <class Outer, class Inner>
struct Order<Product<Outer, Inner>> {
  static constexpr bool is_total = Order<Outer>::is_total && Order<Inner>::is_total &&
                                   (std::same_as<Outer, Unit> || std::same_as<Inner, Unit>);
  [[nodiscard]] static constexpr bool less_equal(const Product<Outer, Inner>& a,
                                                 const Product<Outer, Inner>& b) {
    return Order<Outer>::less_equal(a.outer, b.outer) && Order<Inner>::less_equal(a.inner, b.inner);
  }
};

template <class Outer, class Inner>
struct TimeHash<Product<Outer, Inner>> {
  [[nodiscard]] constexpr std::uint64_t operator()(const Product<Outer, Inner>& time) const {
    return hash_combine(TimeHash<Outer>{}(time.outer), TimeHash<Inner>{}(time.inner));
  }
};

}  // namespace leat::progress

template <class Outer, class Inner>
struct std::hash<leat::progress::Product<Outer, Inner>> {
  std::size_t operator()(const leat::progress::Product<Outer, Inner>& time) const {
    return static_cast<std::size_t>(
        leat::progress::TimeHash<leat::progress::Product<Outer, Inner>>{}(time));
  }
};

/// The outer time, then the inner one.
template <class Outer, class Inner>
  requires leat::Encodable<Outer> && leat::Encodable<Inner>
struct leat::Codec<leat::progress::Product<Outer, Inner>> {
  static constexpr std::size_t kBytesMin = Codec<Outer>::kBytesMin + Codec<Inner>::kBytesMin;
  static void encode(ByteSink& sink, const progress::Product<Outer, Inner>& time) {
    Codec<Outer>::encode(sink, time.outer);
    Codec<Inner>::encode(sink, time.inner);
  }
  [[nodiscard]] static bool decode(ByteSource& from, progress::Product<Outer, Inner>& to) {
    return Codec<Outer>::decode(from, to.outer) && Codec<Inner>::decode(from, to.inner);
  }
};
