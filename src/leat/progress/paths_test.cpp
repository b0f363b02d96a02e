#include <leat/progress/paths.hpp>

#include <leat/progress/product.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace leat::progress {
namespace {

using Grid = Product<std::uint64_t, std::uint64_t>;

template <class T>
auto paths(const Graph<T>& graph) {
  return paths_to_outputs(graph, Hops<SummaryOf<T>>::backward(graph.ports.size(), graph.hops));
}
template <class T>
std::vector<PortIndex> cycle(const Graph<T>& graph) {
  return stalled_cycle(graph, Hops<SummaryOf<T>>::forward(graph.ports.size(), graph.hops));
}

/// A node with one input and one output, linked by `summary`.
template <class T>
std::pair<PortIndex, PortIndex> add_node(Graph<T>& graph, NodeIndex node, SummaryOf<T> summary) {
  const PortIndex target = graph.add_port(node, 0, PortKind::target);
  const PortIndex source = graph.add_port(node, 0, PortKind::source);
  graph.add_link(target, source, summary);
  return {target, source};
}

TEST(PathsToOutputs, AddUpAlongAPath) {
  Graph<std::uint64_t> graph;
  const PortIndex input = graph.add_port(0, 0, PortKind::source);
  const PortIndex output = graph.add_port(0, 0, PortKind::target);
  const auto [a_in, a_out] = add_node(graph, 1, std::uint64_t{2});
  const auto [b_in, b_out] = add_node(graph, 2, std::uint64_t{3});
  graph.add_edge(input, a_in);
  graph.add_edge(a_out, b_in);
  graph.add_edge(b_out, output);
  const auto rows = paths(graph);
  ASSERT_EQ(rows[input].size(), 1U);
  EXPECT_EQ(rows[input][0].output, 0U);
  EXPECT_EQ(rows[input][0].summary, 5U);
  EXPECT_EQ(rows[b_in][0].summary, 3U);
  EXPECT_EQ(rows[b_out][0].summary, 0U);
  EXPECT_EQ(rows[output][0].summary, 0U);
}

TEST(PathsToOutputs, AreEmptyWhereNoOutputCanBeReached) {
  Graph<std::uint64_t> graph;
  const PortIndex output = graph.add_port(0, 0, PortKind::target);
  const auto [in, out] = add_node(graph, 1, std::uint64_t{0});
  const auto rows = paths(graph);
  EXPECT_TRUE(rows[in].empty());
  EXPECT_TRUE(rows[out].empty());
  EXPECT_EQ(rows[output].size(), 1U);
}

TEST(PathsToOutputs, KeepWaysThatCannotBeCompared) {
  Graph<Grid> graph;
  const PortIndex output = graph.add_port(0, 0, PortKind::target);
  const PortIndex in = graph.add_port(1, 0, PortKind::target);
  const PortIndex out = graph.add_port(1, 0, PortKind::source);
  for (const Grid& summary : {Grid{0, 2}, Grid{1, 0}, Grid{1, 3}}) graph.add_link(in, out, summary);
  graph.add_edge(out, output);
  const auto rows = paths(graph);
  std::vector<Grid> summaries;
  for (const auto& path : rows[in]) summaries.push_back(path.summary);
  std::sort(summaries.begin(), summaries.end());
  EXPECT_EQ(summaries, (std::vector<Grid>{{0, 2}, {1, 0}}));
}

TEST(PathsToOutputs, NameEachOutput) {
  Graph<std::uint64_t> graph;
  const PortIndex input = graph.add_port(0, 0, PortKind::source);
  const PortIndex first = graph.add_port(0, 0, PortKind::target);
  const PortIndex second = graph.add_port(0, 1, PortKind::target);
  graph.add_edge(input, first);  // through the scope without an operator
  graph.add_edge(input, second);
  const auto rows = paths(graph);
  ASSERT_EQ(rows[input].size(), 2U);
  EXPECT_NE(rows[input][0].output, rows[input][1].output);
}

TEST(PathsToOutputs, DoNotGoRoundALoopThatAdvances) {
  Graph<std::uint64_t> graph;
  const PortIndex output = graph.add_port(0, 0, PortKind::target);
  const auto [a_in, a_out] = add_node(graph, 1, std::uint64_t{0});
  const auto [back_in, back_out] = add_node(graph, 2, std::uint64_t{1});
  graph.add_edge(a_out, output);
  graph.add_edge(a_out, back_in);
  graph.add_edge(back_out, a_in);
  const auto rows = paths(graph);
  ASSERT_EQ(rows[a_in].size(), 1U);
  EXPECT_EQ(rows[a_in][0].summary, 0U);
  ASSERT_EQ(rows[back_in].size(), 1U);
  EXPECT_EQ(rows[back_in][0].summary, 1U);
}

TEST(PathsToOutputs, DropAWayThatNoTimeCanTake) {
  Graph<std::uint8_t> graph;
  const PortIndex output = graph.add_port(0, 0, PortKind::target);
  const auto [a_in, a_out] = add_node(graph, 1, std::uint8_t{200});
  const auto [b_in, b_out] = add_node(graph, 2, std::uint8_t{100});
  graph.add_edge(a_out, b_in);
  graph.add_edge(b_out, output);
  const auto rows = paths(graph);
  EXPECT_TRUE(rows[a_in].empty());
  EXPECT_EQ(rows[a_out].size(), 1U);
}

TEST(StalledCycle, IsNoneInALine) {
  Graph<std::uint64_t> graph;
  const auto [a_in, a_out] = add_node(graph, 1, std::uint64_t{0});
  const auto [b_in, b_out] = add_node(graph, 2, std::uint64_t{0});
  graph.add_edge(a_out, b_in);
  EXPECT_TRUE(cycle(graph).empty());
}

TEST(StalledCycle, ListsThePortsOnItInTheirOrder) {
  Graph<std::uint64_t> graph;
  const auto [a_in, a_out] = add_node(graph, 1, std::uint64_t{0});
  const auto [b_in, b_out] = add_node(graph, 2, std::uint64_t{0});
  const auto [tail_in, tail_out] = add_node(graph, 3, std::uint64_t{0});
  graph.add_edge(a_out, b_in);
  graph.add_edge(b_out, a_in);
  graph.add_edge(b_out, tail_in);  // hangs behind the cycle, is not on it
  auto ports = cycle(graph);
  ASSERT_EQ(ports.size(), 4U);
  std::rotate(ports.begin(), std::find(ports.begin(), ports.end(), a_in), ports.end());
  EXPECT_EQ(ports, (std::vector<PortIndex>{a_in, a_out, b_in, b_out}));
}

TEST(StalledCycle, IsNoneWhereTimeAdvancesSomewhereOnIt) {
  Graph<Grid> graph;
  const auto [a_in, a_out] = add_node(graph, 1, Grid{0, 0});
  const auto [b_in, b_out] = add_node(graph, 2, Grid{0, 1});
  graph.add_edge(a_out, b_in);
  graph.add_edge(b_out, a_in);
  EXPECT_TRUE(cycle(graph).empty());
  graph.add_link(b_in, b_out, Grid{0, 0});  // but there is another way through
  EXPECT_FALSE(cycle(graph).empty());
}

TEST(StalledCycle, CountsASummaryThatGoesBackInTime) {
  Graph<std::int64_t> graph;
  const auto [in, out] = add_node(graph, 1, std::int64_t{-1});
  graph.add_edge(out, in);
  EXPECT_FALSE(cycle(graph).empty());
}

TEST(StalledCycle, IsFoundWithoutRecursionHoweverDeepTheGraph) {
  constexpr NodeIndex kNodes = 200'000;
  Graph<std::uint64_t> graph;
  graph.add_port(0, 0, PortKind::target);
  PortIndex last = graph.add_port(0, 0, PortKind::source);
  const PortIndex first = last + 1;
  for (NodeIndex node = 1; node <= kNodes; ++node) {
    const auto [in, out] = add_node(graph, node, std::uint64_t{0});
    graph.add_edge(last, in);
    last = out;
  }
  EXPECT_TRUE(cycle(graph).empty());
  graph.add_edge(last, graph.scope_outputs[0]);
  EXPECT_EQ(paths(graph)[first].size(), 1U);
  graph.add_edge(last, first);
  EXPECT_EQ(cycle(graph).size(), 2 * kNodes);
}

TEST(SettlingOrder, PutsEachPortBeforeThoseThatFollowItHoweverTheyWereNumbered) {
  Graph<std::uint64_t> graph;
  const auto [c_in, c_out] = add_node(graph, 1, std::uint64_t{0});
  const auto [b_in, b_out] = add_node(graph, 2, std::uint64_t{1});
  const auto [a_in, a_out] = add_node(graph, 3, std::uint64_t{0});
  graph.add_edge(a_out, b_in);
  graph.add_edge(b_out, c_in);
  const auto forward = Hops<std::uint64_t>::forward(graph.ports.size(), graph.hops);
  const auto order = settling_order(graph, forward);
  EXPECT_EQ(order.ports, (std::vector<PortIndex>{a_in, a_out, b_in, b_out, c_in, c_out}));
  EXPECT_EQ(order.acyclic, graph.ports.size());
}

TEST(SettlingOrder, GoesBackOnlyAlongAHopThatAdvancesTime) {
  Graph<std::uint64_t> graph;
  const auto [loop_in, loop_out] = add_node(graph, 1, std::uint64_t{1});
  const auto [body_in, body_out] = add_node(graph, 2, std::uint64_t{0});
  const auto [end_in, end_out] = add_node(graph, 3, std::uint64_t{0});
  graph.add_edge(loop_out, body_in);
  graph.add_edge(body_out, loop_in);
  graph.add_edge(body_out, end_in);
  const auto forward = Hops<std::uint64_t>::forward(graph.ports.size(), graph.hops);
  const auto order = settling_order(graph, forward);
  ASSERT_EQ(order.ports.size(), graph.ports.size());
  EXPECT_EQ(order.ports[0], loop_out);
  EXPECT_EQ(order.ports[1], body_in);
  EXPECT_EQ(order.ports[2], body_out);
  EXPECT_EQ(order.acyclic, 0U);
}

TEST(SettlingOrder, TellsWhatIsOnNoCycleAndBehindNone) {
  Graph<std::uint64_t> graph;
  const auto [loop_in, loop_out] = add_node(graph, 1, std::uint64_t{1});
  const auto [before_in, before_out] = add_node(graph, 2, std::uint64_t{0});
  const auto [body_in, body_out] = add_node(graph, 3, std::uint64_t{0});
  graph.add_edge(before_out, body_in);
  graph.add_edge(loop_out, body_in);
  graph.add_edge(body_out, loop_in);
  const auto forward = Hops<std::uint64_t>::forward(graph.ports.size(), graph.hops);
  const auto order = settling_order(graph, forward);
  ASSERT_EQ(order.acyclic, 2U);
  EXPECT_EQ(order.ports[0], before_in);
  EXPECT_EQ(order.ports[1], before_out);
}

}  // namespace
}  // namespace leat::progress
