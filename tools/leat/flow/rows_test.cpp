#include "flow/rows.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace leat::tool::flow {
namespace {

std::vector<std::string> in_row(const Rows<std::string>& rows, std::size_t row) {
  const auto values = rows.row(row);
  return {values.begin(), values.end()};
}

TEST(Rows, KeepsTheOrderInWhichARowsValuesCame) {
  Rows<std::string> rows(3);
  rows.add(2, "a");
  rows.add(0, "b");
  rows.add(2, "c");
  rows.seal();
  EXPECT_EQ(in_row(rows, 0), std::vector<std::string>{"b"});
  EXPECT_TRUE(in_row(rows, 1).empty());
  EXPECT_EQ(in_row(rows, 2), (std::vector<std::string>{"a", "c"}));
}

TEST(Rows, NoRowsAreFine) {
  Rows<std::string> rows(0);
  rows.seal();
}

}  // namespace
}  // namespace leat::tool::flow
