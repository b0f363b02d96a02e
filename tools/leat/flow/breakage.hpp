// What      What goes when nodes are removed: the least fixed point over clauses, for any number of
//           removals at once, each apart from the others.
// Shape     losses ─> lose ─> gone ─┬─> out
//               └─ feedback <─ spread
//           `lose` knows of each removal who is gone and how many alternatives of a clause are;
//           `spread` knows who has a clause that names whom.
// Protocol  Sets that only grow: losses may come in any order, and each is worked on as it comes.
//           With `Pace::by_round` the losses of a round wait for each other, and then the round in
//           which a node goes is its distance.
// Limits    What is known of removals lives until the outer time moves on: then it is forgotten.
//           So removals of different times must not overlap.
// Cost      Per removal and node that goes: one entry of a table, and one record per clause that
//           names the node.
#pragma once

#include "meter.hpp"
#include "streams.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace leat::tool::flow {

/// With one of the removals, `node` loses one of the `of` alternatives of `clause`.
struct Loss {
  std::uint32_t removal;
  NodeId node;
  ClauseId clause;
  std::uint32_t of;
};
LEAT_FIELDS(Loss, removal, node, clause, of);

/// What begins a removal: it is as if the node lost the only alternative of a clause.
[[nodiscard]] constexpr Loss removal_of(NodeId node, std::uint32_t removal) noexcept {
  return {removal, node, 0, 1};
}

/// With one of the removals, `node` is gone; `round` is its distance if rounds wait.
struct Gone {
  std::uint32_t removal;
  NodeId node;
};
LEAT_FIELDS(Gone, removal, node);
struct GoneInRound {
  Gone gone;
  std::uint32_t round;
};
LEAT_FIELDS(GoneInRound, gone, round);

/// An edge as a clause of one alternative: of these, what goes is what is reached.
[[nodiscard]] constexpr Watch watch_of(const Edge& edge) noexcept {
  return {edge.to, edge.from, 0, 1};
}

/// Who goes, with what was removed itself; each on its worker, in no order.
///
/// Requires: every watch is fed once, by any worker, and their stream ends.
[[nodiscard]] Stream<Gone> breakage(Scope& scope, Stream<Watch> watches, Stream<Loss> removals,
                                    std::size_t nodes, Meter& meter, const std::string& name);

/// The same, by rounds.
[[nodiscard]] Stream<GoneInRound> breakage_by_round(Scope& scope, Stream<Watch> watches,
                                                    Stream<Loss> removals, std::size_t nodes,
                                                    Meter& meter, const std::string& name);

}  // namespace leat::tool::flow
