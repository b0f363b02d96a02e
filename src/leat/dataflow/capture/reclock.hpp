// What      Holds records back until a clock ticks: a record at time t leaves at the first time
//           c >= t at which the clock has a record, when that time is complete.
// Protocol  `data | reclock(clock)`; the records of `clock` say nothing but when they are.
// Limits    Records after the last tick are dropped at the end. What is held is unbounded.
// Source    Timely Dataflow's `Reclock`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <source_location>
#include <utility>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/notificator.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/progress/order.hpp>

namespace leat::dataflow {

namespace internal {

/// Batches by time. Times ascend in an order in which none comes before one that is less.
template <progress::Timestamp T, Container C>
class HeldBatches {
 public:
  void add(const T& time, C& batch) {
    held_[time].push_back(std::move(batch));
    batch = C{};
  }
  /// Calls `f(batch)` for batches at times up to `time`, and forgets them, while `left` is not 0;
  /// takes the records of each off `left`.
  ///
  /// Returns: whether all were.
  template <class F>
  bool take_until(const T& time, std::size_t& left, F&& f) {
    for (auto at = held_.begin(); at != held_.end() && !(time < at->first);) {
      if (!progress::less_equal(at->first, time)) {
        ++at;
        continue;
      }
      auto& batches = at->second;
      while (!batches.empty()) {
        if (left == 0) return false;
        left -= std::min(left, static_cast<std::size_t>(record_count(batches.front())));
        f(batches.front());
        batches.pop_front();
      }
      at = held_.erase(at);
    }
    return true;
  }

 private:
  std::map<T, std::deque<C>> held_;
};

template <progress::Timestamp T, Container Ticks>
class ReclockOp : public Named<ReclockOp<T, Ticks>> {
 public:
  ReclockOp(Stream<T, Ticks> clock, std::source_location where)
      : Named<ReclockOp>("reclock", where), clock_(std::move(clock)) {}

  template <Container C>
  Stream<T, C> apply(Stream<T, C> data) && {
    OperatorBuilder<T> builder(data.scope_state(), this->name_);
    auto input = builder.new_input(data, pipeline);
    auto ticks = builder.new_input(clock_, pipeline);
    auto [port, reclocked] = builder.template new_output<C>();
    builder.build([&](auto) {
      return [input = std::move(input), ticks = std::move(ticks), output = std::move(port),
              self = builder.info().activation, held = HeldBatches<T, C>(),
              notificator = Notificator<T>(), now = std::optional<Notification<T>>()]() mutable {
        input.for_each([&](auto& message) { held.add(message.time(), message.records()); });
        ticks.for_each([&](auto& message) { notificator.notify_at(message.retain()); });
        notificator.look_again();
        std::size_t left = records_left<RecordOf<C>>(self);
        for (;;) {
          if (!now) now = notificator.next(input.frontier(), ticks.frontier());
          if (!now) return;
          auto session = output.session(now->capability);
          if (!held.take_until(now->time(), left, [&](C& batch) { session.give_batch(batch); })) {
            self.activate();
            return;
          }
          now.reset();
        }
      };
    });
    return std::move(reclocked);
  }

 private:
  Stream<T, Ticks> clock_;
};

struct ReclockFn {
  template <progress::Timestamp T, Container Ticks>
  ReclockOp<T, Ticks> operator()(
      Stream<T, Ticks> clock, std::source_location where = std::source_location::current()) const {
    return ReclockOp<T, Ticks>(std::move(clock), where);
  }
};

}  // namespace internal

/// `data | reclock(clock)`: the records of `data`, at the times of `clock`.
inline constexpr internal::ReclockFn reclock{};

}  // namespace leat::dataflow
