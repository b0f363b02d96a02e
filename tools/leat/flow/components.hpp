// What      Connected components: every node ends up with the smallest id that it is joined to.
// Shape     proposals ─> improve ─> better labels ─┬─> settle ─> labels, when nothing moves any more
//               └──────── feedback <── neighbours <┘
// Protocol  A node tells its neighbours of every smaller label it hears of. Labels only fall, so
//           they may come in any order, and nobody waits for a round to end.
// Source    Label propagation.
#pragma once

#include "meter.hpp"
#include "streams.hpp"

#include <cstddef>
#include <cstdint>

namespace leat::tool::flow {

/// The size of each component, by its smallest id, on that node's worker.
///
/// Requires: every edge is fed once, in whichever direction, by any worker.
[[nodiscard]] Stream<Fact<std::uint32_t>> component_sizes(Scope& scope, Stream<Edge> edges,
                                                          std::size_t nodes, Meter& meter);

}  // namespace leat::tool::flow
