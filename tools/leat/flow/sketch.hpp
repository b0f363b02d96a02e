// What      The sketch of a running dataflow as the flat picture that the command writes.
// Shape     A sketch has edges from child to child of each scope, child 0 being the scope itself.
//           The picture has channels from operator to operator: those that cross a scope are
//           followed through its boundary to the operator that feeds them.
#pragma once

#include <leat/progress/sketch.hpp>
#include "flow_graph.hpp"

namespace leat::tool::flow {

[[nodiscard]] FlowGraph graph_of(const progress::Sketch& sketch);

}  // namespace leat::tool::flow
