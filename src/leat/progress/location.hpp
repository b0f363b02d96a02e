// What      Where something is in a scope: nodes, and their ports numbered flat.
// Shape     Node 0 is the scope's own boundary, seen from inside and so inverted: its *sources* are
//           the scope's inputs, its *targets* are the scope's outputs. Children count from 1. Every
//           port of every node has one number, given in order of creation; all workers build the
//           same graph in the same order, so a number means the same port on each of them.
// Source    Timely Dataflow's `Location {node, port}`, flattened so that trackers are plain arrays.
#pragma once

#include <cstdint>

namespace leat::progress {

/// A child of a scope; 0 is the scope's boundary.
using NodeIndex = std::uint32_t;

/// A port of a scope, numbered in order of creation over the whole scope.
using PortIndex = std::uint32_t;

/// A *target* receives records (an operator's input), a *source* emits them (an operator's output).
enum class PortKind : std::uint8_t { target, source };

/// What a port is: of which node, which of that node's inputs or outputs, and on which side.
struct PortInfo {
  NodeIndex node = 0;
  std::uint32_t number = 0;  // the node's input or output number, from 0
  PortKind kind = PortKind::target;
};

/// When a change of an input's frontier is reason to run the operator.
enum class FrontierInterest : std::uint8_t {
  never,          // only records, activations and the end wake it
  if_capability,  // only while some worker holds a capability of this operator
  always,
};

}  // namespace leat::progress
