// What      Looking at a stream as it passes: inspect (records), inspect_time (time and record),
//           inspect_batch (time and batch), inspect_core (batches and changes of the frontier). The
//           stream is unchanged.
#pragma once

#include <algorithm>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/dataflow/operators/map.hpp>

namespace leat::dataflow {

namespace internal {

enum class Look { record, time, batch };

template <Look kLook, class F>
class InspectOp : public Named<InspectOp<kLook, F>> {
 public:
  InspectOp(F f, std::source_location where)
      : Named<InspectOp>("inspect", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    return on_records<Batched<C>>(stream, this->name_,
                                  [f = std::move(f_)](auto& input, auto& output) mutable {
                                    input.for_each([&](auto& message) {
                                      const C& records = message.records();
                                      if constexpr (kLook == Look::batch) {
                                        f(message.time(), records);
                                      } else if constexpr (kLook == Look::time) {
                                        for (const auto& record : records)
                                          f(message.time(), record);
                                      } else {
                                        for (const auto& record : records) f(record);
                                      }
                                      output.session(message).give_batch(message.records());
                                    });
                                  });
  }

 private:
  F f_;
};

template <class OnBatch, class OnFrontier>
class InspectCoreOp : public Named<InspectCoreOp<OnBatch, OnFrontier>> {
 public:
  InspectCoreOp(OnBatch on_batch, OnFrontier on_frontier, std::source_location where)
      : Named<InspectCoreOp>("inspect", where),
        on_batch_(std::move(on_batch)),
        on_frontier_(std::move(on_frontier)) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, passed] = builder.template new_output<C>();
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port), on_batch = std::move(on_batch_),
              on_frontier = std::move(on_frontier_),
              last = std::vector<T>{progress::TimestampTraits<T>::minimum()}]() mutable {
        const auto frontier = input.frontier();
        if (!std::equal(frontier.begin(), frontier.end(), last.begin(), last.end())) {
          last.assign(frontier.begin(), frontier.end());
          on_frontier(frontier);
        }
        input.for_each([&](auto& message) {
          on_batch(message.time(), std::as_const(message.records()));
          output.session(message).give_batch(message.records());
        });
      };
    });
    return std::move(passed);
  }

 private:
  OnBatch on_batch_;
  OnFrontier on_frontier_;
};

template <Look kLook>
struct InspectFn {
  template <class F>
  InspectOp<kLook, F> operator()(
      F f, std::source_location where = std::source_location::current()) const {
    return InspectOp<kLook, F>(std::move(f), where);
  }
};
struct InspectCoreFn {
  template <class OnBatch, class OnFrontier>
  auto operator()(OnBatch on_batch, OnFrontier on_frontier,
                  std::source_location where = std::source_location::current()) const {
    return InspectCoreOp<OnBatch, OnFrontier>(std::move(on_batch), std::move(on_frontier), where);
  }
};

}  // namespace internal

/// Calls `f(record)` on each record.
inline constexpr internal::InspectFn<internal::Look::record> inspect{};
/// Calls `f(time, record)` on each record.
inline constexpr internal::InspectFn<internal::Look::time> inspect_time{};
/// Calls `f(time, batch)` on each batch.
inline constexpr internal::InspectFn<internal::Look::batch> inspect_batch{};
/// Calls `on_batch(time, batch)` on each batch and `on_frontier(AntichainRef)` when the frontier
/// has changed.
inline constexpr internal::InspectCoreFn inspect_core{};

}  // namespace leat::dataflow
