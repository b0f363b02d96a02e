#include "flow_graph.hpp"

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace leat::tool {
namespace {

FlowGraph loop() {
  return {{{"input", ""}, {"rank <1>", "loop"}, {"feed\"back", "loop"}, {"probe", ""}},
          {{0, 1, "exchange"}, {1, 2, ""}, {2, 1, "", true}, {1, 3, ""}}};
}

TEST(FlowGraph, IsWrittenAsDot) {
  EXPECT_EQ(dot_of(loop(), "packages"),
            "digraph \"packages\" {\n"
            "  node [shape=box];\n"
            "  n0 [label=\"input\"];\n"
            "  n3 [label=\"probe\"];\n"
            "  subgraph cluster_0 {\n"
            "    label=\"loop\";\n"
            "    n1 [label=\"rank <1>\"];\n"
            "    n2 [label=\"feed\\\"back\"];\n"
            "  }\n"
            "  n0 -> n1 [label=\"exchange\"];\n"
            "  n1 -> n2;\n"
            "  n2 -> n1 [style=dashed, constraint=false];\n"
            "  n1 -> n3;\n"
            "}\n");
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(FlowGraph, IsWrittenAsSvgWithABoxAnOperatorAndALineAChannel) {
  const std::string svg = svg_of(loop(), "packages");
  EXPECT_TRUE(svg.starts_with("<svg xmlns"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "rx=\"4\""), 4U);
  EXPECT_EQ(count(svg, "marker-end"), 4U);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 1U);
  EXPECT_EQ(count(svg, "rank &lt;1&gt;"), 1U);
}

TEST(FlowGraph, AnUnmarkedCycleStillEnds) {
  const FlowGraph graph{{{"a", ""}, {"b", ""}}, {{0, 1, ""}, {1, 0, ""}}};
  EXPECT_FALSE(svg_of(graph, "t").empty());
  EXPECT_FALSE(svg_of({}, "nothing").empty());
}

TEST(FlowGraph, TheEndingOfTheFileChoosesTheFormat) {
  const auto directory = std::filesystem::path(testing::TempDir());
  const auto file = directory / "leat_flow_graph_test.svg";
  ASSERT_TRUE(write_flow_graph(loop(), "t", file));
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), svg_of(loop(), "t"));
  std::filesystem::remove(file);
  const auto wrong = write_flow_graph(loop(), "t", "flow.png");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "flow.png: expected a name that ends in .dot, .gv or .svg");
  const auto nowhere = write_flow_graph(loop(), "t", "/nonexistent/flow.dot");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message,
            "/nonexistent/flow.dot: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace leat::tool
