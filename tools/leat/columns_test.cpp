#include "columns.hpp"

#include <gtest/gtest.h>

namespace leat::tool {
namespace {

TEST(Columns, AreAsWideAsTheirLongestWordAndLinesEndWithIt) {
  EXPECT_EQ(columns({{"NAME", "N", "NOTE"}, {"a", "12", ""}, {"longer", "3", "x"}}, 1),
            "NAME     N  NOTE\n"
            "a       12\n"
            "longer   3     x\n");
  EXPECT_EQ(columns({{"NAME", "NOTE"}, {"a", "x"}}, 2), "NAME  NOTE\na     x\n");
}

}  // namespace
}  // namespace leat::tool
