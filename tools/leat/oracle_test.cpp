#include "oracle.hpp"

#include "definitions.hpp"
#include "package_index.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

DependencyGraph graph_of(const std::vector<std::array<std::string_view, 3>>& packages) {
  std::vector<Package> list;
  for (const auto& [name, depends, provides] : packages) {
    list.push_back({name, "1", depends, "", provides});
  }
  std::ranges::sort(list, {}, &Package::name);
  return graph_of_packages(list);
}

/// Who breaks without `removed`, as "name@distance", in the order of names.
std::string broken(const DependencyGraph& graph, const std::vector<std::string_view>& removed) {
  std::vector<NodeId> nodes;
  for (const std::string_view name : removed) nodes.push_back(graph.find(name).value());
  const std::vector<Distance> distance = oracle::breakage(graph, nodes);
  std::string out;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (distance[node] == kUnbroken || distance[node] == 0) continue;
    if (!out.empty()) out += ' ';
    out += std::string(graph.name(node)) + "@" + std::to_string(distance[node]);
  }
  return out;
}

std::size_t reached(const DependencyGraph& graph, std::string_view name) {
  const NodeId node = graph.find(name).value();
  const std::vector<Distance> distance = oracle::reach(graph, std::span(&node, 1));
  return graph.nodes() - 1 - static_cast<std::size_t>(std::ranges::count(distance, kUnbroken));
}

TEST(Breakage, AClauseBreaksOnlyWithItsLastAlternative) {
  const DependencyGraph graph =
      graph_of({{"app", "gawk | mawk", ""}, {"gawk", "", ""}, {"mawk", "", ""}});
  EXPECT_EQ(broken(graph, {"gawk"}), "");
  EXPECT_EQ(broken(graph, {"gawk", "mawk"}), "app@1");
  EXPECT_EQ(reached(graph, "gawk"), 1U);
}

TEST(Breakage, AProviderKeepsAClauseWhole) {
  const DependencyGraph graph = graph_of({{"app", "mta", ""},
                                          {"exim", "libexim", "mta"},
                                          {"libexim", "", ""},
                                          {"postfix", "", "mta"}});
  EXPECT_EQ(broken(graph, {"libexim"}), "exim@1");
  EXPECT_EQ(broken(graph, {"libexim", "postfix"}), "app@2 exim@1");
}

TEST(Breakage, OneBrokenClauseOfManyIsEnough) {
  const DependencyGraph graph =
      graph_of({{"app", "a | b, c", ""}, {"a", "", ""}, {"b", "", ""}, {"c", "", ""}});
  EXPECT_EQ(broken(graph, {"c"}), "app@1");
}

TEST(Breakage, ACycleFallsOnlyIfItIsPushed) {
  // a and b need each other; that alone is no reason to be gone.
  const DependencyGraph graph = graph_of({{"a", "b", ""}, {"b", "a, c", ""}, {"c", "", ""}});
  EXPECT_EQ(broken(graph, {"c"}), "a@2 b@1");
  const DependencyGraph held =
      graph_of({{"a", "b | d", ""}, {"b", "a | d", ""}, {"c", "b", ""}, {"d", "", ""}});
  EXPECT_EQ(broken(held, {"d"}), "");
}

TEST(Breakage, TheDistanceOfAClauseIsThatOfItsLastAlternative) {
  const DependencyGraph graph =
      graph_of({{"x", "", ""}, {"near", "x", ""}, {"far", "near", ""}, {"both", "near | far", ""}});
  EXPECT_EQ(broken(graph, {"x"}), "both@3 far@2 near@1");
}

TEST(Breakage, WhatNobodySatisfiesBreaksNothing) {
  const DependencyGraph graph = graph_of({{"a", "ghost, b", ""}, {"b", "", ""}});
  EXPECT_EQ(broken(graph, {"b"}), "a@1");
}

TEST(Breakage, OfAllNodesCountsTheOthers) {
  const DependencyGraph graph =
      graph_of({{"a", "b", ""}, {"b", "c", ""}, {"c", "", ""}, {"d", "b | c", ""}});
  EXPECT_EQ(oracle::breaks_of_all(graph), (std::vector<std::uint32_t>{0, 1, 3, 0}));
}

TEST(Reasons, FollowTheAlternativeThatWentLast) {
  const DependencyGraph graph = graph_of({{"app", "other, gawk | mawk", ""},
                                          {"gawk", "libc", ""},
                                          {"libc", "", ""},
                                          {"mawk", "runtime", ""},
                                          {"other", "", ""},
                                          {"runtime", "libc", ""}});
  const NodeId libc = graph.find("libc").value();
  const std::vector<Distance> distance = oracle::breakage(graph, std::span(&libc, 1));
  std::string text;
  for (const Reason& reason : chain_of_reasons(graph, distance, graph.find("app").value())) {
    text += std::string(graph.name(reason.node)) + ">" + std::string(graph.name(reason.via)) + " ";
    EXPECT_TRUE(std::ranges::count(graph.alternatives(reason.clause), reason.via));
  }
  EXPECT_EQ(text, "app>mawk mawk>runtime runtime>libc ");
  EXPECT_TRUE(chain_of_reasons(graph, distance, libc).empty());
  EXPECT_TRUE(chain_of_reasons(graph, distance, graph.find("other").value()).empty());
}

TEST(Components, JoinBothWaysOfAnEdge) {
  const std::vector<NamedEdge> edges{{"b", "a"}, {"b", "c"}, {"e", "d"}};
  EXPECT_EQ(oracle::components(graph_of_edges(edges)), (std::vector<NodeId>{0, 0, 0, 3, 3}));
}

TEST(PageRank, SpreadsEverythingEvenlyWithoutEdges) {
  const DependencyGraph graph = graph_of({{"a", "", ""}, {"b", "", ""}, {"c", "", ""}});
  const auto result = oracle::page_rank(graph);
  EXPECT_EQ(result.rank, std::vector<std::uint64_t>(3, kRankMass / 3));
  EXPECT_EQ(result.rounds, 1U);
}

TEST(PageRank, AgreesWithTwoNodesByHand) {
  // a -> b and nothing else: r(a) = s, r(b) = s + 0.85 r(a), 2 s = 1 - 0.85 r(a): s = 1 / 2.85.
  const std::vector<NamedEdge> edges{{"a", "b"}};
  const auto result = oracle::page_rank(graph_of_edges(edges));
  const double exact = static_cast<double>(kRankMass) / 2.85;
  EXPECT_NEAR(static_cast<double>(result.rank[0]), exact, static_cast<double>(kRankChangeMax));
  EXPECT_NEAR(static_cast<double>(result.rank[1]), exact * 1.85,
              static_cast<double>(kRankChangeMax));
}

TEST(PageRank, KeepsTheMassOnAnyGraph) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("n" + std::to_string(i));
  std::vector<NamedEdge> edges;
  for (std::size_t i = 0; i < 400; ++i) {
    edges.push_back({names[i * i % 47], names[i * 31 % 50]});
  }
  const DependencyGraph graph = graph_of_edges(edges);
  const auto result = oracle::page_rank(graph);
  const auto sum = std::accumulate(result.rank.begin(), result.rank.end(), std::uint64_t{0});
  EXPECT_LE(sum, kRankMass);
  EXPECT_GT(sum, kRankMass - graph.nodes());  // what one division by n leaves
  EXPECT_LT(result.rounds, kRankRoundsMax);
}

TEST(PageRank, OfNothingIsNothing) { EXPECT_TRUE(oracle::page_rank(graph_of({})).rank.empty()); }

TEST(Sample, MakesAnInterestingRanking) {
  PackagePlaces nowhere;
  nowhere.apt_lists = "/nonexistent";
  nowhere.dpkg_status = "/nonexistent";
  const auto index = read_package_index(nowhere);
  const DependencyGraph graph = graph_of_packages(std::get<PackageIndex>(index).packages);
  const auto breaks = oracle::breaks_of_all(graph);
  const auto of = [&](std::string_view name) { return breaks[graph.find(name).value()]; };
  EXPECT_GT(of("libc6"), graph.nodes() / 2);
  EXPECT_GT(of("perl-base"), 20U);
  EXPECT_LT(of("perl-base"), reached(graph, "perl-base"));
  EXPECT_EQ(of("gawk"), 0U);  // mawk and original-awk stand in
}

}  // namespace
}  // namespace leat::tool
