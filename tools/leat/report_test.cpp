#include "report.hpp"

#include "definitions.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace leat::tool {
namespace {

using namespace std::chrono_literals;

const Look kPlain{};
const Look kUnicode{.is_terminal = true, .color = false, .utf8 = true, .columns = 80};

Loaded packages() {
  const std::vector<Package> list{{"app", "1", "awk, libc", "", ""},
                                  {"gawk", "1", "libc", "", "awk"},
                                  {"libc", "1", "", "", ""},
                                  {"mawk", "1", "libc", "", "awk"}};
  return {{"apt index, 1 file", "package", false, 5}, graph_of_packages(list)};
}

Computed ranked() {
  Computed computed;
  computed.ranking = {{2, 512'345'678'901'234, 3, 3}, {1, 162'000'000'999'999, 0, 1}};
  computed.page_rank_rounds = 12;
  computed.components = 1;
  computed.largest_component = 4;
  return computed;
}

TEST(RankingText, IsATableWithBars) {
  EXPECT_EQ(ranking_text(Format::table, packages(), ranked(), kUnicode),
            "apt index, 1 file: 4 packages in 5 stanzas, 5 edges, 4 clauses\n"
            "1 component, the largest of 4 packages; PageRank after 12 rounds\n"
            "\n"
            "rank  package   breaks                        reaches  PageRank, ppm\n"
            "   1  libc           3  ████████████████████        3    512 345.678\n"
            "   2  gawk           0                              1    162 000.000\n"
            "\n"
            "breaks: packages that could not be installed without it; reaches: those that name it, "
            "however far away\n");
}

TEST(RankingText, ColoursOnlyIfItMay) {
  EXPECT_EQ(ranking_text(Format::table, packages(), ranked(), kPlain).find('\x1b'),
            std::string::npos);
  const Look colored{.is_terminal = true, .color = true, .utf8 = true, .columns = 80};
  EXPECT_NE(ranking_text(Format::table, packages(), ranked(), colored).find("\x1b[36m█"),
            std::string::npos);
}

TEST(RankingText, SaysWhichNodesOfALargeEdgeListWereRanked) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("n" + std::to_string(i));
  std::vector<NamedEdge> edges;
  for (const std::string& name : names) edges.push_back({name, "root"});
  const Loaded loaded{{"edges.txt", "node", true, 0}, graph_of_edges(edges)};
  const std::string text = ranking_text(Format::table, loaded, ranked(), kPlain);
  EXPECT_TRUE(text.starts_with("edges.txt: 101 nodes, 100 edges\n")) << text;
  EXPECT_TRUE(text.ends_with("ranked: the 64 first by PageRank\n")) << text;
}

TEST(RankingText, IsJson) {
  EXPECT_EQ(ranking_text(Format::json, packages(), ranked(), kUnicode),
            "{\n"
            "  \"source\": \"apt index, 1 file\",\n"
            "  \"packages\": 4,\n"
            "  \"stanzas\": 5,\n"
            "  \"clauses\": 4,\n"
            "  \"edges\": 5,\n"
            "  \"components\": 1,\n"
            "  \"largest_component\": 4,\n"
            "  \"page_rank_rounds\": 12,\n"
            "  \"ranking\": [\n"
            "    {\"rank\": 1, \"package\": \"libc\", \"breaks\": 3, \"reaches\": 3, "
            "\"page_rank_ppm\": 512345.678},\n"
            "    {\"rank\": 2, \"package\": \"gawk\", \"breaks\": 0, \"reaches\": 1, "
            "\"page_rank_ppm\": 162000.000}\n"
            "  ]\n"
            "}\n");
}

TEST(RankingText, IsCsv) {
  EXPECT_EQ(ranking_text(Format::csv, packages(), ranked(), kUnicode),
            "rank,package,breaks,reaches,page_rank_ppm\n"
            "1,libc,3,3,512345.678\n"
            "2,gawk,0,1,162000.000\n");
}

TEST(AnswersText, GroupsByDistance) {
  const Loaded loaded = packages();
  const std::vector<Answer> answers{{2, {{1, 1}, {3, 1}, {0, 2}}, 870us}, {1, {}, 4130ns}};
  EXPECT_EQ(answers_text(Format::table, loaded, answers, kUnicode),
            "Without libc, 3 packages of 3 could not be installed (870 µs)\n"
            "  distance  1       2  gawk, mawk\n"
            "  distance  2       1  app\n"
            "\n"
            "Without gawk, 0 packages of 3 could not be installed (4.13 µs)\n");
  EXPECT_EQ(
      answers_text(Format::json, loaded, answers, kUnicode),
      "{\n"
      "  \"without\": [\n"
      "    {\"package\": \"libc\", \"breaks\": 3, \"microseconds\": 870.0, \"by_distance\": [\n"
      "      [\"gawk\", \"mawk\"],\n"
      "      [\"app\"]]},\n"
      "    {\"package\": \"gawk\", \"breaks\": 0, \"microseconds\": 4.1, \"by_distance\": []}\n"
      "  ]\n"
      "}\n");
  EXPECT_EQ(answers_text(Format::csv, loaded, answers, kUnicode),
            "without,distance,package\n"
            "libc,1,gawk\n"
            "libc,1,mawk\n"
            "libc,2,app\n");
}

TEST(AnswersText, NamesAsManyAsFit) {
  std::vector<std::string> names;
  for (int i = 100; i < 300; ++i) names.push_back("package-" + std::to_string(i));
  std::vector<NamedEdge> edges;
  for (const std::string& name : names) edges.push_back({name, "root"});
  const Loaded loaded{{"edges.txt", "node", true, 0}, graph_of_edges(edges)};
  Answer answer{200, {}, 1ms};
  for (NodeId node = 0; node < 200; ++node) answer.broken.push_back({node, 1});
  const std::string text = answers_text(Format::table, loaded, std::span(&answer, 1), kPlain);
  const std::string line = text.substr(text.find('\n') + 1);
  EXPECT_EQ(line,
            "  distance  1     200  package-100, package-101, package-102, package-103, "
            "package-104 and 195 more\n");
  EXPECT_LE(line.size(), 101U);
}

TEST(WhyText, IsAChain) {
  const std::vector<Package> list{{"app", "1", "gawk | mawk", "", ""},
                                  {"gawk", "1", "libc", "", ""},
                                  {"libc", "1", "", "", ""},
                                  {"mawk", "1", "libc", "", ""}};
  const Loaded loaded{{"sample", "package", false, 4}, graph_of_packages(list)};
  const std::vector<Reason> chain{{0, 0, 1}, {1, 1, 2}};
  EXPECT_EQ(why_text(Format::table, loaded, 0, 2, chain, kPlain),
            "app breaks without libc:\n"
            "  app needs gawk | mawk; the last to go is gawk\n"
            "  gawk needs libc\n");
  EXPECT_EQ(why_text(Format::table, loaded, 0, 1, {}, kPlain), "app does not break without gawk\n");
  EXPECT_EQ(why_text(Format::table, loaded, 1, 1, {}, kPlain), "gawk is what was removed\n");
  EXPECT_EQ(why_text(Format::json, loaded, 0, 2, chain, kPlain),
            "{\n"
            "  \"why\": \"app\",\n"
            "  \"without\": \"libc\",\n"
            "  \"breaks\": true,\n"
            "  \"chain\": [\n"
            "    {\"package\": \"app\", \"needs_one_of\": [\"gawk\", \"mawk\"], \"last_to_go\": "
            "\"gawk\"},\n"
            "    {\"package\": \"gawk\", \"needs_one_of\": [\"libc\"], \"last_to_go\": \"libc\"}\n"
            "  ]\n"
            "}\n");
  EXPECT_EQ(why_text(Format::csv, loaded, 0, 2, chain, kPlain),
            "package,needs_one_of,last_to_go\n"
            "app,gawk | mawk,gawk\n"
            "gawk,libc,libc\n");
}

TEST(FiguresText, ShowsWhatTheRunCost) {
  EXPECT_EQ(figures_text({2, 200, 9'000'000, 12, 2s}, 213 << 20, kUnicode),
            "2 workers · 200 rounds · 10.0 ms per round · 12 wake-ups · 4.5 M records/s · peak "
            "memory 213 MiB\n");
  EXPECT_EQ(figures_text({1, 0, 0, 1, 0s}, 1, kPlain),
            "1 worker | 0 rounds | 1 wake-up | peak memory 1 MiB\n");
}

TEST(Bar, GrowsInEighths) {
  EXPECT_EQ(bar(8, 8, 4, true), "████");
  EXPECT_EQ(bar(4, 8, 4, true), "██  ");
  EXPECT_EQ(bar(5, 16, 4, true), "█▎  ");
  EXPECT_EQ(bar(1, 1000000, 4, true), "▏   ");
  EXPECT_EQ(bar(0, 8, 4, true), "    ");
  EXPECT_EQ(bar(0, 0, 4, true), "    ");
  EXPECT_EQ(bar(4, 8, 4, false), "##  ");
  EXPECT_EQ(bar(1, 1000000, 4, false), "#   ");
}

TEST(PartsPerMillion, AreExact) {
  EXPECT_EQ(parts_per_million(0), "0.000");
  EXPECT_EQ(parts_per_million(999'999), "0.000");
  EXPECT_EQ(parts_per_million(1'000'000), "0.001");
  EXPECT_EQ(parts_per_million(kRankMass), "1000000.000");
}

TEST(Escapes, KeepForeignNamesInsideTheirFields) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01µ\xff"), "\"a\\\"b\\\\c\\u000a\\u0001µ\\ufffd\"");
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
}

}  // namespace
}  // namespace leat::tool
