#include "edge_list.hpp"

#include <gtest/gtest.h>

namespace leat::tool {
namespace {

TEST(EdgeList, ReadsALinePerEdge) {
  const auto edges = read_edge_list("# who needs whom\na b\n\n  c\t d \r\na c", "edges.txt");
  ASSERT_TRUE(edges) << edges.error().message;
  const std::vector<NamedEdge> expected{{"a", "b"}, {"c", "d"}, {"a", "c"}};
  EXPECT_EQ(*edges, expected);
}

TEST(EdgeList, NamesTheLineWithTooFewColumns) {
  const auto edges = read_edge_list("# one\na b\n\nlibc6\nc d\n", "edges.txt");
  ASSERT_FALSE(edges);
  EXPECT_EQ(edges.error().message,
            "edges.txt:4: expected \"FROM TO\", found \"libc6\" (1 column). Lines starting with # "
            "are skipped. Nothing was computed.");
}

TEST(EdgeList, NamesTheLineWithTooManyColumns) {
  const auto edges = read_edge_list("a b 3\n", "-");
  ASSERT_FALSE(edges);
  EXPECT_EQ(edges.error().message,
            "-:1: expected \"FROM TO\", found \"a b 3\" (3 columns). Lines starting with # are "
            "skipped. Nothing was computed.");
}

TEST(EdgeList, ShowsBytesThatAreNoText) {
  const auto edges = read_edge_list(std::string_view("\x7f"
                                                     "ELF\x02\x01\0\n",
                                                     8),
                                    "a.out");
  ASSERT_FALSE(edges);
  EXPECT_EQ(edges.error().message,
            "a.out:1: expected \"FROM TO\", found \"\\x7fELF\\x02\\x01\\x00\" (1 column). Lines "
            "starting with # are skipped. Nothing was computed.");
}

TEST(EdgeList, RefusesAListWithoutEdges) {
  const auto edges = read_edge_list("# nothing\n\n", "edges.txt");
  ASSERT_FALSE(edges);
  EXPECT_EQ(edges.error().message,
            "edges.txt: expected lines \"FROM TO\", found none. Lines starting with # are skipped. "
            "Nothing was computed.");
}

TEST(EdgeList, AHashInsideALineIsAName) {
  const auto edges = read_edge_list(" # b\n", "edges.txt");
  ASSERT_TRUE(edges);
  EXPECT_EQ(edges->front().from, "#");
}

}  // namespace
}  // namespace leat::tool
