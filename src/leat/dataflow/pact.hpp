// What      Pacts: how the records of a stream get to the workers of an operator that reads it.
//             pipeline             they stay on their worker
//             exchange_by(route)   a record goes to worker route(record) mod peers
//             distribute_by(d)     `d(batch, give)` gives each record to a worker of its choice
//             to_all               each record goes to every worker
// Limits    A pact moves records; it cannot copy or drop any, since progress counts them once. The one
//           that does counts them for each worker.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <leat/base/type_name.hpp>
#include <leat/dataflow/edges.hpp>
#include <leat/dataflow/scope_state.hpp>
#include <leat/dataflow/sendable.hpp>

namespace leat::dataflow {

/// What a pact needs to know of the input it connects.
template <progress::Timestamp T>
struct Connection {
  ScopeState<T>& scope;
  progress::NodeIndex node;
  const progress::NodeName& name;
  EdgeCount<T> count;
  core::Activation consumer;
  LocalPtr<progress::ChannelLog> log;  // null: nobody wants to know
};

/// Both ends of an edge.
template <progress::Timestamp T, Container C>
struct EdgeEnds {
  PushPtr<T, C> push;
  PullPtr<T, C> pull;
};

/// An edge within a worker.
template <Container C, progress::Timestamp T>
EdgeEnds<T, C> pipeline_ends(Connection<T> at) {
  auto* const edge = new PipelineEdge<T, C>(std::move(at.count), at.consumer, std::move(at.log));
  return {PushPtr<T, C>(edge), PullPtr<T, C>(edge)};
}

struct Pipeline {
  static constexpr const char* kName = "pipeline";

  template <Container C, progress::Timestamp T>
  EdgeEnds<T, C> connect(Connection<T> at) const {
    return pipeline_ends<C>(std::move(at));
  }
};

namespace internal {
/// What reports call a pact; a user's own may say it with `kName`.
template <class Pact>
constexpr const char* pact_name() {
  if constexpr (requires { Pact::kName; }) {
    return Pact::kName;
  } else {
    return "";
  }
}

/// A channel for an input, known to all workers under the next id.
template <Container C, progress::Timestamp T>
auto input_channel(const Connection<T>& at, const char* pact) {
  auto& context = *at.scope.context;
  if (at.log) at.log->reaches_peers();
  using ChannelMessage = Message<T, C>;
  auto signature = at.scope.signature(at.node, at.name, pact, type_hash<ChannelMessage>());
  if constexpr (comm::Wire<ChannelMessage>::kCan) {
    signature.hash =
        hash_combine(signature.hash, schema_of(typename comm::Wire<ChannelMessage>::Types{}));
  }
  signature.text += " for " + std::string(type_name<C>());
  return context.seat.fabric().template channel<ChannelMessage>(context.seat, context.new_id(),
                                                                signature, at.consumer);
}
}  // namespace internal

/// `Builder` makes the batches that travel; void for the default.
template <class Route, class Builder = void>
struct Exchange {
  static constexpr const char* kName = "exchange";

  Route route;

  template <Container C, progress::Timestamp T>
  EdgeEnds<T, C> connect(Connection<T> at) const {
    using Record = RecordOf<C>;
    static_assert(
        Sendable<Record>,
        "exchange: these records must stay on their worker (IsSendable<Record> is false); "
        "use pipeline, or send what they refer to");
    static_assert(Sendable<C>,
                  "exchange: these batches must stay on their worker (IsSendable<Batch> is false), "
                  "as shared ones must; use pipeline, or copy the records out first");
    static_assert(Drainable<C>, "exchange: the batches cannot be gone through (begin and end)");
    static_assert(std::movable<Record>,
                  "exchange: records must be movable to reach another worker");
    static_assert(std::is_invocable_v<const Route&, ReadOf<C>>,
                  "exchange: the route must be callable with a const record");
    static_assert(
        std::integral<std::invoke_result_t<const Route&, ReadOf<C>>>,
        "exchange: the route must return an integer, the number of a worker modulo the workers");
    using Parts = std::conditional_t<std::is_void_v<Builder>, CapacityBuilder<C>, Builder>;
    static_assert(BuilderFor<Parts, TakenOf<C>>,
                  "exchange: the builder does not take the records (push)");
    static_assert(PreservesLength<Parts>,
                  "exchange: the builder does not promise to give out as many records as it was "
                  "given (preserves_length), so progress could not count them");
    static_assert(std::same_as<typename Parts::Batch, C>,
                  "exchange: the builder makes other batches than the stream carries");
    // One worker has every record where it belongs.
    if (at.scope.context->seat.peers() == 1) return pipeline_ends<C>(std::move(at));
    auto [sender, receiver] = internal::input_channel<C>(at, kName);
    return {std::make_unique<ExchangePush<T, C, Parts, Route>>(
                std::move(at.count), Partitioned<T, Parts>(std::move(sender), at.log), route),
            std::make_unique<ChannelPull<T, C>>(std::move(receiver), at.log)};
  }
};

template <class Distributor>
struct Distribute {
  static constexpr const char* kName = "distribute";

  Distributor distribute;

  template <Container C, progress::Timestamp T>
  EdgeEnds<T, C> connect(Connection<T> at) const {
    static_assert(Sendable<RecordOf<C>> && Sendable<C>,
                  "distribute: these records must stay on their worker; use pipeline");
    auto [sender, receiver] = internal::input_channel<C>(at, kName);
    return {std::make_unique<DistributePush<T, C, Distributor>>(
                std::move(at.count), Partitioned<T, CapacityBuilder<C>>(std::move(sender), at.log),
                distribute, at.name.described() + ", distributor"),
            std::make_unique<ChannelPull<T, C>>(std::move(receiver), at.log)};
  }
};

struct ToAll {
  static constexpr const char* kName = "broadcast";

  template <Container C, progress::Timestamp T>
  EdgeEnds<T, C> connect(Connection<T> at) const {
    static_assert(Sendable<RecordOf<C>> && Sendable<C>,
                  "to_all: these records must stay on their worker; use pipeline");
    static_assert(CopyableContainer<C>, "to_all: batches must be copyable to reach all workers");
    if (at.scope.context->seat.peers() == 1) return pipeline_ends<C>(std::move(at));
    auto [sender, receiver] = internal::input_channel<C>(at, kName);
    return {std::make_unique<BroadcastPush<T, C>>(std::move(at.count), std::move(sender), at.log),
            std::make_unique<ChannelPull<T, C>>(std::move(receiver), at.log)};
  }
};

/// Records stay on their worker.
inline constexpr Pipeline pipeline{};

/// Each record goes to every worker. Where bytes carry it, a batch is encoded once, and sent once to
/// each process.
inline constexpr ToAll to_all{};

/// Records go where `route` says.
template <class Route>
[[nodiscard]] Exchange<Route> exchange_by(Route route) {
  return {std::move(route)};
}

/// The same, in batches that `Builder` makes: one that preserves length.
template <class Builder, class Route>
[[nodiscard]] Exchange<Route, Builder> exchange_by(Route route) {
  return {std::move(route)};
}

/// Records go where `distributor` gives them.
template <class Distributor>
[[nodiscard]] Distribute<Distributor> distribute_by(Distributor distributor) {
  return {std::move(distributor)};
}

}  // namespace leat::dataflow
