#include "terminal.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace leat::tool {
namespace {

Look look(bool is_terminal, const std::map<std::string, std::string>& variables) {
  return look_of(is_terminal, 0, [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Look, ColoursOnlyATerminalThatMayHaveThem) {
  EXPECT_TRUE(look(true, {{"TERM", "xterm"}}).color);
  EXPECT_FALSE(look(false, {{"TERM", "xterm"}}).color);
  EXPECT_FALSE(look(true, {{"TERM", "dumb"}}).color);
  EXPECT_FALSE(look(true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).color);
  EXPECT_TRUE(look(true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}).color);  // empty counts as unset
}

TEST(Look, TakesUnicodeFromTheLocale) {
  EXPECT_TRUE(look(false, {{"LANG", "de_DE.UTF-8"}}).utf8);
  EXPECT_TRUE(look(false, {{"LC_ALL", "C.utf8"}}).utf8);
  EXPECT_TRUE(look(false, {{"LC_CTYPE", "C.UTF-8"}, {"LANG", "C"}}).utf8);
  EXPECT_FALSE(look(false, {{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}}).utf8);
  EXPECT_FALSE(look(false, {{"LANG", "de_DE"}}).utf8);
  EXPECT_FALSE(look(false, {}).utf8);
}

TEST(Look, HasEightyColumnsIfNobodyKnows) {
  EXPECT_EQ(look(true, {}).columns, 80U);
  EXPECT_EQ(look_of(true, 132, [](const char*) -> const char* { return nullptr; }).columns, 132U);
}

}  // namespace
}  // namespace leat::tool
