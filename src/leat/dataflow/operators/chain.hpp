// What      Several record-by-record steps in one operator: `stream | chain().map(f).filter(g)
//           .flat_map(h)` is `stream | map(f) | filter(g) | flat_map(h)` without the batches, the
//           sessions and the activations between them.
// Invariants
//   (1) What comes out is what the operators one after the other would put out, in the same order
//       within a batch.
//   (2) An activation stops between two records once it has put out its share, and goes on there.
// Cost      Per record: the calls of its functions, inlined. One batch each way for the whole chain.
// Limits    What one record turns into leaves at once.
// Source    Timely Dataflow's `flat_map_builder`.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

namespace internal {

// Steps: `step(record, next)` calls `next` with what becomes of the record; Out<In> is its type.

struct NoStep {
  template <class In>
  using Out = In;

  template <class In, class Next>
  void operator()(In&& record, Next&& next) {
    next(std::forward<In>(record));
  }
};

template <class F>
struct MapStep {
  template <class In>
  using Out = std::decay_t<std::invoke_result_t<F&, In>>;

  F f;
  template <class In, class Next>
  void operator()(In&& record, Next&& next) {
    next(f(std::forward<In>(record)));
  }
};

template <class F>
struct FilterStep {
  template <class In>
  using Out = In;

  F f;
  template <class In, class Next>
  void operator()(In&& record, Next&& next) {
    if (f(std::as_const(record))) next(std::forward<In>(record));
  }
};

template <class F>
struct FlatMapStep {
  template <class In>
  using Out = std::ranges::range_value_t<std::decay_t<std::invoke_result_t<F&, In>>>;

  F f;
  template <class In, class Next>
  void operator()(In&& record, Next&& next) {
    auto&& range = f(std::forward<In>(record));
    for (auto at = std::ranges::begin(range); at != std::ranges::end(range); ++at) {
      next(Out<In>(std::ranges::iter_move(at)));
    }
  }
};

template <class First, class Second>
struct Steps {
  template <class In>
  using Out = typename Second::template Out<typename First::template Out<In>>;

  First first;
  Second second;
  template <class In, class Next>
  void operator()(In&& record, Next&& next) {
    first(std::forward<In>(record),
          [&](auto&& between) { second(std::forward<decltype(between)>(between), next); });
  }
};

template <class Step>
class ChainOp : public Named<ChainOp<Step>> {
 public:
  ChainOp(Step step, std::string name, std::source_location where)
      : Named<ChainOp>(std::move(name), where), step_(std::move(step)) {}

  /// Then `f(record)` of each record.
  template <class F>
  [[nodiscard]] auto map(F f) && {
    return std::move(*this).then(MapStep<F>{std::move(f)});
  }
  /// Then those for which `f(const record&)` is true.
  template <class F>
  [[nodiscard]] auto filter(F f) && {
    return std::move(*this).then(FilterStep<F>{std::move(f)});
  }
  /// Then the records of the range `f(record)`, for each record.
  template <class F>
  [[nodiscard]] auto flat_map(F f) && {
    return std::move(*this).then(FlatMapStep<F>{std::move(f)});
  }

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    using R = typename Step::template Out<RecordOf<C>>;
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, produced] = builder.template new_output<std::vector<R>>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port), step = std::move(step_),
              self = builder.info().activation, current = std::optional<Received<T, C>>(),
              position = std::size_t{0}]() mutable {
        const std::size_t share = records_left<R>(self);
        for (std::size_t given = 0; given < share;) {
          if (!current) {
            current = input.next();
            if (!current) return;
            position = 0;
          }
          auto session = output.session(*current);
          auto& records = current->records();
          while (position < records.size() && given < share) {
            step(RecordOf<C>(std::move(records[position++])), [&](R record) {
              ++given;
              session.give(std::move(record));
            });
          }
          if (position == records.size()) current.reset();
        }
        self.activate();  // there is, or may be, more
      };
    });
    return std::move(produced);
  }

 private:
  template <class Next>
  auto then(Next next) && {
    using Both = Steps<Step, Next>;
    return ChainOp<Both>(Both{std::move(step_), std::move(next)}, std::move(this->name_.name),
                         this->name_.where);
  }

  Step step_;
};

}  // namespace internal

/// The beginning of a chain: add steps with `.map`, `.filter` and `.flat_map`.
[[nodiscard]] inline auto chain(std::source_location where = std::source_location::current()) {
  return internal::ChainOp<internal::NoStep>({}, "chain", where);
}

}  // namespace leat::dataflow
