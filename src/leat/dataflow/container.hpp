// What      What a batch of records is. `std::vector<Record>` unless an author says otherwise
//           (`Batched<C>`): columns, shared batches, or a container of the author's own.
// Protocol  A container has
//             clear()                         forgets its records, and may keep its memory
//             size() or record_count()        how many records it holds
//           and as far as it is to be
//             read      begin() and end(); elements may be views, made when they are asked for
//             written   push_back(record), for each type of record that it takes
//             sized     at_capacity(): ship me; without it, 8 KiB worth of records are enough
// Invariants
//   (1) `record_count` counts records: what progress adds at the sender it takes away at the
//       receiver, so splitting and joining batches must keep the sum.
// Source    Timely Dataflow's container traits; ranges in place of `drain` are ours.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::dataflow {

namespace internal {
struct RecordCountFn {
  template <class C>
    requires requires(const C& batch) { batch.record_count(); } ||
             requires(const C& batch) { batch.size(); }
  [[nodiscard]] constexpr std::size_t operator()(const C& batch) const noexcept {
    if constexpr (requires { batch.record_count(); }) {
      return batch.record_count();
    } else {
      return batch.size();
    }
  }
};
}  // namespace internal

/// How many records a batch holds.
inline constexpr internal::RecordCountFn record_count{};

/// What a message can carry: progress can count it.
template <class C>
concept Container =
    std::default_initializable<C> && std::movable<C> && requires(C c, const C& read) {
      typename C::value_type;
      { record_count(read) } -> std::convertible_to<std::size_t>;
      c.clear();
    };

template <Container C>
using RecordOf = typename C::value_type;

/// A batch whose records can be gone through. Afterwards it is to be cleared, since they may have
/// been moved out.
template <class C>
concept Drainable = Container<C> && std::ranges::input_range<C>;

/// How a record is looked at in its batch: `const Record&`, or a view.
template <Drainable C>
using ReadOf = const std::remove_reference_t<std::ranges::range_reference_t<C>>&;

/// How a record is taken out of its batch: `Record&&`, or a view.
template <Drainable C>
using TakenOf = std::ranges::range_rvalue_reference_t<C>;

/// A batch that absorbs an `R`, whatever it shows its records as.
template <class C, class R>
concept PushInto =
    Container<C> && requires(C batch, R&& record) { batch.push_back(std::forward<R>(record)); };

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
concept CopyableContainer = Container<C> && Copyable<C>;

/// How many records a batch holds before it is sent on: 8 KiB worth of them, at least one.
template <class Record>
inline constexpr std::size_t kBatchRecords = sizeof(Record) >= 8192 ? 1 : 8192 / sizeof(Record);

/// How many records an operator that makes many of few sends before others get their turn.
template <class Record>
inline constexpr std::size_t kRecordsPerActivation = 32 * kBatchRecords<Record>;

namespace internal {
struct AtCapacityFn {
  template <Container C>
  [[nodiscard]] constexpr bool operator()(const C& batch) const noexcept {
    if constexpr (requires { batch.at_capacity(); }) {
      return batch.at_capacity();
    } else {
      return record_count(batch) >= kBatchRecords<RecordOf<C>>;
    }
  }
};
}  // namespace internal

/// Whether a batch holds what is worth sending.
inline constexpr internal::AtCapacityFn at_capacity{};

/// In place of a type of records, where streams are made: records in batches `C`, as in
/// `unary<Batched<C>>(...)` and `Input<Batched<C>>`.
template <Container C>
struct Batched {};

namespace internal {
template <class Out>
struct BatchesFor {
  using Batch = std::vector<Out>;
};
template <class C>
struct BatchesFor<Batched<C>> {
  using Batch = C;
};
}  // namespace internal

/// The batches of a stream made of `Out`: `std::vector<Out>`, or `C` for `Batched<C>`.
template <class Out>
using BatchOf = typename internal::BatchesFor<Out>::Batch;

}  // namespace leat::dataflow
