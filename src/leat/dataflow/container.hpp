// What      What a batch of records is. `std::vector<Record>` unless an author says otherwise.
// Invariants  (1) `size()` counts records: what progress adds at the sender it takes away at the
//             receiver, so splitting and joining batches must keep the sum.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::dataflow {

template <class C>
concept Container =
    std::default_initializable<C> && std::movable<C> && requires(C c, const C& read) {
      typename C::value_type;
      { read.size() } -> std::convertible_to<std::size_t>;
      c.clear();
    };

template <Container C>
using RecordOf = typename C::value_type;

/// Whether a value can be copied. A range is asked for its elements too: `std::vector<T>` has a
/// copy constructor whatever `T` is.
template <class T>
struct IsCopyable : std::is_copy_constructible<T> {};
template <std::ranges::range T>
  requires(!std::ranges::view<T> && !std::same_as<std::ranges::range_value_t<T>, T>)
struct IsCopyable<T> : std::bool_constant<std::is_copy_constructible_v<T> &&
                                          IsCopyable<std::ranges::range_value_t<T>>::value> {};
template <class A, class B>
struct IsCopyable<std::pair<A, B>>
    : std::bool_constant<IsCopyable<A>::value && IsCopyable<B>::value> {};
template <class... Ts>
struct IsCopyable<std::tuple<Ts...>> : std::bool_constant<(IsCopyable<Ts>::value && ...)> {};

template <class T>
concept Copyable = IsCopyable<T>::value;

/// Batches that can go to several consumers.
template <class C>
concept CopyableContainer = Container<C> && Copyable<C> && Copyable<RecordOf<C>>;

/// How many records a batch holds before it is sent on: 8 KiB worth of them, at least one.
template <class Record>
inline constexpr std::size_t kBatchRecords = sizeof(Record) >= 8192 ? 1 : 8192 / sizeof(Record);

/// How many records an operator that makes many of few sends before others get their turn.
template <class Record>
inline constexpr std::size_t kRecordsPerActivation = 32 * kBatchRecords<Record>;

}  // namespace leat::dataflow
