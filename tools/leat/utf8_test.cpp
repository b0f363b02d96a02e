#include "utf8.hpp"

#include <gtest/gtest.h>

namespace leat::tool {
namespace {

TEST(Utf8, KnowsWhereACharacterEnds) {
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("\xc2\xb5s"), 2U);
  EXPECT_EQ(utf8_length("\xe2\x96\x88"), 3U);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4U);
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  for (const char* const text :
       {"", "\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe2\x96", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_EQ(utf8_length(text), 0U);
  }
}

TEST(Utf8, CountsAndCutsCharacters) {
  EXPECT_EQ(columns_of("4 \xc2\xb5s"), 4U);
  EXPECT_EQ(cut_to_columns("4 \xc2\xb5s", 3), "4 \xc2\xb5");
  EXPECT_EQ(cut_to_columns("abc", 9), "abc");
}

}  // namespace
}  // namespace leat::tool
