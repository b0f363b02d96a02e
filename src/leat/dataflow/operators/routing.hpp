// What      Moving records between workers: exchange (each to one), broadcast (each to all).
#pragma once

#include <source_location>
#include <utility>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/hash.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

namespace internal {

template <class Route>
class ExchangeOp : public Named<ExchangeOp<Route>> {
 public:
  ExchangeOp(Route route, std::source_location where)
      : Named<ExchangeOp>("exchange", where), route_(std::move(route)) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, exchange_by(std::move(route_)));
    auto [port, routed] = builder.template new_output<C>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port)]() mutable {
        input.for_each(
            [&](auto& message) { output.session(message).give_batch(message.records()); });
      };
    });
    return std::move(routed);
  }

 private:
  Route route_;
};

class BroadcastOp : public Named<BroadcastOp> {
 public:
  explicit BroadcastOp(std::source_location where) : Named<BroadcastOp>("broadcast", where) {}

  template <progress::Timestamp T, Container C>
  Stream<T, C> apply(Stream<T, C> stream) && {
    using R = RecordOf<C>;
    static_assert(Copyable<R>, "broadcast: records must be copyable to reach all workers");
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, to_all);
    auto [port, everywhere] = builder.template new_output<C>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port)]() mutable {
        input.for_each(
            [&](auto& message) { output.session(message).give_batch(message.records()); });
      };
    });
    return std::move(everywhere);
  }
};

struct ExchangeFn {
  template <class Route>
  auto operator()(Route route, std::source_location where = std::source_location::current()) const {
    return ExchangeOp<Route>(std::move(route), where);
  }
};
struct BroadcastFn {
  BroadcastOp operator()(std::source_location where = std::source_location::current()) const {
    return BroadcastOp(where);
  }
};

}  // namespace internal

/// Each record goes to worker `route(record)` modulo the workers; `exchange(hash)` spreads them.
inline constexpr internal::ExchangeFn exchange{};
/// Each record goes to every worker.
inline constexpr internal::BroadcastFn broadcast{};

}  // namespace leat::dataflow
