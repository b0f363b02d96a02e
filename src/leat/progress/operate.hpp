// What      What a scope sees of a child, be it an operator or another scope: all that it
//           schedules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <leat/progress/sketch.hpp>
#include <leat/progress/watch/holding.hpp>

namespace leat::progress {

/// A child of a scope whose times are `T`.
template <class T>
class Operate {
 public:
  Operate() = default;
  Operate(const Operate&) = delete;
  Operate& operator=(const Operate&) = delete;
  virtual ~Operate() = default;

  /// Runs once, with bounded work, and never waits.
  ///
  /// Returns: true while the child is incomplete: it must not be shut down even if nothing can
  /// reach it.
  virtual bool schedule() = 0;

  /// Called once when the whole dataflow is built, from the root down. A child scope propagates in
  /// it, and tells its parent which capabilities it begins with.
  virtual void initialize() {}

  /// Tells what is inside a child scope at `address`. An operator has nothing inside.
  virtual void sketch(SketchSink& /*into*/, const Sketch::Address& /*address*/) const {}

  /// Adds what inside a child scope keeps times possible. An operator has nothing inside.
  virtual void holdings(std::vector<Holding>& /*into*/) const {}
  /// How many capabilities for an output of the operator this worker holds, if the operator knows.
  [[nodiscard]] virtual std::optional<std::size_t> held_here(std::uint32_t /*output*/) const {
    return std::nullopt;
  }
  /// What stands at an input of the operator on this worker, if the operator knows.
  [[nodiscard]] virtual std::optional<Unread> unread_here(std::uint32_t /*input*/) const {
    return std::nullopt;
  }

  /// Tells a child scope that its input's frontier changed by `delta` (+1 or -1) at `time`.
  ///
  /// Operators read their frontiers in place and have nothing to do here.
  virtual void accept_frontier(std::uint32_t /*input*/, const T& /*time*/, int /*delta*/) {}
};

}  // namespace leat::progress
