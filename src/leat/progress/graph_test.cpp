#include <leat/progress/graph.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace leat::progress {
namespace {

using Time = std::uint64_t;

std::vector<PortIndex> ports_of(std::span<const Step> row) {
  std::vector<PortIndex> ports;
  for (const auto& step : row) ports.push_back(step.port);
  return ports;
}

TEST(Graph, NumbersPortsInOrderOfCreationAcrossNodes) {
  Graph<Time> graph;
  EXPECT_EQ(graph.add_port(1, 0, PortKind::target), 0U);
  EXPECT_EQ(graph.add_port(1, 0, PortKind::source), 1U);
  EXPECT_EQ(graph.add_port(2, 0, PortKind::target), 2U);
  EXPECT_EQ(graph.ports[2].node, 2U);
  EXPECT_EQ(graph.ports[1].kind, PortKind::source);
}

TEST(Graph, ListsTheScopesOutputsInOrder) {
  Graph<Time> graph;
  graph.add_port(0, 0, PortKind::source);
  const PortIndex first = graph.add_port(0, 0, PortKind::target);
  graph.add_port(1, 0, PortKind::target);
  const PortIndex second = graph.add_port(0, 1, PortKind::target);
  EXPECT_EQ(graph.scope_outputs, (std::vector<PortIndex>{first, second}));
}

TEST(Hops, RowsListWhatFollowsOrPrecedesAPort) {
  const std::vector<Hop<Time>> hops{{0, 1, 0}, {0, 2, 5}, {2, 1, 0}};
  const auto forward = Hops<Time>::forward(3, hops);
  EXPECT_EQ(ports_of(forward.row(0)), (std::vector<PortIndex>{1, 2}));
  EXPECT_EQ(ports_of(forward.row(1)), (std::vector<PortIndex>{}));
  EXPECT_EQ(ports_of(forward.row(2)), (std::vector<PortIndex>{1}));
  const auto backward = Hops<Time>::backward(3, hops);
  EXPECT_EQ(ports_of(backward.row(0)), (std::vector<PortIndex>{}));
  EXPECT_EQ(ports_of(backward.row(1)), (std::vector<PortIndex>{0, 2}));
  EXPECT_EQ(ports_of(backward.row(2)), (std::vector<PortIndex>{0}));
}

TEST(Hops, KnowWhichStepsLeaveTimeAlone) {
  const std::vector<Hop<Time>> hops{{0, 1, 0}, {0, 1, 5}};
  const auto forward = Hops<Time>::forward(2, hops);
  const auto row = forward.row(0);
  ASSERT_EQ(row.size(), 2U);
  EXPECT_TRUE(row[0].is_identity());
  EXPECT_FALSE(row[1].is_identity());
  EXPECT_EQ(forward.summary(row[0]), 0U);
  EXPECT_EQ(forward.summary(row[1]), 5U);
}

TEST(Hops, OfNoPortsAreEmpty) { EXPECT_NO_THROW((Hops<Time>::forward(0, {}))); }

}  // namespace
}  // namespace leat::progress
