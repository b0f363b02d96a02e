// What      A loop that ends by what is in the data: `stream | iterate_while(body, measure, goes_on)`
//           runs `body` on the records of a time again and again, all workers together, until
//           `goes_on` says of a round that it was the last. What that round put out is the result.
// Protocol  A round of a time is over when its records have come through `body` on all workers. Then
//           their measures, `measure(record)`, are summed over all workers; each worker gets the sum
//           and asks `goes_on(sum, round)`. As all have the same sum they say the same: the round's
//           records go on to the next round, or leave. Times that come later do not wait: each is at
//           its own round.
// Invariants  (1) A round without any record ends the loop of its time: nothing would change.
// Limits    `goes_on` must depend on its arguments alone. A loop that is to end when nothing changes
//           needs none of this: let `body` put out only what changed, and close it with
//           `connect_loop`.
// Cost      Three progress rounds per round of the loop, and a record to each worker from each worker
//           that has any.
#pragma once

#include <map>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/dataflow/boundary.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/complete_times.hpp>
#include <leat/dataflow/operators/accumulate.hpp>
#include <leat/dataflow/operators/feedback.hpp>
#include <leat/dataflow/operators/map.hpp>
#include <leat/dataflow/operators/merge.hpp>
#include <leat/dataflow/operators/routing.hpp>
#include <leat/dataflow/scope.hpp>

namespace leat::dataflow {

namespace internal {

/// Sends what a round put out on, to the first stream if the loop goes on and else to the second,
/// when the sum of its measures is there.
template <class Sum, progress::Timestamp T, Container C, class GoesOn>
std::pair<Stream<T, C>, Stream<T, C>> decide(const Stream<T, C>& round,
                                             const StreamOf<T, Sum>& sums,
                                             const progress::NodeName& name, GoesOn goes_on) {
  OperatorBuilder<T> builder(round.scope_state(), name);
  auto input = builder.new_input(round, pipeline);
  auto summed = builder.new_input(sums, pipeline);
  auto [again_port, on] = builder.template new_output<C>();
  auto [last_port, out] = builder.template new_output<C>();
  struct Round {
    Stash<C> stash;
    Capability<T> result;
    bool goes_on = false;
  };
  struct Open {  // times that may still come at either input
    progress::AntichainRef<T> left;
    progress::AntichainRef<T> right;
    [[nodiscard]] bool less_equal(const T& time) const {
      return left.less_equal(time) || right.less_equal(time);
    }
  };
  builder.build([&](auto) {
    return [input = std::move(input), summed = std::move(summed), again = std::move(again_port),
            last = std::move(last_port), rounds = std::map<T, Round>(),
            complete = CompleteTimes<T>(builder.info().activation),
            goes_on = std::move(goes_on)]() mutable {
      const auto round_of = [&](const auto& message) -> Round& {
        const auto [at, is_new] = rounds.try_emplace(message.time());
        if (is_new) {
          complete.notify_at(message.retain(0));
          at->second.result = message.retain(1);
        }
        return at->second;
      };
      input.for_each([&](auto& message) {
        auto& records = round_of(message).stash.records;
        for (auto& record : message.records()) records.push_back(std::move(record));
      });
      summed.for_each([&](auto& message) {
        for (const Sum& sum : message.records()) {
          round_of(message).goes_on = goes_on(sum, message.time().inner);
        }
      });
      std::size_t budget = complete.template budget<RecordOf<C>>();
      complete.for_each(
          Open{input.frontier(), summed.frontier()}, budget,
          [&](const auto& capability, std::size_t& left) {
            const auto at = rounds.find(capability.time());
            Round& it = at->second;
            auto session = it.goes_on ? again.session(capability) : last.session(it.result);
            const auto send = [&](RecordOf<C>&& record) { session.give(std::move(record)); };
            if (!it.stash.work(left, send)) return false;
            rounds.erase(at);
            return true;
          });
    };
  });
  return {std::move(on), std::move(out)};
}

template <class Body, class Measure, class GoesOn>
class IterateWhileOp : public Named<IterateWhileOp<Body, Measure, GoesOn>> {
 public:
  IterateWhileOp(Body body, Measure measure, GoesOn goes_on, std::source_location where)
      : Named<IterateWhileOp>("iterate_while", where),
        body_(std::move(body)),
        measure_(std::move(measure)),
        goes_on_(std::move(goes_on)) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    using Record = RecordOf<C>;
    using Sum = std::decay_t<std::invoke_result_t<Measure&, const Record&>>;
    Scope<T> outer(stream.scope_state());
    return outer.iterative(
        this->name_.name,
        [&](auto& inner) {
          using Inner = typename std::decay_t<decltype(inner)>::Time;
          auto [handle, again] = loop_variable<Record>(inner, 1);
          Stream<Inner, C> round = body_(inner, stream | enter(inner) | concat(again));
          const auto add = [](Sum& sum, const std::vector<Sum>& more) {
            for (const Sum& each : more) sum += each;
          };
          auto sums = round | map([measure = std::move(measure_)](const Record& record) mutable {
                        return measure(record);
                      }) |
                      accumulate(Sum{}, add) | broadcast() | accumulate(Sum{}, add);
          auto [on, out] = decide<Sum>(round, sums, this->name_, std::move(goes_on_));
          on | connect_loop(std::move(handle));
          return out | leave(outer);
        },
        this->name_.where);
  }

 private:
  Body body_;
  Measure measure_;
  GoesOn goes_on_;
};

}  // namespace internal

/// Runs `body(scope, stream)`, which returns a stream of the same records, until `goes_on(sum,
/// round)` is false of the sum over all workers of `measure(record)`, of what it put out in a
/// round; rounds count from 0. The stream's records, `sum` and `measure` must be copyable.
template <class Body, class Measure, class GoesOn>
[[nodiscard]] auto iterate_while(Body body, Measure measure, GoesOn goes_on,
                                 std::source_location where = std::source_location::current()) {
  return internal::IterateWhileOp<Body, Measure, GoesOn>(std::move(body), std::move(measure),
                                                         std::move(goes_on), where);
}

}  // namespace leat::dataflow
