// What      The tracker of a scope whose times need not be comparable, such as the rounds of a loop
//           within an outer time. reachability.hpp says what a tracker is.
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
#include <leat/progress/node_states.hpp>
#include <leat/progress/paths.hpp>
#include <leat/progress/worklist.hpp>

namespace leat::progress {

template <Timestamp T>
class PartialTracker {
 public:
  using Summary = SummaryOf<T>;
  using NodeState = NodeStates::State;

  PartialTracker() = default;

  /// Requires: `graph` is complete. Nothing is outstanding until `update` says so.
  PartialTracker(const Graph<T>& graph, std::size_t nodes)
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
        nodes_.add_capabilities(info.node, by);
      }
      if (info.node != 0 && !paths_.empty()) report_to_outputs(port, changed, by);
    });
    outstanding_ += static_cast<std::ptrdiff_t>(counts.nonzero()) - nonzero_before;
  }

  /// The same as two updates, of `to` by `count` and of `from` by `-count`.
  void move(PortIndex port, const T& from, const T& to, std::int64_t count) {
    update(port, to, count);
    update(port, from, -count);
  }

  /// Carries all recorded changes along the hops.
  ///
  /// Calls `on_target(port, joined, left)` for changes of a target's frontier: a time that joined it
  /// and one that left it, null if none did. Calls `on_output(output, time, delta)` for each change
  /// of a scope output's frontier.
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

  /// What the nodes have outstanding, and which of them have nothing any more.
  [[nodiscard]] NodeStates& nodes() noexcept { return nodes_; }
  [[nodiscard]] const NodeState& node(NodeIndex node) const noexcept { return nodes_[node]; }

  /// The times that may still arrive at (or leave from) `port`.
  [[nodiscard]] AntichainRef<T> frontier(PortIndex port) const noexcept {
    return implications_[port].frontier();
  }
  [[nodiscard]] const MutableAntichain<T>& pointstamps(PortIndex port) const noexcept {
    return pointstamps_[port];
  }

  /// True if retracting a count at (`port`, `time`) could move a frontier: others may be waiting for
  /// it. Peers that hold the same count may keep the frontier where it is all the same.
  [[nodiscard]] bool is_blocking(PortIndex port, const T& time) const {
    const auto& implied = implications_[port];
    return !implied.less_than(time) && implied.count_for(time) <= 1;
  }

  /// Whether there is something to carry along.
  [[nodiscard]] bool has_changes() const noexcept {
    return !work_.empty() || !output_changes_.empty();
  }

  /// True while some count anywhere is not zero, or a change waits for `propagate`.
  [[nodiscard]] bool tracking_anything() const noexcept {
    return outstanding_ != 0 || !work_.empty() || !output_changes_.empty();
  }

  /// The shape, for reports: what `port` is, and the paths from it to the scope's outputs.
  [[nodiscard]] const PortInfo& info(PortIndex port) const noexcept { return info_[port]; }
  [[nodiscard]] std::span<const PortInfo> ports() const noexcept { return info_; }
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
        if (step.is_identity()) {
          work_.add(changed, step.port, by);
        } else if (auto later = PathSummary<T>::results_in(forward_.summary(step), changed)) {
          work_.add(*later, step.port, by);
        }
      }
      if (info.kind == PortKind::target)
        on_target(item.port, by > 0 ? &changed : nullptr, by > 0 ? nullptr : &changed);
    });
    if (info.kind == PortKind::target && implied.empty() != was_empty) {
      if (was_empty) {
        nodes_.open_input(info.node);
      } else {
        nodes_.close_input(info.node);
      }
    }
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
  NodeStates nodes_;
  std::vector<MutableAntichain<T>> outputs_;
  std::vector<std::vector<PathToOutput<Summary>>> paths_;
  std::vector<OutputChange> output_changes_;
  Worklist<T> work_;
  std::ptrdiff_t outstanding_ = 0;
};

}  // namespace leat::progress
