// What      What makes a type a timestamp: an order with a least element, summaries that say by how
//           much a path advances times at least, and how the times of nested scopes map onto each
//           other.
// Invariants
//   (1) `Summary{}` is the identity: `results_in(Summary{}, t) == t`.
//   (2) `results_in` is monotone in the time and in the summary.
//   (3) `followed_by(a, b)` advances a time exactly as `a` and then `b` do.
//   (4) Nothing wraps. What cannot be represented is `nullopt`: no time comes out of this path.
//   (5) `Refines`: both maps are monotone, `to_outer(to_inner(t)) == t`, and `summarize` never
//       claims more advance than applying the inner summary between the two maps.
// Limits    Unsigned times and products of them keep these laws up to the end of the range, where
//           `nullopt` counts as after everything. Two cases do not. With negative summaries, which
//           signed types can express, `followed_by` may be `nullopt` where a time that is small
//           enough would have stayed in range. And a pair whose second member cannot advance has no
//           successor, although pairs with a later first member have: a pair's second member must
//           stay clear of the end of its range. That times move forward only is the user's
//           obligation where a summary below the identity can be written down.
// Source    Timely Dataflow's `progress::timestamp`; overflow as there.
#pragma once

#include <chrono>
#include <concepts>
#include <limits>
#include <optional>
#include <utility>

#include <leat/progress/order.hpp>
#include <leat/progress/product.hpp>

namespace leat::progress {

/// The least time of `T` (`minimum()`) and the type of its path summaries (`Summary`).
template <class T>
struct TimestampTraits;

template <class T>
using SummaryOf = typename TimestampTraits<T>::Summary;

/// How summaries of `T` act: `results_in(summary, time)` and `followed_by(first, second)`, each
/// `nullopt` where nothing representable comes out.
template <class T>
struct PathSummary;

/// A type that can be the time of a dataflow.
template <class T>
concept Timestamp = std::copyable<T> && PartiallyOrdered<T> && std::copyable<SummaryOf<T>> &&
                    std::default_initializable<SummaryOf<T>> && PartiallyOrdered<SummaryOf<T>> &&
                    requires(const T& time, const SummaryOf<T>& summary) {
                      { TimestampTraits<T>::minimum() } -> std::same_as<T>;
                      {
                        PathSummary<T>::results_in(summary, time)
                      } -> std::same_as<std::optional<T>>;
                      {
                        PathSummary<T>::followed_by(summary, summary)
                      } -> std::same_as<std::optional<SummaryOf<T>>>;
                    };

// --- integers ------------------------------------------------------------------------------------

namespace internal {

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <class T>
concept TimeInteger = std::integral<T> && !std::same_as<T, bool>;

}  // namespace internal

/// The least integer is the least of its range, also of a signed one.
template <internal::TimeInteger T>
struct TimestampTraits<T> {
  using Summary = T;
  [[nodiscard]] static constexpr T minimum() noexcept { return std::numeric_limits<T>::min(); }
};

template <internal::TimeInteger T>
struct PathSummary<T> {
  [[nodiscard]] static constexpr std::optional<T> results_in(const T& summary,
                                                             const T& time) noexcept {
    return internal::checked_add(time, summary);
  }
  [[nodiscard]] static constexpr std::optional<T> followed_by(const T& first,
                                                              const T& second) noexcept {
    return internal::checked_add(first, second);
  }
};

// --- durations -----------------------------------------------------------------------------------

/// Durations count from zero, although their type could go below; a dataflow's time does not.
template <internal::TimeInteger Rep, class Period>
struct TimestampTraits<std::chrono::duration<Rep, Period>> {
  using Summary = std::chrono::duration<Rep, Period>;
  [[nodiscard]] static constexpr Summary minimum() noexcept { return Summary::zero(); }
};

template <internal::TimeInteger Rep, class Period>
struct PathSummary<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  [[nodiscard]] static constexpr std::optional<Duration> results_in(const Duration& summary,
                                                                    const Duration& time) noexcept {
    const auto sum = internal::checked_add<Rep>(time.count(), summary.count());
    if (!sum) return std::nullopt;
    return Duration(*sum);
  }
  [[nodiscard]] static constexpr std::optional<Duration> followed_by(
      const Duration& first, const Duration& second) noexcept {
    return results_in(second, first);
  }
};

// --- no time -------------------------------------------------------------------------------------

template <>
struct TimestampTraits<Unit> {
  using Summary = Unit;
  [[nodiscard]] static constexpr Unit minimum() noexcept { return {}; }
};

template <>
struct PathSummary<Unit> {
  [[nodiscard]] static constexpr std::optional<Unit> results_in(const Unit&, const Unit&) noexcept {
    return Unit{};
  }
  [[nodiscard]] static constexpr std::optional<Unit> followed_by(const Unit&,
                                                                 const Unit&) noexcept {
    return Unit{};
  }
};

// --- pairs and products: member by member --------------------------------------------------------

template <class A, class B>
struct TimestampTraits<std::pair<A, B>> {
  using Summary = std::pair<SummaryOf<A>, SummaryOf<B>>;
  [[nodiscard]] static constexpr std::pair<A, B> minimum() {
    return {TimestampTraits<A>::minimum(), TimestampTraits<B>::minimum()};
  }
};

template <class A, class B>
struct PathSummary<std::pair<A, B>> {
  using Summary = SummaryOf<std::pair<A, B>>;
  [[nodiscard]] static constexpr std::optional<std::pair<A, B>> results_in(
      const Summary& summary, const std::pair<A, B>& time) {
    auto first = PathSummary<A>::results_in(summary.first, time.first);
    if (!first) return std::nullopt;
    auto second = PathSummary<B>::results_in(summary.second, time.second);
    if (!second) return std::nullopt;
    return std::pair<A, B>(std::move(*first), std::move(*second));
  }
  [[nodiscard]] static constexpr std::optional<Summary> followed_by(const Summary& a,
                                                                    const Summary& b) {
    auto first = PathSummary<A>::followed_by(a.first, b.first);
    if (!first) return std::nullopt;
    auto second = PathSummary<B>::followed_by(a.second, b.second);
    if (!second) return std::nullopt;
    return Summary(std::move(*first), std::move(*second));
  }
};

template <class Outer, class Inner>
struct TimestampTraits<Product<Outer, Inner>> {
  using Summary = Product<SummaryOf<Outer>, SummaryOf<Inner>>;
  [[nodiscard]] static constexpr Product<Outer, Inner> minimum() {
    return {TimestampTraits<Outer>::minimum(), TimestampTraits<Inner>::minimum()};
  }
};

template <class Outer, class Inner>
struct PathSummary<Product<Outer, Inner>> {
  using Time = Product<Outer, Inner>;
  using Summary = SummaryOf<Time>;
  [[nodiscard]] static constexpr std::optional<Time> results_in(const Summary& summary,
                                                                const Time& time) {
    auto outer = PathSummary<Outer>::results_in(summary.outer, time.outer);
    if (!outer) return std::nullopt;
    auto inner = PathSummary<Inner>::results_in(summary.inner, time.inner);
    if (!inner) return std::nullopt;
    return Time{std::move(*outer), std::move(*inner)};
  }
  [[nodiscard]] static constexpr std::optional<Summary> followed_by(const Summary& a,
                                                                    const Summary& b) {
    auto outer = PathSummary<Outer>::followed_by(a.outer, b.outer);
    if (!outer) return std::nullopt;
    auto inner = PathSummary<Inner>::followed_by(a.inner, b.inner);
    if (!inner) return std::nullopt;
    return Summary{std::move(*outer), std::move(*inner)};
  }
};

// --- nesting -------------------------------------------------------------------------------------

/// How times of a scope (`Inner`) relate to those of the scope around it (`Outer`): `to_inner`,
/// `to_outer` and `summarize`, which turns a summary of a path inside into one that outside may
/// rely on.
template <class Inner, class Outer>
struct Refines;

/// A timestamp that a scope may use inside a scope that uses `Outer`.
template <class Inner, class Outer>
concept RefinementOf =
    Timestamp<Inner> && Timestamp<Outer> &&
    requires(const Inner& inner, const Outer& outer, const SummaryOf<Inner>& summary) {
      { Refines<Inner, Outer>::to_inner(outer) } -> std::same_as<Inner>;
      { Refines<Inner, Outer>::to_outer(inner) } -> std::same_as<Outer>;
      { Refines<Inner, Outer>::summarize(summary) } -> std::same_as<SummaryOf<Outer>>;
    };

/// Every time refines itself: a region.
template <class T>
struct Refines<T, T> {
  [[nodiscard]] static constexpr T to_inner(const T& time) { return time; }
  [[nodiscard]] static constexpr T to_outer(const T& time) { return time; }
  [[nodiscard]] static constexpr SummaryOf<T> summarize(const SummaryOf<T>& summary) {
    return summary;
  }
};

/// Every time refines no time at all: a dataflow within a worker.
///
/// What enters arrives at `minimum()`, except that for signed integers it arrives at 0: what enters
/// a scope from one without time is round 0, while the scope's own capabilities begin at the least
/// integer.
template <class T>
  requires(!std::same_as<T, Unit>)
struct Refines<T, Unit> {
  [[nodiscard]] static constexpr T to_inner(const Unit&) {
    if constexpr (std::integral<T>) {
      return T{0};
    } else {
      return TimestampTraits<T>::minimum();
    }
  }
  [[nodiscard]] static constexpr Unit to_outer(const T&) { return {}; }
  [[nodiscard]] static constexpr Unit summarize(const SummaryOf<T>&) { return {}; }
};

/// A loop: what enters at `outer` is in the first round.
template <class Outer, class Inner>
  requires(!std::same_as<Outer, Unit>)
struct Refines<Product<Outer, Inner>, Outer> {
  [[nodiscard]] static constexpr Product<Outer, Inner> to_inner(const Outer& time) {
    return {time, TimestampTraits<Inner>::minimum()};
  }
  [[nodiscard]] static constexpr Outer to_outer(const Product<Outer, Inner>& time) {
    return time.outer;
  }
  [[nodiscard]] static constexpr SummaryOf<Outer> summarize(
      const SummaryOf<Product<Outer, Inner>>& summary) {
    return summary.outer;
  }
};

/// A loop whose rounds of one outer time all come before the next outer time.
template <class Outer, class Inner>
  requires(!std::same_as<Outer, Unit>)
struct Refines<std::pair<Outer, Inner>, Outer> {
  [[nodiscard]] static constexpr std::pair<Outer, Inner> to_inner(const Outer& time) {
    return {time, TimestampTraits<Inner>::minimum()};
  }
  [[nodiscard]] static constexpr Outer to_outer(const std::pair<Outer, Inner>& time) {
    return time.first;
  }
  [[nodiscard]] static constexpr SummaryOf<Outer> summarize(
      const SummaryOf<std::pair<Outer, Inner>>& summary) {
    return summary.first;
  }
};

}  // namespace leat::progress
