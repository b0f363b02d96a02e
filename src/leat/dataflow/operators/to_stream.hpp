// What      Streams from what a program has already: a range of records, at the least time.
// Limits    Every worker emits the whole range. A bounded part of it leaves per activation.
#pragma once

#include <iterator>
#include <memory>
#include <ranges>
#include <source_location>
#include <string>
#include <utility>

#include <leat/dataflow/operators/unary.hpp>

namespace leat::dataflow {

/// The records of `range`, which is moved in (or refers to something that outlives the dataflow, as
/// a view does).
template <progress::Timestamp T, std::ranges::input_range Range>
[[nodiscard]] auto to_stream(Scope<T>& scope, Range range, std::string name,
                             std::source_location where = std::source_location::current()) {
  using Record = std::ranges::range_value_t<Range>;
  struct State {
    Range range;
    std::ranges::iterator_t<Range> next;
    explicit State(Range r) : range(std::move(r)), next(std::ranges::begin(range)) {}
  };
  auto state = std::make_unique<State>(std::move(range));
  return source<Record>(
      scope, std::move(name),
      [&](Capability<T> capability, const OperatorInfo& info) {
        return [state = std::move(state), capability = std::move(capability),
                activation = info.activation](auto& output) mutable {
          if (!capability) return;
          {
            auto session = output.session(capability);
            std::size_t left = records_left<Record>(activation);
            while (left-- > 0 && state->next != std::ranges::end(state->range)) {
              if constexpr (Copyable<Record>) {
                session.give(*state->next);
              } else {
                session.give(std::ranges::iter_move(state->next));
              }
              ++state->next;
            }
          }
          if (state->next == std::ranges::end(state->range)) {
            capability.release();
            state.reset();
          } else {
            activation.activate();
          }
        };
      },
      where);
}
template <progress::Timestamp T, std::ranges::input_range Range>
[[nodiscard]] auto to_stream(Scope<T>& scope, Range range,
                             std::source_location where = std::source_location::current()) {
  return to_stream(scope, std::move(range), "to_stream", where);
}

}  // namespace leat::dataflow
