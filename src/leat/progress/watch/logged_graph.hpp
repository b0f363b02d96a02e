// What      The graphs of a worker's dataflows, rebuilt from what it told when they were built.
// Protocol  Give it every event of a worker's kEventStream, in order; ask for a sketch at any time.
// Invariants  (1) After the whole of a dataflow's building its sketch equals the worker's own, but
//             for the order: here nodes and edges stand sorted.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <leat/progress/sketch.hpp>
#include <leat/progress/watch/events.hpp>

namespace leat::progress {

class LoggedGraph {
 public:
  void add(const WorkerEvent& event);

  /// The dataflow with this index; without nodes if there was none.
  [[nodiscard]] Sketch sketch(std::uint32_t dataflow) const;

  /// Which operator or scope an id is; null for one that was never told.
  [[nodiscard]] const OperatesEvent* node(std::uint64_t id) const;
  /// Which edge an id is; null for one that was never told.
  [[nodiscard]] const ChannelsEvent* channel(std::uint64_t id) const;

 private:
  std::map<std::uint64_t, OperatesEvent> nodes_;
  std::map<std::uint64_t, ChannelsEvent> channels_;
};

/// The same sketch with nodes and edges in order of their places.
[[nodiscard]] Sketch sorted(Sketch sketch);

}  // namespace leat::progress
