// What      Two more ways to move records to later times: delay_batch(f), which moves whole batches
//           by their time, and delay_total(f), which is `delay` for times that are totally ordered.
// Source    Timely Dataflow's `delay_batch` and `delay_total`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <source_location>
#include <utility>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/complete_times.hpp>
#include <leat/dataflow/operators/delay.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/progress/order.hpp>

namespace leat::dataflow {

namespace internal {

template <class F>
class DelayTotalOp : public Named<DelayTotalOp<F>> {
 public:
  DelayTotalOp(F f, std::source_location where)
      : Named<DelayTotalOp>("delay_total", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    static_assert(progress::Order<T>::is_total,
                  "delay_total: these times are not totally ordered; use delay");
    return DelayOp<F>(std::move(f_), this->name_.where)
        .named(std::move(this->name_.name))
        .apply(std::move(stream));
  }

 private:
  F f_;
};

template <class F>
class DelayBatchOp : public Named<DelayBatchOp<F>> {
 public:
  DelayBatchOp(F f, std::source_location where)
      : Named<DelayBatchOp>("delay_batch", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, delayed] = builder.template new_output<C>();
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port),
              waiting = std::map<T, std::deque<C>>(),
              complete = CompleteTimes<T>(builder.info().activation),
              who = builder.name().described(), f = std::move(f_)]() mutable {
        input.for_each([&](auto& message) {
          T later = f(message.time());
          if (!progress::less_equal(message.time(), later)) {
            throw UsageError(
                who, "a batch at time " + show(message.time()) + " to be moved to " + show(later),
                "a time that is not at or after its own", "return a later time");
          }
          const auto [at, is_new] = waiting.try_emplace(later);
          if (is_new) complete.notify_at(message.delayed(later));
          at->second.push_back(std::exchange(message.records(), C{}));
        });
        std::size_t budget = complete.template budget<RecordOf<C>>();
        complete.for_each(input.frontier(), budget, [&](const auto& capability, std::size_t& left) {
          const auto at = waiting.find(capability.time());
          auto session = output.session(capability);
          for (auto& batches = at->second; left > 0 && !batches.empty(); batches.pop_front()) {
            left -= std::min<std::size_t>(left, record_count(batches.front()));
            session.give_batch(batches.front());
          }
          if (!at->second.empty()) return false;
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

/// Each record at `f(record, time)`, which must be at or after its time; for totally ordered times.
inline constexpr internal::MakeRecordOp<internal::DelayTotalOp> delay_total{};
/// Each batch, as it is, at `f(time)`, which must be at or after its time.
inline constexpr internal::MakeRecordOp<internal::DelayBatchOp> delay_batch{};

}  // namespace leat::dataflow
