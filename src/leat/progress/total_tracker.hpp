// What      The tracker of a scope whose times can all be compared: what may still arrive at a port
//           is one time, the least. reachability.hpp says what a tracker is.
// Shape     Per port
//             value    the least time that may arrive, if any: the least of `own`, and of the values
//                      of the ports before it, each as the hop from there changes it
//             own      the least time with a positive count at the port itself, if any
//             support  how many of those give exactly `value`
// Protocol  `update` changes a count and notes the port. `propagate`
//             1 takes over what `own` became, which may take support away, or give it;
//             2 lets go of each value without support, and of what it supported, and so on: around
//               a loop too, since there a value supports only later ones;
//             3 settles: a port that has one way in and no count of its own follows the port before
//               it; any other looks at all ways in, in `settling_order`, when none before it waits.
// Invariants
//   (1) Between propagations `value` and `support` are as above at every port.
//   (2) From 2 on values only fall, so 3 ends: every cycle advances times.
//   (3) No chain of supports is a cycle: along one `value` would have to be later than itself.
// Limits    A port with many ways in looks at all of them when the last that gave its value is gone.
// Cost      For each port whose value changes: about sixty instructions, for one with several ways in
//           or counts of its own a few more per way. A count that moves no `own`: an update of a small
//           array. Nothing is allocated once it has grown.
// Source    Ours, after Ramalingam and Reps, On the computational complexity of dynamic graph problems
//           (1996); the counts are Naiad's (SOSP 2013).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/graph.hpp>
#include <leat/progress/mutable_antichain.hpp>
#include <leat/progress/node_states.hpp>
#include <leat/progress/order.hpp>
#include <leat/progress/paths.hpp>
#include <leat/progress/port_queue.hpp>

namespace leat::progress {

template <Timestamp T>
class TotalTracker {
  static_assert(Order<T>::is_total);

 public:
  using Summary = SummaryOf<T>;
  using NodeState = NodeStates::State;

  TotalTracker() = default;

  /// Requires: `graph` is complete. Nothing is outstanding until `update` says so.
  TotalTracker(const Graph<T>& graph, std::size_t nodes)
      : info_(graph.ports),
        forward_(Hops<Summary>::forward(graph.ports.size(), graph.hops)),
        backward_(Hops<Summary>::backward(graph.ports.size(), graph.hops)),
        pointstamps_(graph.ports.size()),
        places_(graph.ports.size()),
        nodes_(nodes),
        outputs_(graph.scope_outputs.size()),
        waiting_(settling_order(graph, forward_)) {
    if (!graph.scope_outputs.empty()) paths_ = paths_to_outputs(graph, backward_);
    for (PortIndex port = 0; port < places_.size(); ++port) {
      const auto ways_out = forward_.row(port);
      places_[port].ways_out = ways_out.data();
      places_[port].ways = static_cast<std::uint32_t>(ways_out.size());
      places_[port].is_target = info_[port].kind == PortKind::target;
      places_[port].has_one_way_in = backward_.row(port).size() <= 1;
      places_[port].follows = places_[port].has_one_way_in;
    }
    noted_ = PortList(graph.ports.size());
    lost_ = PortList(graph.ports.size());
  }

  /// Records that the count at (`port`, `time`) changed by `delta`. Takes effect with `propagate`.
  void update(PortIndex port, const T& time, std::int64_t delta) {
    auto& counts = pointstamps_[port];
    outstanding_ -= static_cast<std::ptrdiff_t>(counts.nonzero());
    counts.update(time, delta);
    outstanding_ += static_cast<std::ptrdiff_t>(counts.nonzero());
    note(port);
  }

  /// The same as two updates, of `to` by `count` and of `from` by `-count`: what a capability does
  /// that moves on.
  void move(PortIndex port, const T& from, const T& to, std::int64_t count) {
    if (!pointstamps_[port].replace_only(from, to, count)) {
      update(port, to, count);
      update(port, from, -count);
    }
    note(port);
  }

  /// Carries all recorded changes along the hops.
  ///
  /// Calls `on_target(port, joined, left)` for changes of a target's frontier: a time that joined it
  /// and one that left it, null if none did. Calls `on_output(output, time, delta)` for each change
  /// of a scope output's frontier.
  template <class OnTarget, class OnOutput>
  void propagate(OnTarget&& on_target, OnOutput&& on_output) {
    if (noted_.size == 0) return;
    for (std::size_t i = 0; i < noted_.size; ++i) take_over(noted_[i], on_output);
    noted_.size = 0;
    for (std::size_t i = 0; i < lost_.size; ++i) let_go_after(lost_[i]);
    while (!waiting_.empty()) settle(waiting_.take(), on_target);
    if (lost_left_ != 0) report_empty(on_target);
    lost_.size = 0;
  }

  /// What the nodes have outstanding as of the last propagation, and which have nothing any more.
  [[nodiscard]] NodeStates& nodes() noexcept { return nodes_; }
  [[nodiscard]] const NodeState& node(NodeIndex node) const noexcept { return nodes_[node]; }

  /// The times that may still arrive at (or leave from) `port`.
  [[nodiscard]] AntichainRef<T> frontier(PortIndex port) const noexcept {
    const Place& place = places_[port];
    return AntichainRef<T>(std::span<const T>(&place.value, place.has_value ? 1 : 0));
  }
  [[nodiscard]] const MutableAntichain<T>& pointstamps(PortIndex port) const noexcept {
    return pointstamps_[port];
  }

  /// True if retracting a count at (`port`, `time`) could move a frontier: others may be waiting for
  /// it. Peers that hold the same count may keep the frontier where it is all the same.
  [[nodiscard]] bool is_blocking(PortIndex port, const T& time) const {
    const Place& place = places_[port];
    if (!place.has_value || time < place.value) return true;
    return place.value == time && place.support <= 1;
  }

  /// Whether there is something to carry along.
  [[nodiscard]] bool has_changes() const noexcept { return noted_.size != 0; }

  /// True while some count anywhere is not zero, or a change waits for `propagate`.
  [[nodiscard]] bool tracking_anything() const noexcept {
    return outstanding_ != 0 || noted_.size != 0;
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
  static constexpr PortIndex kNoPort = UINT32_MAX;

  struct Place {
    T value{};
    T own{};
    const Step* ways_out = nullptr;  // `ways` of them
    std::uint32_t ways = 0;
    std::uint32_t support = 0;
    bool has_value = false;
    bool has_own = false;
    bool has_one_way_in = true;  // or none
    bool follows = true;         // and no count of its own: its value is that of the port before it
    bool is_target = false;
    bool is_noted = false;  // in `noted_`
    bool is_lost = false;   // let go, with nothing new so far; `value` is what it was before
  };
  /// A port that got a value, and whether it gave up a later one for that.
  struct Settled {
    PortIndex port = kNoPort;
    bool had_value = false;
  };
  /// Ports, each at most once.
  struct PortList {
    PortList() = default;
    explicit PortList(std::size_t ports) : places(std::make_unique<PortIndex[]>(ports)) {}
    void add(PortIndex port) noexcept { places[size++] = port; }
    PortIndex operator[](std::size_t i) const noexcept { return places[i]; }

    std::unique_ptr<PortIndex[]> places;
    std::size_t size = 0;
  };

  static std::optional<T> after(const Hops<Summary>& hops, const Step& step, const T& time) {
    if (step.is_identity()) return time;
    return PathSummary<T>::results_in(hops.summary(step), time);
  }
  static std::span<const Step> ways_out(const Place& place) noexcept {
    return {place.ways_out, place.ways};
  }

  void note(PortIndex port) noexcept {
    Place& place = places_[port];
    if (place.is_noted) return;
    place.is_noted = true;
    noted_.add(port);
  }

  // -- 1: what is counted at a port ------------------------------------------------------------------

  template <class OnOutput>
  void take_over(PortIndex port, OnOutput& on_output) {
    Place& place = places_[port];
    place.is_noted = false;
    const T* const now = pointstamps_[port].frontier().as_option();
    if (now == nullptr ? !place.has_own : place.has_own && place.own == *now) return;
    if (!paths_.empty() && info_[port].node != 0) tell_outputs(port, now, on_output);
    if (!place.is_target && (now != nullptr) != place.has_own) {
      nodes_.add_capabilities(info_[port].node, now != nullptr ? +1 : -1);
    }
    if (place.has_value) {
      if (place.has_own && place.own == place.value) --place.support;
      if (now != nullptr && *now == place.value) ++place.support;
    }
    place.has_own = now != nullptr;
    place.follows = place.has_one_way_in && !place.has_own;
    if (place.has_own) place.own = *now;
    if (place.has_value && place.support == 0) {
      lose(port, place);
      waiting_.add(port);
    } else if (place.has_own && (!place.has_value || place.own < place.value)) {
      waiting_.add(port);
    }
  }

  template <class OnOutput>
  void tell_outputs(PortIndex port, const T* now, OnOutput& on_output) {
    const Place& place = places_[port];
    for (const auto& path : paths_[port]) {
      const auto tell = [&](const T& time, std::int64_t by) {
        if (const auto later = PathSummary<T>::results_in(path.summary, time)) {
          outputs_[path.output].update(
              *later, by, [&](const T& changed, int d) { on_output(path.output, changed, d); });
        }
      };
      if (now != nullptr) tell(*now, +1);
      if (place.has_own) tell(place.own, -1);
    }
  }

  // -- 2: values without support ---------------------------------------------------------------------

  void lose(PortIndex port, Place& place) {
    place.has_value = false;
    place.is_lost = true;
    lost_.add(port);
    ++lost_left_;
  }

  void let_go_after(PortIndex port) {
    const Place& place = places_[port];
    for (const Step& step : ways_out(place)) {
      Place& next = places_[step.port];
      if (!next.has_value) continue;
      const auto given = after(forward_, step, place.value);
      if (!given || !(*given == next.value) || --next.support != 0) continue;
      lose(step.port, next);
      if (!next.follows) waiting_.add(step.port);  // there is another way in
    }
  }

  // -- 3: new values ---------------------------------------------------------------------------------

  template <class OnTarget>
  void settle(PortIndex port, OnTarget& on_target) {
    Place& place = places_[port];
    bool found = place.has_own;
    T least = place.own;
    std::uint32_t support = found ? 1 : 0;
    for (const Step& step : backward_.row(port)) {
      const Place& before = places_[step.port];
      if (!before.has_value) continue;
      const auto given = after(backward_, step, before.value);
      if (!given || (found && least < *given)) continue;
      support = found && least == *given ? support + 1 : 1;
      least = *given;
      found = true;
    }
    if (!found) return;
    if (place.has_value && place.value == least) {
      place.support = support;
      return;
    }
    const Settled settled{port, place.has_value};
    give(port, place, least, support, on_target);
    carry_on(settled, on_target);
  }

  // Follows what follows, and what has several ways in waits.
  template <class OnTarget>
  void carry_on(Settled from, OnTarget& on_target) {
    for (;;) {
      const Place& place = places_[from.port];
      Settled follower;
      for (const Step& step : ways_out(place)) {
        const auto given = after(forward_, step, place.value);
        if (!given) continue;
        Place& next = places_[step.port];
        const bool is_same = next.has_value && next.value == *given;
        if (next.has_value && next.value < *given) continue;
        if (is_same && !from.had_value) {
          ++next.support;
        } else if (!next.follows) {
          waiting_.add(step.port);
        } else if (!is_same) {
          if (follower.port != kNoPort) settled_.push_back(follower);
          follower = {step.port, next.has_value};
          give(step.port, next, *given, 1, on_target);
        }
      }
      if (follower.port == kNoPort) {
        if (settled_.empty()) return;
        follower = settled_.back();
        settled_.pop_back();
      }
      from = follower;
    }
  }

  template <class OnTarget>
  void give(PortIndex port, Place& place, const T& time, std::uint32_t support,
            OnTarget& on_target) {
    if (place.is_target) {
      if (!place.has_value && !place.is_lost) {
        nodes_.open_input(info_[port].node);
        on_target(port, &time, nullptr);
      } else if (!(place.value == time)) {
        on_target(port, &time, &std::as_const(place.value));
      }
    }
    if (place.is_lost) {
      place.is_lost = false;
      --lost_left_;
    }
    place.value = time;
    place.support = support;
    place.has_value = true;
  }

  template <class OnTarget>
  [[gnu::noinline]] void report_empty(OnTarget& on_target) {
    for (std::size_t i = 0; i < lost_.size; ++i) {
      Place& place = places_[lost_[i]];
      if (!place.is_lost) continue;
      place.is_lost = false;
      if (!place.is_target) continue;
      on_target(lost_[i], nullptr, &std::as_const(place.value));
      nodes_.close_input(info_[lost_[i]].node);
    }
    lost_left_ = 0;
  }

  std::vector<PortInfo> info_;
  Hops<Summary> forward_;
  Hops<Summary> backward_;
  std::vector<MutableAntichain<T>> pointstamps_;
  std::vector<Place> places_;
  NodeStates nodes_;
  std::vector<MutableAntichain<T>> outputs_;
  std::vector<std::vector<PathToOutput<Summary>>> paths_;
  PortList noted_;                  // whose counts changed
  PortList lost_;                   // whose values were let go
  std::size_t lost_left_ = 0;       // of those, how many have nothing new
  std::vector<Settled> settled_;    // that got a value which was not carried on yet
  PortQueue waiting_;               // that must look at all ways in
  std::ptrdiff_t outstanding_ = 0;  // times with a count, over all ports
};

}  // namespace leat::progress
