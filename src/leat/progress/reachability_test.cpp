// What a tracker says in the plain cases; tests/property/reachability_test.cpp has all others.
#include <leat/progress/reachability.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::progress {
namespace {

using Time = std::uint64_t;

/// input -> a -> loop -> a, and a -> output: a scope with a feedback that adds 1.
struct Loop {
  Graph<Time> graph;
  PortIndex input = graph.add_port(0, 0, PortKind::source);
  PortIndex output = graph.add_port(0, 0, PortKind::target);
  PortIndex a_first = graph.add_port(1, 0, PortKind::target);
  PortIndex a_again = graph.add_port(1, 1, PortKind::target);
  PortIndex a_out = graph.add_port(1, 0, PortKind::source);
  PortIndex loop_in = graph.add_port(2, 0, PortKind::target);
  PortIndex loop_out = graph.add_port(2, 0, PortKind::source);

  Loop() {
    graph.add_link(a_first, a_out, 0);
    graph.add_link(a_again, a_out, 0);
    graph.add_link(loop_in, loop_out, 1);
    graph.add_edge(input, a_first);
    graph.add_edge(a_out, loop_in);
    graph.add_edge(loop_out, a_again);
    graph.add_edge(a_out, output);
    tracker = Tracker<Time>(graph, 3);
  }

  void propagate() {
    targets.clear();
    outputs.clear();
    quiet.clear();
    tracker.propagate(
        [&](PortIndex port, const Time* joined, const Time* left) {
          if (joined != nullptr) ++targets[{port, *joined}];
          if (left != nullptr) --targets[{port, *left}];
        },
        [&](std::uint32_t out, const Time& time, int by) { outputs[{out, time}] += by; });
    tracker.nodes().drain_quiet([&](NodeIndex node) { quiet.push_back(node); });
  }
  [[nodiscard]] std::vector<Time> frontier(PortIndex port) const {
    const auto times = tracker.frontier(port);
    return {times.begin(), times.end()};
  }

  Tracker<Time> tracker;
  std::map<std::pair<PortIndex, Time>, int> targets;  // what the last propagation reported
  std::map<std::pair<std::uint32_t, Time>, int> outputs;
  std::vector<NodeIndex> quiet;
};

TEST(Tracker, TracksNothingAtFirst) {
  Loop loop;
  EXPECT_FALSE(loop.tracker.tracking_anything());
  loop.propagate();
  EXPECT_TRUE(loop.targets.empty());
  EXPECT_TRUE(loop.frontier(loop.a_first).empty());
}

TEST(Tracker, CarriesACapabilityAlongEdgesLinksAndRoundALoop) {
  Loop loop;
  loop.tracker.update(loop.input, 5, +1);
  loop.propagate();
  EXPECT_EQ(loop.frontier(loop.a_first), (std::vector<Time>{5}));
  EXPECT_EQ(loop.frontier(loop.a_again), (std::vector<Time>{6}));
  EXPECT_EQ(loop.frontier(loop.loop_in), (std::vector<Time>{5}));
  EXPECT_EQ(loop.frontier(loop.output), (std::vector<Time>{5}));
  const std::map<std::pair<PortIndex, Time>, int> expected{{{loop.a_first, 5}, 1},
                                                           {{loop.a_again, 6}, 1},
                                                           {{loop.loop_in, 5}, 1},
                                                           {{loop.output, 5}, 1}};
  EXPECT_EQ(loop.targets, expected);
}

TEST(Tracker, MovesNoFrontierBeforeItPropagates) {
  Loop loop;
  loop.tracker.update(loop.input, 5, +1);
  EXPECT_TRUE(loop.frontier(loop.a_first).empty());
  EXPECT_TRUE(loop.tracker.tracking_anything());
}

TEST(Tracker, ReportsOnlyWhatMoved) {
  Loop loop;
  loop.tracker.update(loop.input, 5, +1);
  loop.propagate();
  loop.tracker.update(loop.input, 5, +1);  // one more of the same
  loop.tracker.update(loop.a_first, 7, +3);
  loop.propagate();
  EXPECT_TRUE(loop.targets.empty());
  loop.tracker.update(loop.input, 5, -1);
  loop.tracker.update(loop.a_first, 7, -3);
  loop.propagate();
  EXPECT_TRUE(loop.targets.empty());
}

TEST(Tracker, ARecordOnTheLoopKeepsLaterRoundsPossibleOnly) {
  Loop loop;
  loop.tracker.update(loop.loop_in, 5, +1);
  loop.propagate();
  EXPECT_TRUE(loop.frontier(loop.a_first).empty());
  EXPECT_EQ(loop.frontier(loop.a_again), (std::vector<Time>{6}));
  EXPECT_EQ(loop.frontier(loop.loop_in), (std::vector<Time>{5}));
  loop.tracker.update(loop.loop_in, 5, -1);
  loop.propagate();
  EXPECT_TRUE(loop.frontier(loop.loop_in).empty());  // although 6 went round: it all came from 5
  EXPECT_FALSE(loop.tracker.tracking_anything());
}

TEST(Tracker, KeepsANegativeCountAndShowsItToNobody) {
  Loop loop;
  loop.tracker.update(loop.a_first, 5, -2);
  loop.propagate();
  EXPECT_TRUE(loop.targets.empty());
  EXPECT_TRUE(loop.tracker.tracking_anything());
  loop.tracker.update(loop.a_first, 5, +3);
  loop.propagate();
  EXPECT_EQ(loop.frontier(loop.a_first), (std::vector<Time>{5}));
  loop.tracker.update(loop.a_first, 5, -1);
  loop.propagate();
  EXPECT_FALSE(loop.tracker.tracking_anything());
}

TEST(Tracker, TellsTheParentOfChildrenOnlyAndNotOfTheScopesInputs) {
  Loop loop;
  loop.tracker.update(loop.input, 1, +1);
  loop.propagate();
  EXPECT_TRUE(loop.outputs.empty());
  loop.tracker.update(loop.loop_out, 4, +1);
  loop.propagate();
  const std::map<std::pair<std::uint32_t, Time>, int> expected{{{0, 4}, 1}};
  EXPECT_EQ(loop.outputs, expected);
}

TEST(Tracker, CountsOpenInputsAndCapabilitiesOfEachNode) {
  Loop loop;
  loop.tracker.update(loop.a_out, 0, +4);  // four workers hold one
  loop.propagate();
  EXPECT_EQ(loop.tracker.node(1).capabilities, 1);
  EXPECT_EQ(loop.tracker.node(1).open_inputs, 1U);  // the one on the loop
  EXPECT_EQ(loop.tracker.node(2).capabilities, 0);
  EXPECT_EQ(loop.tracker.node(2).open_inputs, 1U);
}

TEST(Tracker, NamesNodesThatNothingCanReachAnyMore) {
  Loop loop;
  loop.tracker.update(loop.input, 0, +1);
  loop.propagate();
  EXPECT_TRUE(loop.quiet.empty());
  loop.tracker.update(loop.a_out, 3, +1);
  loop.tracker.update(loop.input, 0, -1);
  loop.propagate();
  EXPECT_TRUE(loop.quiet.empty());  // the loop and the scope's output still wait for 3
  loop.tracker.update(loop.a_out, 3, -1);
  loop.propagate();
  for (const NodeIndex node : {1U, 2U}) {
    EXPECT_NE(std::find(loop.quiet.begin(), loop.quiet.end(), node), loop.quiet.end()) << node;
  }
}

TEST(Tracker, BlocksWhereSomebodyWaitsForWhatIsHeld) {
  Loop loop;
  loop.tracker.update(loop.input, 5, +1);
  loop.tracker.update(loop.a_out, 5, +1);
  loop.tracker.update(loop.a_out, 7, +1);
  loop.propagate();
  EXPECT_TRUE(loop.tracker.is_blocking(loop.input, 5));
  EXPECT_FALSE(loop.tracker.is_blocking(loop.a_out, 5));  // the input leads there anyway
  EXPECT_FALSE(loop.tracker.is_blocking(loop.a_out, 7));  // 5 comes first
  loop.tracker.update(loop.input, 5, -1);
  loop.propagate();
  EXPECT_TRUE(loop.tracker.is_blocking(loop.a_out, 5));
}

TEST(Tracker, ATimeThatCannotAdvanceAnyFurtherEndsTheLoop) {
  Graph<std::uint8_t> graph;
  const PortIndex in = graph.add_port(1, 0, PortKind::target);
  const PortIndex out = graph.add_port(1, 0, PortKind::source);
  graph.add_link(in, out, 1);
  graph.add_edge(out, in);
  Tracker<std::uint8_t> tracker(graph, 2);
  int changes = 0;
  const auto count = [&](PortIndex, const std::uint8_t*, const std::uint8_t*) { ++changes; };
  const auto nothing = [](std::uint32_t, std::uint8_t, int) {};
  tracker.update(in, 255, +1);
  tracker.propagate(count, nothing);
  EXPECT_TRUE(tracker.frontier(out).empty());
  tracker.update(in, 255, -1);
  tracker.propagate(count, nothing);
  EXPECT_EQ(changes, 2);
  EXPECT_FALSE(tracker.tracking_anything());
}

}  // namespace
}  // namespace leat::progress
