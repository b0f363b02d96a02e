// The tracker and the questions about a scope's shape against oracles that follow the definitions: counts
// that are carried along all hops until nothing new comes, paths that are enumerated, cycles that are
// searched for in depth.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/rng.hpp>
#include <leat/progress/antichain.hpp>
#include <leat/progress/paths.hpp>
#include <leat/progress/product.hpp>
#include <leat/progress/reachability.hpp>

#include "draw_graph.hpp"
#include "draw_time.hpp"
#include "property.hpp"

namespace leat::progress {
namespace {

using property::draw;

template <class T>
using Counts = std::map<T, std::int64_t>;

template <class T>
void add(Counts<T>& counts, const T& time, std::int64_t diff) {
  if ((counts[time] += diff) == 0) counts.erase(time);
}
template <class T>
std::vector<T> sorted(AntichainRef<T> antichain) {
  std::vector<T> times(antichain.begin(), antichain.end());
  std::sort(times.begin(), times.end());
  return times;
}
template <class T>
std::vector<T> times_of(const Counts<T>& counts) {
  std::vector<T> times;
  for (const auto& [time, count] : counts) times.push_back(time);
  return times;
}

/// What can still arrive at each port: the positive counts of all ports (of children only, if so asked),
/// carried along every hop until nothing new comes.
template <class T>
std::vector<Antichain<T>> closure(const Graph<T>& graph, const std::vector<Counts<T>>& counts,
                                  bool children_only = false) {
  std::vector<Antichain<T>> reach(graph.ports.size());
  for (PortIndex port = 0; port < graph.ports.size(); ++port) {
    if (children_only && graph.ports[port].node == 0) continue;
    for (const auto& [time, count] : counts[port]) {
      if (count > 0) reach[port].insert(time);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& hop : graph.hops) {
      const Antichain<T> from = reach[hop.from];
      for (const T& time : from) {
        const auto later = PathSummary<T>::results_in(hop.summary, time);
        if (later && reach[hop.to].insert(*later)) changed = true;
      }
    }
  }
  return reach;
}

template <class T>
class Reachability : public ::testing::Test {};
using Byte = std::uint8_t;  // its times end soon
using Grid = Product<std::uint64_t, std::uint64_t>;
using Times = ::testing::Types<std::uint64_t, Grid, Byte>;
TYPED_TEST_SUITE(Reachability, Times);

constexpr property::DrawOptions kScopes{
    .nodes_max = 7, .scope_inputs_max = 2, .scope_outputs_max = 2};

/// A tracker and its oracle, and everything that the tracker reported.
template <class T>
class World {
 public:
  explicit World(Rng& rng)
      : drawn_(property::draw_shape<T>(rng, kScopes)),
        graph_(drawn_.graph),
        nodes_(drawn_.targets.size()),
        tracker_(graph_, nodes_),
        counts_(graph_.ports.size()),
        reported_(graph_.ports.size()),
        outputs_(graph_.scope_outputs.size()),
        was_quiet_(nodes_, true) {}

  [[nodiscard]] std::size_t ports() const { return graph_.ports.size(); }
  [[nodiscard]] const std::vector<Counts<T>>& counts() const { return counts_; }

  /// What a scope never does is not asked: counts at its outputs belong to its parent.
  [[nodiscard]] bool takes_counts(PortIndex port) const {
    return graph_.ports[port].node != 0 || graph_.ports[port].kind == PortKind::source;
  }

  void update(PortIndex port, const T& time, std::int64_t diff) {
    tracker_.update(port, time, diff);
    add(counts_[port], time, diff);
  }
  void move(PortIndex port, const T& from, const T& to, std::int64_t count) {
    tracker_.move(port, from, to, count);
    add(counts_[port], from, -count);
    add(counts_[port], to, +count);
  }

  /// A move that the tracker may carry along at once, or refuse and change nothing.
  bool moves_at_once(PortIndex port, const T& from, const T& to, std::int64_t count) {
    if constexpr (Order<T>::is_total) {
      const bool moved = tracker_.move_at_once(
          port, from, to, count,
          [&](PortIndex at, const T* joined, const T* left) { report(at, joined, left); });
      if (!moved) return false;
      add(counts_[port], from, -count);
      add(counts_[port], to, +count);
      return true;
    } else {
      return false;
    }
  }

  void propagate() {
    tracker_.propagate(
        [&](PortIndex port, const T* joined, const T* left) { report(port, joined, left); },
        [&](std::uint32_t output, const T& time, int by) { add(outputs_[output], time, by); });
    quiet_.clear();
    tracker_.nodes().drain_quiet([&](NodeIndex node) { quiet_.insert(node); });
  }

  void check() {
    const auto reach = closure(graph_, counts_);
    const auto reach_of_children = closure(graph_, counts_, true);
    bool anything = false;
    std::vector<typename Tracker<T>::NodeState> states(nodes_);
    for (PortIndex port = 0; port < ports(); ++port) {
      const auto& info = graph_.ports[port];
      const std::vector<T> expected = sorted(reach[port].borrow());
      LEAT_HOLDS(sorted(tracker_.frontier(port)) == expected);
      if (info.kind == PortKind::target) {
        LEAT_HOLDS(times_of(reported_[port]) == expected);
        for (const auto& [time, count] : reported_[port]) LEAT_HOLDS(count == 1);
        if (!expected.empty()) ++states[info.node].open_inputs;
      } else {
        Antichain<T> held;
        for (const auto& [time, count] : counts_[port]) {
          if (count > 0) held.insert(time);
        }
        states[info.node].capabilities += static_cast<std::int64_t>(held.size());
      }
      anything = anything || !counts_[port].empty();
    }
    for (std::uint32_t output = 0; output < outputs_.size(); ++output) {
      const PortIndex port = graph_.scope_outputs[output];
      LEAT_HOLDS(times_of(outputs_[output]) == sorted(reach_of_children[port].borrow()));
      for (const auto& [time, count] : outputs_[output]) LEAT_HOLDS(count == 1);
    }
    for (NodeIndex node = 0; node < nodes_; ++node) {
      LEAT_HOLDS(tracker_.node(node).open_inputs == states[node].open_inputs);
      LEAT_HOLDS(tracker_.node(node).capabilities == states[node].capabilities);
      const bool is_quiet = states[node].open_inputs == 0 && states[node].capabilities == 0;
      LEAT_HOLDS(is_quiet || !quiet_.contains(node));
      if (!was_quiet_[node] && is_quiet) LEAT_HOLDS(quiet_.contains(node));
      was_quiet_[node] = is_quiet;
    }
    LEAT_HOLDS(tracker_.tracking_anything() == anything);
  }

  /// Demand mode lives by this: what moves any frontier when it is taken away is called blocking.
  void check_blocking() {
    const auto before = closure(graph_, counts_);
    for (PortIndex port = 0; port < ports(); ++port) {
      for (const auto& [time, count] : Counts<T>(counts_[port])) {
        if (count <= 0) continue;
        add(counts_[port], time, -1);
        const bool moves = closure(graph_, counts_) != before;
        add(counts_[port], time, +1);
        LEAT_HOLDS(!moves || tracker_.is_blocking(port, time));
        // And not all is, or nothing would ever be held.
        if (before[port].less_than(time)) LEAT_HOLDS(!tracker_.is_blocking(port, time));
      }
    }
  }

 private:
  void report(PortIndex port, const T* joined, const T* left) {
    if (joined != nullptr) add(reported_[port], *joined, +1);
    if (left != nullptr) add(reported_[port], *left, -1);
  }

  property::Drawn<T> drawn_;
  const Graph<T>& graph_;
  std::size_t nodes_;
  Tracker<T> tracker_;
  std::vector<Counts<T>> counts_;
  std::vector<Counts<T>> reported_;
  std::vector<Counts<T>> outputs_;
  std::set<NodeIndex> quiet_;
  std::vector<bool> was_quiet_;
};

template <class T>
T draw_late(Rng& rng, std::uint64_t range) {
  return draw<T>(rng, range);
}
template <>
Byte draw_late<Byte>(Rng& rng, std::uint64_t range) {
  return static_cast<Byte>(255 - draw<Byte>(rng, range));
}

TYPED_TEST(Reachability, FrontiersAreTheClosureOfTheCountsOverAllPaths) {
  using T = TypeParam;
  for (std::uint64_t round = 0; round < 1500; ++round) {
    Rng rng(property::seed() + round);
    World<T> world(rng);
    if (world.ports() == 0) continue;
    const std::uint64_t range = 1 + rng.below(8);
    const bool negatives = rng.below(3) != 0;
    for (int step = 0; step < 30 && !this->HasFailure(); ++step) {
      for (std::uint64_t n = 1 + rng.below(6); n > 0; --n) {
        const auto port = static_cast<PortIndex>(rng.below(world.ports()));
        if (!world.takes_counts(port)) continue;
        T time = draw_late<T>(rng, range);
        std::int64_t diff = property::draw_diff(rng);
        if (const auto& here = world.counts()[port]; rng.below(2) == 0 && !here.empty()) {
          auto chosen = here.begin();
          std::advance(chosen, static_cast<std::ptrdiff_t>(rng.below(here.size())));
          time = chosen->first;
          diff = -chosen->second;
        } else if (!negatives) {
          diff = diff < 0 ? -diff : diff;
        }
        if (rng.below(3) == 0 && diff < 0) {
          world.move(port, time, draw_late<T>(rng, range), -diff);
        } else {
          world.update(port, time, diff);
        }
      }
      world.propagate();
      world.check();
      if (step % 4 == 0) world.check_blocking();
    }
    const auto left = world.counts();  // everything goes
    for (PortIndex port = 0; port < left.size(); ++port) {
      for (const auto& [time, count] : left[port]) world.update(port, time, -count);
    }
    world.propagate();
    world.check();
    if (this->HasFailure()) {
      ADD_FAILURE() << "LEAT_SEED=" << property::seed() + round;
      return;
    }
  }
}

// One capability per source, which move on one by one: what most rounds of a dataflow are.
TYPED_TEST(Reachability, AMoveThatIsCarriedAlongAtOnceIsTheSameMove) {
  using T = TypeParam;
  std::uint64_t moved = 0;
  for (std::uint64_t round = 0; round < 1500; ++round) {
    Rng rng(property::seed() + round);
    World<T> world(rng);
    const std::uint64_t range = 1 + rng.below(8);
    std::vector<PortIndex> held;
    for (PortIndex port = 0; port < world.ports(); ++port) {
      if (!world.takes_counts(port) || rng.below(3) == 0) continue;
      held.push_back(port);
      world.update(port, draw_late<T>(rng, range), +1);
    }
    world.propagate();
    for (int step = 0; step < 30 && !held.empty() && !this->HasFailure(); ++step) {
      const PortIndex port = held[rng.below(held.size())];
      const T from = world.counts()[port].begin()->first;
      const T to = draw_late<T>(rng, range);
      if (world.moves_at_once(port, from, to, 1)) {
        ++moved;
      } else {
        world.move(port, from, to, 1);
      }
      world.propagate();  // also tells who has nothing left
      world.check();
    }
    if (this->HasFailure()) {
      ADD_FAILURE() << "LEAT_SEED=" << property::seed() + round;
      return;
    }
  }
  EXPECT_EQ(moved > 0, Order<T>::is_total);
}

// Counts move as an operator moves them, and the consumer's report comes first.
TYPED_TEST(Reachability, AConsumersReportThatOvertakesItsProducersMovesNoFrontierBack) {
  using T = TypeParam;
  for (std::uint64_t round = 0; round < 2000; ++round) {
    Rng rng(property::seed() + round);
    const auto drawn = property::Drawn<T>(property::draw_shape<T>(rng, kScopes));
    const auto& graph = drawn.graph;
    if (graph.hops.empty()) continue;
    Tracker<T> tracker(graph, drawn.targets.size());
    std::vector<Counts<T>> frontier(graph.ports.size());
    const auto propagate = [&] {
      tracker.propagate(
          [&](PortIndex port, const T* joined, const T* left) {
            if (joined != nullptr) add(frontier[port], *joined, +1);
            if (left != nullptr) add(frontier[port], *left, -1);
          },
          [](std::uint32_t, const T&, int) {});
    };
    // A capability at one source; a record that it sends over one edge is consumed before it is produced.
    const auto& hop = graph.hops[rng.below(graph.hops.size())];
    if (graph.ports[hop.from].kind != PortKind::source) continue;
    const T time = draw<T>(rng, 4);
    tracker.update(hop.from, time, +1);
    propagate();
    const auto before = frontier;
    tracker.update(hop.to, time, -3);
    propagate();
    LEAT_HOLDS(frontier == before);
    LEAT_HOLDS(tracker.tracking_anything());
    tracker.update(hop.from, time, -1);
    tracker.update(hop.to, time, +3);
    propagate();
    for (const auto& counts : frontier) LEAT_HOLDS(counts.empty());
    LEAT_HOLDS(!tracker.tracking_anything());
  }
}

// -- Shapes ---------------------------------------------------------------------------------------

/// All simple paths from `port` to each output. A cycle only adds, so no other path is minimal.
template <class T>
void enumerate(const Graph<T>& graph, PortIndex port, const SummaryOf<T>& so_far,
               std::vector<bool>& on_path, std::vector<Antichain<SummaryOf<T>>>& found) {
  for (std::size_t output = 0; output < graph.scope_outputs.size(); ++output) {
    if (graph.scope_outputs[output] == port) found[output].insert(so_far);
  }
  on_path[port] = true;
  for (const auto& hop : graph.hops) {
    if (hop.from != port || on_path[hop.to]) continue;
    if (const auto next = PathSummary<T>::followed_by(so_far, hop.summary)) {
      enumerate(graph, hop.to, *next, on_path, found);
    }
  }
  on_path[port] = false;
}

TYPED_TEST(Reachability, PathsToOutputsAreTheMinimalOnesOfAllPaths) {
  using T = TypeParam;
  using Summary = SummaryOf<T>;
  for (std::uint64_t round = 0; round < 1500; ++round) {
    Rng rng(property::seed() + round);
    const auto drawn = property::Drawn<T>(property::draw_shape<T>(
        rng, {.nodes_max = 5, .scope_inputs_max = 2, .scope_outputs_max = 3}));
    const auto& graph = drawn.graph;
    const auto rows =
        paths_to_outputs(graph, Hops<Summary>::backward(graph.ports.size(), graph.hops));
    LEAT_HOLDS(rows.size() == graph.ports.size());
    for (PortIndex port = 0; port < graph.ports.size(); ++port) {
      std::vector<Antichain<Summary>> expected(graph.scope_outputs.size());
      std::vector<bool> on_path(graph.ports.size(), false);
      enumerate<T>(graph, port, Summary{}, on_path, expected);
      std::vector<Antichain<Summary>> got(graph.scope_outputs.size());
      for (const auto& path : rows[port]) LEAT_HOLDS(got[path.output].insert(path.summary));
      LEAT_HOLDS(got == expected);
      std::size_t minimal = 0;
      for (const auto& summaries : got) minimal += summaries.size();
      LEAT_HOLDS(rows[port].size() == minimal);
    }
  }
}

template <class T>
class StalledCycles {
 public:
  explicit StalledCycles(const Graph<T>& graph) : graph_(graph), state_(graph.ports.size()) {}

  [[nodiscard]] bool stalls(PortIndex from, PortIndex to) const {
    return std::any_of(graph_.hops.begin(), graph_.hops.end(), [&](const auto& hop) {
      return hop.from == from && hop.to == to && less_equal(hop.summary, SummaryOf<T>{});
    });
  }
  [[nodiscard]] bool exist() {
    for (PortIndex port = 0; port < graph_.ports.size(); ++port) {
      if (state_[port] == State::fresh && search(port)) return true;
    }
    return false;
  }

 private:
  enum class State : std::uint8_t { fresh, open, done };

  bool search(PortIndex port) {
    state_[port] = State::open;
    for (PortIndex next = 0; next < graph_.ports.size(); ++next) {
      if (!stalls(port, next)) continue;
      if (state_[next] == State::open) return true;
      if (state_[next] == State::fresh && search(next)) return true;
    }
    state_[port] = State::done;
    return false;
  }

  const Graph<T>& graph_;
  std::vector<State> state_;
};

TYPED_TEST(Reachability, ACycleThatNeedNotAdvanceIsFoundIfThereIsOne) {
  using T = TypeParam;
  int with = 0;
  int without = 0;
  for (std::uint64_t round = 0; round < 3000; ++round) {
    Rng rng(property::seed() + round);
    const auto drawn = property::Drawn<T>(property::draw_shape<T>(
        rng,
        {.nodes_max = 4, .scope_inputs_max = 1, .scope_outputs_max = 1, .cycles_advance = false}));
    const auto& graph = drawn.graph;
    const auto cycle =
        stalled_cycle(graph, Hops<SummaryOf<T>>::forward(graph.ports.size(), graph.hops));
    StalledCycles<T> oracle(graph);
    LEAT_HOLDS(oracle.exist() == !cycle.empty());
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      LEAT_HOLDS(oracle.stalls(cycle[i], cycle[(i + 1) % cycle.size()]));
    }
    LEAT_HOLDS(std::set<PortIndex>(cycle.begin(), cycle.end()).size() == cycle.size());
    ++(cycle.empty() ? without : with);
  }
  LEAT_HOLDS(with > 100 && without > 100);  // or this shows nothing
}

}  // namespace
}  // namespace leat::progress
