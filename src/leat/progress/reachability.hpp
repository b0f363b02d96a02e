// What      The tracker of one scope: given how many records and capabilities stand at each port,
//           it says which times can still arrive at each port. Every scope's progress stands on it.
// Shape     Where any two times can be compared a frontier is one time, and `TotalTracker` keeps just
//           that; `PartialTracker` keeps sets.
// Protocol  `update` records that a count changed; `propagate` carries the consequences along the
//           hops and calls back for changes of a target's frontier. Between the two nothing
//           that a reader sees moves, so a frontier is constant while operators run.
// Invariants
//   (1) Counts may be negative for a while (a consumer's report can overtake its producer's) and are
//       kept, not clamped; only positive ones hold a time open.
//   (2) Calls to `on_target` and `on_output` sum to the difference of the frontiers; a time may come
//       and go in between.
//   (3) An output of the scope sees what is counted at the scope's own children only, never at the
//       scope's inputs: what the parent holds is not echoed back as ours.
#pragma once

#include <type_traits>

#include <leat/progress/order.hpp>
#include <leat/progress/partial_tracker.hpp>
#include <leat/progress/timestamp.hpp>
#include <leat/progress/total_tracker.hpp>

namespace leat::progress {

template <Timestamp T>
using Tracker = std::conditional_t<Order<T>::is_total, TotalTracker<T>, PartialTracker<T>>;

}  // namespace leat::progress
