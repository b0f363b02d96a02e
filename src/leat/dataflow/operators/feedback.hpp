// What      Loops: a stream that is there before what feeds it, and moves each record on in time.
// Protocol  `auto [handle, stream] = feedback<Record>(scope, summary)`; build on `stream`; close
//           the loop with `... | connect_loop(std::move(handle))`. A handle that is never connected
//           is a UsageError when the scope is sealed, and so is a summary that does not advance
//           time.
// Limits    A record whose time cannot be advanced any more (overflow) leaves the loop and is gone.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/dataflow/scope.hpp>

namespace leat::dataflow {

/// The open end of a loop.
template <progress::Timestamp T, Container C>
class FeedbackHandle {
 public:
  FeedbackHandle(OperatorBuilder<T> builder, OutputPort<T, C> output,
                 progress::SummaryOf<T> summary)
      : builder_(std::move(builder)), output_(std::move(output)), summary_(std::move(summary)) {}
  FeedbackHandle(FeedbackHandle&&) = default;
  FeedbackHandle& operator=(FeedbackHandle&&) = default;

  /// Closes the loop with `stream`.
  void connect(const Stream<T, C>& stream) && {
    auto input = builder_.new_input(stream, pipeline, {LinkTo<T>{0, summary_}});
    builder_.set_interest(0, progress::FrontierInterest::never);
    builder_.build([&](auto) {
      return [input = std::move(input), output = std::move(output_), summary = summary_]() mutable {
        input.for_each([&](auto& message) {
          CapabilitySet<T> later;
          for (const T& time : message.stamp().times()) {
            if (auto next = progress::PathSummary<T>::results_in(summary, time)) {
              if (message.stamp().single()) {
                output.session(message.delayed(*next)).give_batch(message.records());
                return;
              }
              later.insert(message.delayed(*next));
            }
          }
          if (!later.empty()) output.session(later).give_batch(message.records());
        });
      };
    });
  }

 private:
  OperatorBuilder<T> builder_;
  OutputPort<T, C> output_;
  progress::SummaryOf<T> summary_;
};

template <progress::Timestamp T, Container C>
struct Loop {
  FeedbackHandle<T, C> handle;
  Stream<T, C> stream;
};

/// A loop of `Record`s whose times advance by `summary` each round, under a name for reports.
template <class Record, progress::Timestamp T>
[[nodiscard]] Loop<T, BatchOf<Record>> feedback(
    Scope<T>& scope, progress::SummaryOf<T> summary, std::string name,
    std::source_location where = std::source_location::current()) {
  OperatorBuilder<T> builder(scope.state(), std::move(name), where);
  auto [output, stream] = builder.template new_output<BatchOf<Record>>(std::vector<LinkTo<T>>{});
  return {
      FeedbackHandle<T, BatchOf<Record>>(std::move(builder), std::move(output), std::move(summary)),
      std::move(stream)};
}

template <class Record, progress::Timestamp T>
[[nodiscard]] Loop<T, BatchOf<Record>> feedback(
    Scope<T>& scope, progress::SummaryOf<T> summary,
    std::source_location where = std::source_location::current()) {
  return feedback<Record>(scope, std::move(summary), "feedback", where);
}

/// A loop of an iterative scope: the round advances by `by`, the outer time stays.
template <class Record, progress::Timestamp Outer, progress::Timestamp Round>
[[nodiscard]] auto loop_variable(Scope<progress::Product<Outer, Round>>& scope,
                                 progress::SummaryOf<Round> by, std::string name,
                                 std::source_location where = std::source_location::current()) {
  return feedback<Record>(scope,
                          progress::SummaryOf<progress::Product<Outer, Round>>{{}, std::move(by)},
                          std::move(name), where);
}
template <class Record, progress::Timestamp Outer, progress::Timestamp Round>
[[nodiscard]] auto loop_variable(Scope<progress::Product<Outer, Round>>& scope,
                                 progress::SummaryOf<Round> by,
                                 std::source_location where = std::source_location::current()) {
  return loop_variable<Record>(scope, std::move(by), "feedback", where);
}

namespace internal {
template <progress::Timestamp Time, Container Batch>
class ConnectLoopOp {
 public:
  explicit ConnectLoopOp(FeedbackHandle<Time, Batch> handle) : handle_(std::move(handle)) {}
  void apply(const Stream<Time, Batch>& stream) && { std::move(handle_).connect(stream); }

 private:
  FeedbackHandle<Time, Batch> handle_;
};
struct ConnectLoopFn {
  template <progress::Timestamp T, Container C>
  ConnectLoopOp<T, C> operator()(FeedbackHandle<T, C> handle) const {
    return ConnectLoopOp<T, C>(std::move(handle));
  }
};
}  // namespace internal

/// `stream | connect_loop(std::move(handle))`: closes the loop.
inline constexpr internal::ConnectLoopFn connect_loop{};

}  // namespace leat::dataflow
