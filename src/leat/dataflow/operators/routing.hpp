// What      Moving records between workers: exchange (each to one), broadcast (each to all).
#pragma once

#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/hash.hpp>
#include <leat/dataflow/operators/map.hpp>

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
  auto apply(Stream<T, C> stream) && {
    using R = RecordOf<C>;
    static_assert(Copyable<R>, "broadcast: records must be copyable to reach all workers");
    using Addressed = std::pair<std::uint64_t, R>;
    const std::uint64_t peers = stream.scope_state()->context->seat.peers();
    return std::move(stream) | flat_map<Addressed>([peers](R record, auto& out) {
                                 for (std::uint64_t worker = 0; worker + 1 < peers; ++worker)
                                   out({worker, record});
                                 out({peers - 1, std::move(record)});
                               }).named(this->name_.name + ": address") |
           ExchangeOp([](const Addressed& record) { return record.first; }, this->name_.where)
               .named(this->name_.name) |
           map([](Addressed record) {
             return std::move(record.second);
           }).named(this->name_.name + ": strip");
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
