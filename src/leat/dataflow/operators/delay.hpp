// What      Moving records to later times: `delay(f)` with `f(record, time)`. What is moved waits
//           until the new time is complete.
// Source    Timely Dataflow's `delay`.
#pragma once

#include <map>
#include <source_location>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/complete_times.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

namespace internal {

template <class F>
class DelayOp : public Named<DelayOp<F>> {
 public:
  DelayOp(F f, std::source_location where) : Named<DelayOp>("delay", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, delayed] = builder.template new_output<C>();
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port), waiting = std::map<T, Stash<C>>(),
              complete = CompleteTimes<T>(builder.info().activation),
              who = builder.name().described(), f = std::move(f_)]() mutable {
        input.for_each([&](auto& message) {
          for (auto& record : message.records()) {
            const auto later = static_cast<T>(f(std::as_const(record), message.time()));
            if (!progress::less_equal(message.time(), later)) {
              throw UsageError(
                  who,
                  "a record at time " + show(message.time()) + " to be moved to " + show(later),
                  "a time that is not at or after its own", "return a later time");
            }
            const auto [at, is_new] = waiting.try_emplace(later);
            if (is_new) complete.notify_at(message.delayed(later));
            at->second.records.push_back(std::move(record));
          }
        });
        std::size_t budget = complete.template budget<RecordOf<C>>();
        complete.for_each(input.frontier(), budget, [&](const auto& capability, std::size_t& left) {
          const auto at = waiting.find(capability.time());
          auto session = output.session(capability);
          const auto send = [&](RecordOf<C>&& record) { session.give(std::move(record)); };
          if (!at->second.work(left, send)) return false;
          waiting.erase(at);
          return true;
        });
      };
    });
    return std::move(delayed);
  }

 private:
  F f_;
};

}  // namespace internal

/// Each record at `f(record, time)`, which must be at or after its time.
inline constexpr internal::MakeRecordOp<internal::DelayOp> delay{};

}  // namespace leat::dataflow
