// What      Messages in the order of their times: for logic that handles all that it can take of one
//           time together, the earliest first.
// Source    Timely Dataflow's `for_each_time`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <leat/dataflow/ports.hpp>

namespace leat::dataflow {

/// Takes what this activation may take from `input`, and calls `f(messages)` for each time, in
/// ascending order, with the messages of that time in the order in which they came.
///
/// `messages` is a span of `Received`, never empty; open a session with its front. Messages at
/// several times that are not comparable are grouped with those at exactly the same ones.
/// More of a time may come in a later activation: ask the frontier whether it is complete.
template <progress::Timestamp T, Container C, class F>
void for_each_time(InputPort<T, C>& input, F&& f) {
  const auto earlier = [](const Received<T, C>& a, const Received<T, C>& b) {
    const auto left = a.stamp().times();
    const auto right = b.stamp().times();
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  };
  // There are few of them, mostly in order already: each goes behind those that are not later.
  std::vector<Received<T, C>> messages;
  while (auto message = input.next()) {
    const auto place = std::upper_bound(messages.begin(), messages.end(), *message, earlier);
    messages.insert(place, std::move(*message));
  }
  for (auto from = messages.begin(); from != messages.end();) {
    const auto to = std::find_if(
        from, messages.end(), [&](const auto& other) { return !(other.stamp() == from->stamp()); });
    f(std::span<Received<T, C>>(from, to));
    from = to;
  }
}

}  // namespace leat::dataflow
