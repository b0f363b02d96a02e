// What      The tracker of one scope: given how many records and capabilities stand at each port,
//           it says which times can still arrive at each port. Every scope's progress stands on it.
// Protocol  `update` records that a count changed; `propagate` carries the consequences along the
//           hops and calls back for each change of a target's frontier. Between the two nothing
//           that a reader sees moves, so a frontier is constant while operators run.
// Invariants
//   (1) `pointstamps[p]` is the multiset of what was reported at p. Counts may be negative for a
//       while (a consumer's report can overtake its producer's) and are kept, not clamped.
//   (2) `implications[p]` is the multiset of what may arrive at p: the frontier of p's pointstamps,
//       and for each hop q -> p the frontier of q's implications as the hop changes it. The second
//       multiset shields readers from the transients of the first.
//   (3) Only changes of frontiers travel. They are taken in (time, port) order, a linear extension
//       of the partial order, so each pair is settled once per propagation.
//   (4) An output of the scope sees the frontiers of pointstamps of the scope's own children only,
//       never of the scope's inputs: what the parent holds is not echoed back as ours.
// Cost      One entry of the worklist per frontier change and port reached; no allocation once it
//           has grown.
// Source    Naiad (SOSP 2013) and Timely Dataflow's `reachability::Tracker`; flat ports are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/progress/graph.hpp>
#include <leat/progress/mutable_antichain.hpp>
#include <leat/progress/paths.hpp>
#include <leat/progress/worklist.hpp>

namespace leat::progress {

template <Timestamp T>
class Tracker {
 public:
  using Summary = SummaryOf<T>;

  /// What a node has outstanding; the scope decides from it whom to wake and whom to let go.
  struct NodeState {
    std::uint32_t open_inputs = 0;  // targets whose frontier is not empty
    std::int64_t capabilities =
        0;  // frontier elements of its sources' pointstamps, over all workers
  };

  Tracker() = default;

  /// Requires: `graph` is complete. Nothing is outstanding until `update` says so.
  Tracker(const Graph<T>& graph, std::size_t nodes)
      : info_(graph.ports),
        forward_(Hops<Summary>::forward(graph.ports.size(), graph.hops)),
        pointstamps_(graph.ports.size()),
        implications_(graph.ports.size()),
        nodes_(nodes),
        outputs_(graph.scope_outputs.size()) {
    if (!graph.scope_outputs.empty()) {
      paths_ = paths_to_outputs(graph, Hops<Summary>::backward(graph.ports.size(), graph.hops));
    }
  }

  /// Records that the count at (`port`, `time`) changed by `delta`. Takes effect with `propagate`.
  void update(PortIndex port, const T& time, std::int64_t delta) {
    auto& counts = pointstamps_[port];
    const auto nonzero_before = static_cast<std::ptrdiff_t>(counts.nonzero());
    counts.update(time, delta, [&](const T& changed, int by) {
      work_.add(changed, port, by);
      const PortInfo& info = info_[port];
      if (info.kind == PortKind::source) {
        nodes_[info.node].capabilities += by;
        note_if_quiet(info.node);
      }
      if (info.node != 0 && !paths_.empty()) report_to_outputs(port, changed, by);
    });
    outstanding_ += static_cast<std::ptrdiff_t>(counts.nonzero()) - nonzero_before;
  }

  /// Carries all recorded changes along the hops.
  ///
  /// Calls `on_target(port, time, delta)` for each change of a target's frontier, and
  /// `on_output(output, time, delta)` for each change of a scope output's frontier.
  template <class OnTarget, class OnOutput>
  void propagate(OnTarget&& on_target, OnOutput&& on_output) {
    while (!work_.empty()) {
      const auto item = work_.take();
      if (item.delta != 0) settle(item, on_target);
    }
    for (auto& [output, time, delta] : output_changes_) {
      outputs_[output].update(time, delta,
                              [&](const T& changed, int by) { on_output(output, changed, by); });
    }
    output_changes_.clear();
  }

  /// Calls `on_quiet(node)` for nodes that have no open input and no capability any more.
  template <class OnQuiet>
  void drain_quiet(OnQuiet&& on_quiet) {
    for (const NodeIndex node : quiet_) {
      if (is_quiet(node)) on_quiet(node);
    }
    quiet_.clear();
  }

  /// The times that may still arrive at (or leave from) `port`.
  [[nodiscard]] const MutableAntichain<T>& implications(PortIndex port) const noexcept {
    return implications_[port];
  }
  [[nodiscard]] const MutableAntichain<T>& pointstamps(PortIndex port) const noexcept {
    return pointstamps_[port];
  }
  [[nodiscard]] const NodeState& node(NodeIndex node) const noexcept { return nodes_[node]; }

  /// True if retracting a count at (`port`, `time`) could move a frontier: others may be waiting for
  /// it. Peers that hold the same count may keep the frontier where it is all the same.
  [[nodiscard]] bool is_blocking(PortIndex port, const T& time) const {
    const auto& implied = implications_[port];
    return !implied.less_than(time) && implied.count_for(time) <= 1;
  }

  /// True while some count anywhere is not zero, or a change waits for `propagate`.
  [[nodiscard]] bool tracking_anything() const noexcept {
    return outstanding_ != 0 || !work_.empty() || !output_changes_.empty();
  }

  /// The shape, for reports: what `port` is, and the paths from it to the scope's outputs.
  [[nodiscard]] const PortInfo& info(PortIndex port) const noexcept { return info_[port]; }
  [[nodiscard]] const Hops<Summary>& forward() const noexcept { return forward_; }
  [[nodiscard]] const std::vector<PathToOutput<Summary>>& paths(PortIndex port) const noexcept {
    static const std::vector<PathToOutput<Summary>> none;
    return paths_.empty() ? none : paths_[port];
  }

 private:
  using Item = typename Worklist<T>::Item;
  struct OutputChange {
    std::uint32_t output;
    T time;
    std::int64_t delta;
  };
  template <class OnTarget>
  void settle(const Item& item, OnTarget& on_target) {
    auto& implied = implications_[item.port];
    const PortInfo& info = info_[item.port];
    const bool was_empty = implied.empty();
    implied.update(item.time, item.delta, [&](const T& changed, int by) {
      for (const auto& step : forward_.row(item.port)) {
        if (step.identity) {
          work_.add(changed, step.port, by);
        } else if (auto later = PathSummary<T>::results_in(step.summary, changed)) {
          work_.add(*later, step.port, by);
        }
      }
      if (info.kind == PortKind::target) on_target(item.port, changed, by);
    });
    if (info.kind == PortKind::target && implied.empty() != was_empty) {
      auto& open = nodes_[info.node].open_inputs;
      if (was_empty) {
        ++open;
      } else {
        LEAT_DCHECK(open > 0, "an input was closed twice");
        --open;
        note_if_quiet(info.node);
      }
    }
  }

  [[nodiscard]] bool is_quiet(NodeIndex node) const noexcept {
    return nodes_[node].open_inputs == 0 && nodes_[node].capabilities == 0;
  }
  void note_if_quiet(NodeIndex node) {
    if (is_quiet(node)) quiet_.push_back(node);
  }

  void report_to_outputs(PortIndex port, const T& time, std::int64_t delta) {
    for (const auto& path : paths_[port]) {
      if (auto later = PathSummary<T>::results_in(path.summary, time)) {
        output_changes_.push_back({path.output, std::move(*later), delta});
      }
    }
  }

  std::vector<PortInfo> info_;
  Hops<Summary> forward_;
  std::vector<MutableAntichain<T>> pointstamps_;
  std::vector<MutableAntichain<T>> implications_;
  std::vector<NodeState> nodes_;
  std::vector<MutableAntichain<T>> outputs_;
  std::vector<std::vector<PathToOutput<Summary>>> paths_;
  std::vector<OutputChange> output_changes_;
  std::vector<NodeIndex> quiet_;  // may hold nodes that a later change made busy again
  Worklist<T> work_;
  std::ptrdiff_t outstanding_ = 0;
};

}  // namespace leat::progress
