#include <leat/progress/node_name.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leat::progress {
namespace {

NodeName here(std::string name) { return {std::move(name), std::source_location::current()}; }

TEST(NodeNames, OfOneLineAreKeptOnce) {
  NodeNames names;
  const SharedName one = names.share(here("map"));
  EXPECT_EQ(names.share(here("map")), one);
  EXPECT_EQ(one->name, "map");
  EXPECT_NE(names.share(here("filter")), one);
  EXPECT_NE(names.share({"map", std::source_location::current()}), one);  // written elsewhere
  EXPECT_EQ(names.size(), 3U);
}

TEST(NodeNames, ThatNobodyBearsDoNotPileUp) {
  NodeNames names;
  std::vector<SharedName> borne;
  for (int i = 0; i < 10; ++i) borne.push_back(names.share(here("kept " + std::to_string(i))));
  for (int i = 0; i < 1000; ++i) (void)names.share(here("gone " + std::to_string(i)));
  EXPECT_LE(names.size(), 64U);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(names.share(here("kept " + std::to_string(i))), borne[static_cast<std::size_t>(i)]);
}

TEST(NodeNames, OutliveTheirTable) {
  SharedName name;
  {
    NodeNames names;
    name = names.share(here("map"));
  }
  EXPECT_EQ(name->described().substr(0, 14), "operator \"map\"");
}

}  // namespace
}  // namespace leat::progress
