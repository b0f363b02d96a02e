// What      Connected components: every node ends up with the same label as those it is joined to.
// Shape     proposals ─> improve ─> better labels ─┬─> settle ─> labels, when nothing moves any more
//               └──────── feedback <── neighbours <┘
// Protocol  A label is a node, and the best is the one whose hash is least. A node tells its
//           neighbours of every better label it hears of. Labels only get better, so they may come
//           in any order, and nobody waits for a round to end.
// Cost      By hash, a node's label improves about as often as the logarithm of its component says.
//           By id it would improve once a step along a path whose ids ascend: the square of the
//           path. The rounds are as many as the longest way that a label must go.
// Source    Label propagation; the order by hash is the usual way to make the worst case unlikely.
#pragma once

#include "meter.hpp"
#include "streams.hpp"

#include <cstddef>
#include <cstdint>

namespace leat::tool::flow {

/// The size of each component, by its label, on the worker of that node.
///
/// Requires: every edge is fed once, in whichever direction, by any worker.
[[nodiscard]] Stream<Fact<std::uint32_t>> component_sizes(Scope& scope, Stream<Edge> edges,
                                                          std::size_t nodes, Meter& meter);

}  // namespace leat::tool::flow
