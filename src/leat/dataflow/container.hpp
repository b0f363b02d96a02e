// What      What a batch of records is. `std::vector<Record>` unless an author says otherwise.
// Invariants  (1) `size()` counts records: what progress adds at the sender it takes away at the
//             receiver, so splitting and joining batches must keep the sum.
#pragma once

#include <concepts>
#include <cstddef>
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

/// How many records a batch holds before it is sent on: 8 KiB worth of them, at least one.
template <class Record>
inline constexpr std::size_t kBatchRecords = sizeof(Record) >= 8192 ? 1 : 8192 / sizeof(Record);

}  // namespace leat::dataflow
