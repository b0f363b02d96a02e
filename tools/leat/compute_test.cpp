#include "compute.hpp"

#include <leat/base/rng.hpp>
#include "definitions.hpp"
#include "oracle.hpp"
#include "package_index.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

constexpr std::array<std::size_t, 4> kWorkers = {1, 2, 3, 4};

Computed computed(const DependencyGraph& graph, const ComputeOptions& options) {
  const RealClock clock;
  Progress progress({}, [](std::string_view) {}, clock);
  auto result = compute(graph, options, progress);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

/// The ranking by the book.
std::vector<RankedNode> expected_ranking(const DependencyGraph& graph,
                                         const ComputeOptions& options) {
  const std::vector<std::uint64_t> rank = oracle::page_rank(graph).rank;
  const std::vector<std::uint32_t> breaks = oracle::breaks_of_all(graph);
  std::vector<RankedNode> rows;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    rows.push_back({node, rank[node], breaks[node], 0});
  }
  if (options.candidates) {
    std::ranges::sort(rows, [](const RankedNode& a, const RankedNode& b) {
      return std::tie(b.page_rank, a.node) < std::tie(a.page_rank, b.node);
    });
    rows.resize(std::min(rows.size(), *options.candidates));
  }
  std::ranges::sort(rows, [](const RankedNode& a, const RankedNode& b) {
    return std::tie(b.breaks, b.page_rank, a.node) < std::tie(a.breaks, a.page_rank, b.node);
  });
  rows.resize(std::min(rows.size(), options.top));
  for (RankedNode& row : rows) {
    const std::vector<Distance> reached = oracle::reach(graph, std::span(&row.node, 1));
    row.reaches = static_cast<std::uint32_t>(
        graph.nodes() - 1 - static_cast<std::size_t>(std::ranges::count(reached, kUnbroken)));
  }
  return rows;
}

std::vector<Breakage> expected_breakage(const DependencyGraph& graph, NodeId removed) {
  const std::vector<Distance> distance = oracle::breakage(graph, std::span(&removed, 1));
  std::vector<Breakage> broken;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (node != removed && distance[node] != kUnbroken) broken.push_back({node, distance[node]});
  }
  std::ranges::sort(broken, {}, [](const Breakage& breakage) {
    return std::pair(breakage.distance, breakage.node);
  });
  return broken;
}

void expect_as_by_the_book(const DependencyGraph& graph, ComputeOptions options) {
  const std::vector<RankedNode> ranking = expected_ranking(graph, options);
  std::map<NodeId, std::size_t> sizes;
  for (const NodeId component : oracle::components(graph)) ++sizes[component];
  const std::size_t largest = std::ranges::max(sizes | std::views::values);
  for (const std::size_t workers : kWorkers) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    options.workers = workers;
    const Computed result = computed(graph, options);
    EXPECT_EQ(result.ranking, ranking);
    EXPECT_EQ(result.page_rank_rounds, oracle::page_rank(graph).rounds);
    EXPECT_EQ(result.components, sizes.size());
    EXPECT_EQ(result.largest_component, largest);
    EXPECT_EQ(result.figures.workers, workers);
  }
}

void expect_answers_by_the_book(const DependencyGraph& graph, const std::vector<NodeId>& without) {
  for (const std::size_t workers : kWorkers) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    ComputeOptions options;
    options.workers = workers;
    options.without = without;
    const Computed result = computed(graph, options);
    EXPECT_TRUE(result.ranking.empty());
    ASSERT_EQ(result.answers.size(), without.size());
    for (std::size_t i = 0; i < without.size(); ++i) {
      EXPECT_EQ(result.answers[i].removed, without[i]);
      EXPECT_EQ(result.answers[i].broken, expected_breakage(graph, without[i]))
          << "without node " << without[i];
    }
  }
}

DependencyGraph sample_graph() {
  const auto read = read_package_index({.apt_lists = "", .dpkg_status = ""});
  return graph_of_packages(std::get<PackageIndex>(read).packages);
}

/// A graph of packages p0, p1, ..., with clauses of one to three alternatives.
DependencyGraph random_graph(Rng& rng) {
  const std::uint64_t nodes = 1 + rng.below(40);
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < nodes; ++i) names.push_back("p" + std::to_string(i));
  std::ranges::sort(names);
  std::vector<std::string> depends(nodes);
  for (std::string& list : depends) {
    for (std::uint64_t clauses = rng.below(4); clauses > 0; --clauses) {
      if (!list.empty()) list += ", ";
      list += names[rng.below(nodes)];
      while (rng.below(3) == 0) list += " | " + names[rng.below(nodes)];
    }
  }
  std::vector<Package> packages;
  for (std::uint64_t i = 0; i < nodes; ++i) packages.push_back({names[i], "1", depends[i], "", ""});
  return graph_of_packages(packages);
}

DependencyGraph cycle_of(std::size_t nodes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < nodes; ++i) names.push_back("n" + std::to_string(i));
  std::vector<NamedEdge> edges;
  for (std::size_t i = 0; i < nodes; ++i) edges.push_back({names[i], names[(i + 1) % nodes]});
  return graph_of_edges(edges);
}

TEST(Compute, RanksTheSampleAsTheOracleDoesWithAnyNumberOfWorkers) {
  expect_as_by_the_book(sample_graph(), {.top = 50});
}

TEST(Compute, AnswersForTheSampleAsTheOracleDoes) {
  const DependencyGraph graph = sample_graph();
  std::vector<NodeId> without;
  for (const RankedNode& row : expected_ranking(graph, {.top = 5})) without.push_back(row.node);
  without.push_back(without.front());  // a question that was asked before is answered again
  expect_answers_by_the_book(graph, without);
}

TEST(Compute, RanksRandomGraphsAsTheOracleDoes) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const DependencyGraph graph = random_graph(rng);
    ComputeOptions options{.top = 1 + rng.below(60)};
    if (rng.below(2) == 0) options.candidates = 1 + rng.below(20);
    expect_as_by_the_book(graph, options);
  }
}

TEST(Compute, AnswersForRandomGraphsAsTheOracleDoes) {
  for (std::uint64_t seed = 100; seed < 125; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const DependencyGraph graph = random_graph(rng);
    std::vector<NodeId> without(graph.nodes());
    std::iota(without.begin(), without.end(), NodeId{0});
    expect_answers_by_the_book(graph, without);
  }
}

TEST(Compute, OneCycleBreaksAsAWhole) {
  const DependencyGraph graph = cycle_of(300);
  expect_as_by_the_book(graph, {.top = 3, .candidates = 4});
  expect_answers_by_the_book(graph, {0, 299});
}

TEST(Compute, ShowsNoRowsIfNoneAreAskedFor) { expect_as_by_the_book(cycle_of(4), {.top = 0}); }

TEST(Compute, AnEmptyGraphHasAnEmptyRanking) {
  const Computed result = computed(graph_of_edges({}), {.workers = 2});
  EXPECT_TRUE(result.ranking.empty());
  EXPECT_EQ(result.components, 0U);
}

TEST(Compute, DrawsTheDataflowItRan) {
  const FlowGraph flow = computed(cycle_of(4), {.workers = 2}).flow;
  const auto number_of = [&](std::string_view group, std::string_view name) {
    const auto found = std::ranges::find_if(flow.operators, [&](const FlowGraph::Operator& op) {
      return op.group == group && op.name == name;
    });
    EXPECT_NE(found, flow.operators.end()) << group << ": " << name;
    return static_cast<std::size_t>(found - flow.operators.begin());
  };
  const auto has_channel = [&](std::size_t from, std::size_t to, bool is_feedback) {
    return std::ranges::any_of(flow.channels, [&](const FlowGraph::Channel& channel) {
      return channel.from == from && channel.to == to && channel.is_feedback == is_feedback;
    });
  };
  const std::size_t rank = number_of("page rank", "rank");
  EXPECT_TRUE(has_channel(number_of("", "input"), rank, false)) << "into a scope";
  EXPECT_TRUE(has_channel(rank, number_of("", "add ranks"), false)) << "out of a scope";
  EXPECT_TRUE(has_channel(rank, number_of("page rank", "feedback"), false));
  EXPECT_TRUE(std::ranges::any_of(flow.channels, [](const FlowGraph::Channel& channel) {
    return channel.label == "exchange";
  })) << "no channel says that records change workers on it";
  EXPECT_TRUE(
      has_channel(number_of("page rank", "feedback"), rank, true) ||
      has_channel(number_of("page rank", "feedback"), number_of("page rank", "meter"), true));
}

}  // namespace
}  // namespace leat::tool
