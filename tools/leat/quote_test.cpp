#include "quote.hpp"

#include <gtest/gtest.h>
#include <string>

namespace leat::tool {
namespace {

TEST(Quote, LeavesPrintableTextAlone) {
  EXPECT_EQ(quote("libc6"), "\"libc6\"");
  EXPECT_EQ(quote("Mühle"), "\"Mühle\"");
  EXPECT_EQ(quote(""), "\"\"");
}

TEST(Quote, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(quote("a\x1b[2Jb\tc"), "\"a\\x1b[2Jb\\x09c\"");
  EXPECT_EQ(quote("\xff\xc3"), "\"\\xff\\xc3\"");
  EXPECT_EQ(quote("\xc2\x9b"), "\"\\xc2\\x9b\"");
  EXPECT_EQ(quote(std::string_view("\0", 1)), "\"\\x00\"");
}

TEST(Quote, CutsWhatIsTooLong) {
  EXPECT_EQ(quote("abcdef", 3), "\"abc...\"");
  EXPECT_EQ(quote("abc", 3), "\"abc\"");
}

TEST(Quote, CountsAndGroups) {
  EXPECT_EQ(counted(1, "column"), "1 column");
  EXPECT_EQ(counted(0, "column"), "0 columns");
  EXPECT_EQ(counted(1234, "line"), "1 234 lines");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(49582), "49 582");
  EXPECT_EQ(grouped(1234567), "1 234 567");
}

}  // namespace
}  // namespace leat::tool
