// What      The words that the flows of this folder share: their times, their streams, the records
//           that workers feed, and who keeps which node.
// Invariants
//   (1) A node's state lives on worker `node mod peers`, and records about it are routed by its id.
#pragma once

#include <leat/base/fields.hpp>
#include <leat/dataflow.hpp>
#include "dependency_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <type_traits>

namespace leat::tool::flow {

namespace df = leat::dataflow;

/// The ranking runs at time 0; of questions, each has its own.
using Time = std::uint64_t;
using Round = std::uint64_t;
/// A time inside a loop.
using LoopTime = progress::Product<Time, Round>;

using Scope = df::Scope<Time>;
using LoopScope = df::Scope<LoopTime>;
template <class Record>
using Stream = df::StreamOf<Time, Record>;
template <class Record>
using LoopStream = df::StreamOf<LoopTime, Record>;

/// `from` needs `to`, or one of others in its place.
struct Edge {
  NodeId from;
  NodeId to;
};
LEAT_FIELDS(Edge, from, to);

/// An alternative of a clause, seen from the alternative: `owner` has a clause of `of` alternatives,
/// and `alternative` is one of them.
struct Watch {
  NodeId alternative;
  NodeId owner;
  ClauseId clause;
  std::uint32_t of;
};
LEAT_FIELDS(Watch, alternative, owner, clause, of);

/// What is known of a node.
template <class Value>
struct Fact {
  NodeId node;
  Value value;
};
template <class Value>
constexpr auto leat_fields(std::type_identity<Fact<Value>>) {
  return std::tuple(Field{"node", &Fact<Value>::node}, Field{"value", &Fact<Value>::value});
}

/// The nodes that one worker keeps, in rows from 0.
class Share {
 public:
  Share(std::size_t nodes, std::size_t index, std::size_t peers) noexcept
      : nodes_(nodes), index_(index), peers_(peers) {}
  template <progress::Timestamp T>
  Share(std::size_t nodes, const df::Scope<T>& scope) noexcept
      : Share(nodes, scope.index(), scope.peers()) {}

  /// How many there are, on this worker and in all.
  [[nodiscard]] std::size_t size() const noexcept {
    return (nodes_ + peers_ - 1 - index_) / peers_;
  }
  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_; }

  /// Requires: the worker keeps the node.
  [[nodiscard]] std::size_t row_of(NodeId node) const noexcept { return node / peers_; }
  /// Requires: `row < size()`.
  [[nodiscard]] NodeId node_of(std::size_t row) const noexcept {
    return static_cast<NodeId>(row * peers_ + index_);
  }

 private:
  std::size_t nodes_;
  std::size_t index_;
  std::size_t peers_;
};

/// Each worker's own nodes.
[[nodiscard]] inline Stream<NodeId> own_nodes(Scope& scope, std::size_t nodes) {
  const Share share(nodes, scope);
  return df::to_stream(
      scope, std::views::iota(std::size_t{0}, share.size()) |
                 std::views::transform([share](std::size_t row) { return share.node_of(row); }));
}

/// Routes all records to the worker that hands the result over.
[[nodiscard]] inline auto to_first_worker() {
  return df::exchange_by([](const auto&) { return std::uint64_t{0}; });
}

}  // namespace leat::tool::flow
