#include "dependency_graph.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace leat::tool {
namespace {

Package package(std::string_view name, std::string_view depends, std::string_view pre_depends = "",
                std::string_view provides = "") {
  return {name, "1", depends, pre_depends, provides};
}

std::string names(const DependencyGraph& graph, std::span<const NodeId> nodes) {
  std::string out;
  for (const NodeId node : nodes) {
    if (!out.empty()) out += ' ';
    out += graph.name(node);
  }
  return out;
}

/// The clauses of a node: "a|b c".
std::string clauses(const DependencyGraph& graph, std::string_view name) {
  const NodeId node = graph.find(name).value();
  std::string out;
  for (ClauseId clause = graph.first_clause(node); clause != graph.end_clause(node); ++clause) {
    if (!out.empty()) out += ' ';
    std::string members;
    for (const NodeId member : graph.alternatives(clause)) {
      if (!members.empty()) members += '|';
      members += graph.name(member);
    }
    out += members;
  }
  return out;
}

TEST(DependencyGraph, NumbersNodesInTheOrderOfNames) {
  const std::vector packages{package("a", "b"), package("b", ""), package("c", "a, b")};
  const DependencyGraph graph = graph_of_packages(packages);
  ASSERT_EQ(graph.nodes(), 3U);
  EXPECT_EQ(graph.name(0), "a");
  EXPECT_EQ(graph.name(2), "c");
  EXPECT_EQ(graph.find("b"), NodeId{1});
  EXPECT_EQ(graph.find(""), std::nullopt);
  EXPECT_EQ(graph.find("bb"), std::nullopt);
  EXPECT_EQ(graph.find("d"), std::nullopt);
  EXPECT_EQ(names(graph, graph.edges_of(2)), "a b");
  EXPECT_EQ(graph.edges(), 3U);
  EXPECT_EQ(graph.clauses(), 3U);
}

TEST(DependencyGraph, IgnoresVersionsArchitecturesAndProfiles) {
  const std::vector packages{
      package("a", "b (>= 1.0), c:any, d [amd64], e <!nocheck>, f(=2),\n g:native (<< 3) [i386]"),
      package("b", ""),
      package("c", ""),
      package("d", ""),
      package("e", ""),
      package("f", ""),
      package("g", "")};
  EXPECT_EQ(clauses(graph_of_packages(packages), "a"), "b c d e f g");
}

TEST(DependencyGraph, ReadsPreDependsAndDepends) {
  const std::vector packages{package("a", "b", "c | b"), package("b", ""), package("c", "")};
  const DependencyGraph graph = graph_of_packages(packages);
  EXPECT_EQ(clauses(graph, "a"), "b|c b");
  EXPECT_EQ(names(graph, graph.edges_of(0)), "b c");
}

TEST(DependencyGraph, AnAlternativeStandsForItselfAndItsProviders) {
  const std::vector packages{package("app", "mta | awk"), package("awk", ""),
                             package("exim", "", "", "mta (= 1), imapd"),
                             package("gawk", "", "", "awk"), package("postfix", "", "", "mta")};
  const DependencyGraph graph = graph_of_packages(packages);
  EXPECT_EQ(clauses(graph, "app"), "awk|exim|gawk|postfix");
  EXPECT_EQ(names(graph, graph.providers("mta")), "exim postfix");
  EXPECT_TRUE(graph.providers("awk").empty());  // a package, not only a virtual name
  EXPECT_TRUE(graph.providers("none").empty());
}

TEST(DependencyGraph, LeavesOutClausesThatNobodySatisfies) {
  const std::vector packages{package("a", "ghost, b, ghoul | spectre"), package("b", "ghost | a")};
  const DependencyGraph graph = graph_of_packages(packages);
  EXPECT_EQ(clauses(graph, "a"), "b");
  EXPECT_EQ(clauses(graph, "b"), "a");
  EXPECT_EQ(graph.unsatisfied_clauses(), 2U);
}

TEST(DependencyGraph, LeavesOutClausesThatANodeSatisfiesItselfAndKeepsTheirEdges) {
  const std::vector packages{package("a", "v, a", "", "v"), package("b", "", "", "v")};
  const DependencyGraph graph = graph_of_packages(packages);
  EXPECT_EQ(clauses(graph, "a"), "");
  EXPECT_EQ(names(graph, graph.edges_of(0)), "b");
  EXPECT_EQ(graph.unsatisfied_clauses(), 0U);
}

TEST(DependencyGraph, CountsAnEdgeOnceHoweverOftenItIsNamed) {
  const std::vector packages{package("a", "b | b, b", "b"), package("b", "")};
  const DependencyGraph graph = graph_of_packages(packages);
  EXPECT_EQ(graph.edges(), 1U);
  EXPECT_EQ(graph.clauses(), 3U);
  EXPECT_EQ(clauses(graph, "a"), "b b b");
}

TEST(DependencyGraph, MakesEachEdgeOfAListAClause) {
  const std::vector<NamedEdge> edges{{"z", "a"}, {"m", "a"}, {"z", "m"}, {"z", "a"}, {"m", "m"}};
  const DependencyGraph graph = graph_of_edges(edges);
  ASSERT_EQ(graph.nodes(), 3U);
  EXPECT_EQ(graph.edges(), 3U);
  EXPECT_EQ(clauses(graph, "z"), "a m");
  EXPECT_EQ(clauses(graph, "m"), "a");
  EXPECT_EQ(clauses(graph, "a"), "");
}

TEST(DependencyGraph, OfNothingHasNoNodes) {
  EXPECT_EQ(graph_of_edges({}).nodes(), 0U);
  EXPECT_EQ(graph_of_packages({}).nodes(), 0U);
}

}  // namespace
}  // namespace leat::tool
