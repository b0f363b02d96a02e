// What      The tracker of a scope whose times can all be compared: what may still arrive at a port
//           is one time, the least. reachability.hpp says what a tracker is.
// Shape     Per port
//             value    the least time that may arrive, if any: the least of `own`, and of the values
//                      of the ports before it, each as the hop from there changes it
//             own      the least time with a positive count at the port itself, if any
//             support  how many of those give exactly `value`
// Protocol  `update` changes a count and notes the port. `propagate`
//             1 takes over what `own` became, which may take support away, or give it. A value
//               without support moves on at once where the next can be trusted, and with it all
//               values that it alone supported;
//             2 lets go of each other value without support, and of what it supported, and so on:
//               around a loop too, since there a value supports only later ones;
//             3 settles: a port that has one way in and no count of its own follows the port before
//               it; any other looks at all ways in, in `settling_order`, when none before it waits.
// Invariants
//   (1) Between propagations `value` and `support` are as above at every port, and within one at
//       every port that was not let go, does not wait and is not noted.
//   (2) From 2 on values only fall, so 3 ends: every cycle advances times.
//   (3) No chain of supports is a cycle: along one `value` would have to be later than itself. So
//       (1) has one solution.
//   (4) In 1 a port on a cycle moves on to its own count, or to what the port gives it that moved on
//       just now; never to what another way says, which may come from its own old value.
// Limits    A port with many ways in looks at all of them when the last that gave its value is gone.
// Cost      For each port whose value moves on: about thirty instructions, for one with several ways in
//           or counts of its own a few more per way; twice that for one that is let go. A count that moves no `own`: an update of a small
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
        outputs_(graph.scope_outputs.size()) {
    if (!graph.scope_outputs.empty()) paths_ = paths_to_outputs(graph, backward_);
    for (PortIndex port = 0; port < places_.size(); ++port) {
      const auto ways_out = forward_.row(port);
      if (ways_out.size() == 1) places_[port].way_out = ways_out[0];
      places_[port].ways = static_cast<std::uint32_t>(ways_out.size());
      places_[port].is_target = info_[port].kind == PortKind::target;
      places_[port].has_one_way_in = backward_.row(port).size() <= 1;
      places_[port].follows = places_[port].has_one_way_in;
    }
    auto order = settling_order(graph, forward_);
    for (std::size_t i = order.acyclic; i < order.ports.size(); ++i)
      places_[order.ports[i]].may_be_cyclic = true;
    waiting_ = PortQueue(std::move(order.ports));
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

  /// The same and `propagate`, where the move is all there is to carry along and nothing stands in
  /// its way: what most rounds do.
  ///
  /// Returns: whether it did; if not, nothing has changed.
  template <class OnTarget>
  bool move_at_once(PortIndex port, const T& from, const T& to, std::int64_t count,
                    OnTarget&& on_target) {
    Place& place = places_[port];
    if (noted_.size != 0 || !paths_.empty() || place.support != 1 || !place.has_own ||
        !(place.own == from) || !(place.value == from) || to < from) {
      return false;
    }
    std::uint32_t support = 1;
    for (const Step& step : backward_.row(port)) {
      const Place& before = places_[step.port];
      if (!before.has_value()) continue;
      const auto given = after(backward_, step, before.value);
      if (!given || to < *given) continue;
      if (*given < to) return false;
      ++support;
    }
    if (!pointstamps_[port].replace_only(from, to, count)) return false;
    place.own = to;
    place.value = to;
    place.support = support;
    if (place.is_target) on_target(port, &std::as_const(place.value), &from);
    carry_further({port, from}, on_target);
    if (lost_.size != 0) [[unlikely]]
      settle_all(on_target);
    return true;
  }

  /// Carries all recorded changes along the hops.
  ///
  /// Calls `on_target(port, joined, left)` for changes of a target's frontier: a time that joined it
  /// and one that left it, null if none did. Calls `on_output(output, time, delta)` for each change
  /// of a scope output's frontier.
  template <class OnTarget, class OnOutput>
  void propagate(OnTarget&& on_target, OnOutput&& on_output) {
    if (noted_.size == 0) return;
    if (noted_.size > 1) take_over_earlier(on_target, on_output);
    for (std::size_t i = 0; i < noted_.size; ++i) take_over(noted_[i], on_target, on_output);
    noted_.size = 0;
    settle_all(on_target);
  }

  /// What the nodes have outstanding as of the last propagation, and which have nothing any more.
  [[nodiscard]] NodeStates& nodes() noexcept { return nodes_; }
  [[nodiscard]] const NodeState& node(NodeIndex node) const noexcept { return nodes_[node]; }

  /// The times that may still arrive at (or leave from) `port`.
  [[nodiscard]] AntichainRef<T> frontier(PortIndex port) const noexcept {
    const Place& place = places_[port];
    return AntichainRef<T>(std::span<const T>(&place.value, place.has_value() ? 1 : 0));
  }
  [[nodiscard]] const MutableAntichain<T>& pointstamps(PortIndex port) const noexcept {
    return pointstamps_[port];
  }

  /// True if retracting a count at (`port`, `time`) could move a frontier: others may be waiting for
  /// it. Peers that hold the same count may keep the frontier where it is all the same.
  [[nodiscard]] bool is_blocking(PortIndex port, const T& time) const {
    const Place& place = places_[port];
    if (!place.has_value() || time < place.value) return true;
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
    Step way_out{};  // the only one, if there is one
    std::uint32_t ways = 0;
    std::uint32_t support = 0;  // 0: no value
    bool has_own = false;
    bool has_one_way_in = true;  // or none
    bool follows = true;         // and no count of its own: its value is that of the port before it
    bool is_target = false;
    bool is_noted = false;       // in `noted_`
    bool is_lost = false;        // let go, with nothing new so far; `value` is what it was before
    bool may_be_cyclic = false;  // on a cycle, or behind one

    [[nodiscard]] bool has_value() const noexcept { return support != 0; }
  };
  /// A port whose value has moved on, and what it was.
  struct Moved {
    PortIndex port = kNoPort;
    T before{};
  };
  /// The least of what a port's own count and the ports before it give it.
  struct Least {
    T time{};
    std::uint32_t support = 0;  // 0: nothing does
    bool sees_lost = false;     // a port before it was let go
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
  [[nodiscard]] std::span<const Step> ways_out(PortIndex port, const Place& place) const noexcept {
    if (place.ways == 1) return {&place.way_out, 1};
    return forward_.row(port);
  }

  void note(PortIndex port) noexcept {
    Place& place = places_[port];
    if (place.is_noted) return;
    place.is_noted = true;
    noted_.add(port);
  }

  // -- 1: what is counted at a port ------------------------------------------------------------------

  template <class OnTarget, class OnOutput>
  void take_over(PortIndex port, OnTarget& on_target, OnOutput& on_output) {
    Place& place = places_[port];
    place.is_noted = false;
    const T* const now = pointstamps_[port].frontier().as_option();
    if (now == nullptr ? !place.has_own : place.has_own && place.own == *now) return;
    if (!paths_.empty() && info_[port].node != 0) tell_outputs(port, now, on_output);
    if (!place.is_target && (now != nullptr) != place.has_own) {
      nodes_.add_capabilities(info_[port].node, now != nullptr ? +1 : -1);
    }
    const bool had_value = place.has_value();
    if (had_value) {
      if (place.has_own && place.own == place.value) --place.support;
      if (now != nullptr && *now == place.value) ++place.support;
    }
    place.has_own = now != nullptr;
    place.follows = place.has_one_way_in && !place.has_own;
    if (place.has_own) place.own = *now;
    if (had_value && place.support == 0) {
      move_on(port, place, on_target);
    } else if (place.has_own && (!had_value || place.own < place.value)) {
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

  // First what may hold back what moves on; so that nothing moves on and comes back.
  template <class OnTarget, class OnOutput>
  void take_over_earlier(OnTarget& on_target, OnOutput& on_output) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < noted_.size; ++i) {
      const PortIndex port = noted_[i];
      const Place& place = places_[port];
      const T* const now = pointstamps_[port].frontier().as_option();
      if (now != nullptr && (!place.has_own || *now < place.own)) {
        take_over(port, on_target, on_output);
      } else {
        noted_.places[left++] = port;
      }
    }
    noted_.size = left;
  }

  // The port's own count was all that gave it its value.
  template <class OnTarget>
  void move_on(PortIndex port, Place& place, OnTarget& on_target) {
    const T before = place.value;
    if (!renew(port, place, nullptr)) {
      lose(port, place);
      waiting_.add(port);
      return;
    }
    if (place.is_target) on_target(port, &std::as_const(place.value), &before);
    carry_further({port, before}, on_target);
  }

  // Gives a port without support the next value, if that can be trusted. `given` is what the port
  // gives it that moved on just now; null if none did, or if it gives nothing.
  bool renew(PortIndex port, Place& place, const T* given) {
    const Least least = least_of(port, place);
    if (least.support == 0 || least.sees_lost || least.time < place.value) return false;
    const bool is_trusted = !place.may_be_cyclic || (place.has_own && place.own == least.time) ||
                            (given != nullptr && *given == least.time);
    if (!is_trusted) return false;
    place.value = least.time;
    place.support = least.support;
    return true;
  }

  // Follows what only the old value supported. Where one port leads to one other that follows it,
  // which is most, in a few instructions each.
  template <class OnTarget>
  void carry_further(Moved from, OnTarget& on_target) {
    T now = places_[from.port].value;
    for (;;) {
      const Place& place = places_[from.port];
      if (place.ways == 1) [[likely]] {
        const Step step = place.way_out;
        if (follow(step, from.before, now, on_target)) {
          from.port = step.port;
          continue;
        }
      } else {
        for (const Step& step : forward_.row(from.port)) {
          T before = from.before;
          T after = now;
          if (follow(step, before, after, on_target)) moved_.push_back({step.port, before});
        }
      }
      if (moved_.empty()) return;
      from = moved_.back();
      moved_.pop_back();
      now = places_[from.port].value;
    }
  }
  // Carries that a value moved from `before` to `now` over one hop, and makes them those behind it.
  // Returns: whether the value there moved too.
  template <class OnTarget>
  [[gnu::always_inline]] bool follow(const Step& step, T& before, T& now, OnTarget& on_target) {
    Place& next = places_[step.port];
    if (!next.has_value()) return false;
    bool is_given = true;
    if (!step.is_identity()) {
      const auto& summary = forward_.summary(step);
      const auto old = PathSummary<T>::results_in(summary, before);
      if (!old) return false;
      before = *old;
      const auto given = PathSummary<T>::results_in(summary, now);
      is_given = given.has_value();
      if (is_given) now = *given;
    }
    if (!(next.value == before) || --next.support != 0) return false;
    if (next.follows && is_given) [[likely]] {
      next.value = now;
      next.support = 1;
    } else if (!next.follows && renew(step.port, next, is_given ? &now : nullptr)) {
      now = next.value;
    } else {
      lose(step.port, next);
      if (!next.follows) waiting_.add(step.port);
      return false;
    }
    if (next.is_target) {
      const T was = before;  // whose address may be given away
      on_target(step.port, &std::as_const(next.value), &was);
    }
    return true;
  }

  template <class OnTarget>
  void settle_all(OnTarget& on_target) {
    for (std::size_t i = 0; i < lost_.size; ++i) let_go_after(lost_[i]);
    while (!waiting_.empty()) settle(waiting_.take(), on_target);
    if (lost_left_ != 0) report_empty(on_target);
    lost_.size = 0;
  }

  // -- 2: values without support ---------------------------------------------------------------------

  void lose(PortIndex port, Place& place) {
    place.support = 0;
    place.is_lost = true;
    lost_.add(port);
    ++lost_left_;
  }

  void let_go_after(PortIndex port) {
    const Place& place = places_[port];
    for (const Step& step : ways_out(port, place)) {
      Place& next = places_[step.port];
      if (!next.has_value()) continue;
      const auto given = after(forward_, step, place.value);
      if (!given || !(*given == next.value) || --next.support != 0) continue;
      lose(step.port, next);
      if (!next.follows) waiting_.add(step.port);  // there is another way in
    }
  }

  [[nodiscard]] Least least_of(PortIndex port, const Place& place) const {
    Least least{place.own, place.has_own ? 1U : 0U};
    for (const Step& step : backward_.row(port)) {
      const Place& before = places_[step.port];
      if (!before.has_value()) {
        least.sees_lost = least.sees_lost || before.is_lost;
        continue;
      }
      const auto given = after(backward_, step, before.value);
      if (!given || (least.support != 0 && least.time < *given)) continue;
      least.support = least.support != 0 && least.time == *given ? least.support + 1 : 1;
      least.time = *given;
    }
    return least;
  }

  // -- 3: new values ---------------------------------------------------------------------------------

  template <class OnTarget>
  void settle(PortIndex port, OnTarget& on_target) {
    Place& place = places_[port];
    const auto [least, support, sees_lost] = least_of(port, place);
    if (support == 0) return;
    if (place.has_value() && place.value == least) {
      place.support = support;
      return;
    }
    const Settled settled{port, place.has_value()};
    give(port, place, least, support, on_target);
    carry_on(settled, on_target);
  }

  // Follows what follows, and what has several ways in waits.
  template <class OnTarget>
  void carry_on(Settled from, OnTarget& on_target) {
    for (;;) {
      const Place& place = places_[from.port];
      Settled follower;
      for (const Step& step : ways_out(from.port, place)) {
        const auto given = after(forward_, step, place.value);
        if (!given) continue;
        Place& next = places_[step.port];
        const bool is_same = next.has_value() && next.value == *given;
        if (next.has_value() && next.value < *given) continue;
        if (is_same && !from.had_value) {
          ++next.support;
        } else if (!next.follows) {
          waiting_.add(step.port);
        } else if (!is_same) {
          if (follower.port != kNoPort) settled_.push_back(follower);
          follower = {step.port, next.has_value()};
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
      if (!place.has_value() && !place.is_lost) {
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
  std::vector<Moved> moved_;        // that moved on and were not carried further yet
  std::vector<Settled> settled_;    // that got a value which was not carried on yet
  PortQueue waiting_;               // that must look at all ways in
  std::ptrdiff_t outstanding_ = 0;  // times with a count, over all ports
};

}  // namespace leat::progress
