// What      What each node of a scope has outstanding, as its tracker sees it. The scope decides from
//           it whom to wake and whom to let go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/progress/location.hpp>

namespace leat::progress {

class NodeStates {
 public:
  struct State {
    std::uint32_t open_inputs = 0;  // targets whose frontier is not empty
    bool is_gone = false;           // shut down: nothing may come back to it
    std::int64_t capabilities = 0;  // least times held at its sources, over all workers
  };

  NodeStates() = default;
  explicit NodeStates(std::size_t nodes) : states_(nodes) {}

  [[nodiscard]] const State& operator[](NodeIndex node) const noexcept { return states_[node]; }

  void open_input(NodeIndex node) {
    LEAT_CHECK(!states_[node].is_gone, "a frontier came back at an operator that was shut down");
    ++states_[node].open_inputs;
  }
  void close_input(NodeIndex node) {
    LEAT_DCHECK(states_[node].open_inputs > 0, "an input was closed twice");
    --states_[node].open_inputs;
    note_if_quiet(node);
  }
  void add_capabilities(NodeIndex node, std::int64_t by) {
    states_[node].capabilities += by;
    note_if_quiet(node);
  }
  /// Says that the node was shut down.
  void end(NodeIndex node) noexcept { states_[node].is_gone = true; }

  /// Whether some node may have become quiet since `drain_quiet`.
  [[nodiscard]] bool has_quiet() const noexcept { return !quiet_.empty(); }
  /// Calls `on_quiet(node)` for nodes that have no open input and no capability any more.
  template <class OnQuiet>
  void drain_quiet(OnQuiet&& on_quiet) {
    for (const NodeIndex node : quiet_) {
      if (is_quiet(node)) on_quiet(node);
    }
    quiet_.clear();
  }

 private:
  [[nodiscard]] bool is_quiet(NodeIndex node) const noexcept {
    return states_[node].open_inputs == 0 && states_[node].capabilities == 0;
  }
  void note_if_quiet(NodeIndex node) {
    if (is_quiet(node)) quiet_.push_back(node);
  }

  std::vector<State> states_;
  std::vector<NodeIndex> quiet_;  // may hold nodes that a later change made busy again
};

}  // namespace leat::progress
