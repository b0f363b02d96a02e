#include "debian_version.hpp"

#include <gtest/gtest.h>
#include <array>
#include <string>

namespace leat::tool {
namespace {

struct Case {
  const char* older;
  const char* newer;
};

TEST(DebianVersion, OrdersByPolicy) {
  constexpr std::array kCases{
      Case{"1.0", "1.1"},
      Case{"1.9", "1.10"},
      Case{"1.0-1", "1.0-2"},
      Case{"1.0-9", "1.0-10"},
      Case{"1.0", "1.0-1"},
      Case{"9.9-9", "1:0"},
      Case{"1:9", "2:1"},
      Case{"9:1", "10:0"},
      Case{"1.0~rc1", "1.0"},
      Case{"1.0~rc1", "1.0-1"},
      Case{"1.0~~", "1.0~"},
      Case{"1.0~~a", "1.0~"},
      Case{"1.0~", "1.0"},
      Case{"1.0", "1.0a"},
      Case{"1.0a", "1.0b"},
      Case{"1.0Z", "1.0a"},
      Case{"1.0a", "1.0+b"},
      Case{"1.0a", "1.0.1"},
      Case{"2.36-9+deb12u10", "2.36-9+deb12u13"},
      Case{"2.36-9", "2.36-9+deb12u1"},
      Case{"115.9.0esr-1~deb12u1", "115.9.0esr-1"},
      Case{"1.2-3-1", "1.2-3-2"},
      Case{"99999999999999999999", "100000000000000000000"},
      Case{"", "0a"},
      Case{"~", ""},
  };
  for (const auto& [older, newer] : kCases) {
    EXPECT_TRUE(compare_versions(older, newer) < 0) << older << " < " << newer;
    EXPECT_TRUE(compare_versions(newer, older) > 0) << newer << " > " << older;
  }
}

TEST(DebianVersion, CallsDifferentSpellingsOfOneVersionEqual) {
  constexpr std::array kCases{
      Case{"1.0", "1.0"},  Case{"0:1.0", "1.0"}, Case{"00:1.0", "0:1.0"}, Case{"1.0", "1.00"},
      Case{"1.0-", "1.0"}, Case{"1.0", "1.0-0"}, Case{"1.a", "1.a0"},     Case{"", ""},
      Case{"", "0"},       Case{":1", ":1"},
  };
  for (const auto& [a, b] : kCases) {
    EXPECT_TRUE(compare_versions(a, b) == 0) << a << " == " << b;
    EXPECT_TRUE(compare_versions(b, a) == 0) << b << " == " << a;
  }
}

TEST(DebianVersion, SplitsTheRevisionAtTheLastHyphen) {
  EXPECT_TRUE(compare_versions("1-2-3", "1-2-4") < 0);
  EXPECT_TRUE(compare_versions("1-3-1", "1-2-9") > 0);
}

TEST(DebianVersion, AColonAfterLettersIsNoEpoch) {
  EXPECT_TRUE(compare_versions("a:1", "1:a") < 0);  // epoch 0 against epoch 1
}

TEST(DebianVersion, IsATotalOrderOnAwkwardText) {
  const std::array<std::string, 12> texts{"",  "-",   ":",  "~",    "0",    "-0",
                                          "a", "a-~", "1:", "1:-1", "\xff", "1\xc3\xa9"};
  for (const auto& a : texts) {
    for (const auto& b : texts) {
      EXPECT_TRUE((compare_versions(a, b) < 0) == (compare_versions(b, a) > 0)) << a << "," << b;
      for (const auto& c : texts) {
        if (compare_versions(a, b) <= 0 && compare_versions(b, c) <= 0) {
          EXPECT_TRUE(compare_versions(a, c) <= 0) << a << "," << b << "," << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace leat::tool
