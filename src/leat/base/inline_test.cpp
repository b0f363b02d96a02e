#include <leat/base/inline_string.hpp>
#include <leat/base/inline_vector.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace leat {
namespace {

using Four = InlineVector<int, 4>;

std::vector<int> elements(const Four& vector) { return {vector.begin(), vector.end()}; }

TEST(InlineVector, IsAValueOfBytes) {
  EXPECT_TRUE(std::is_trivially_copyable_v<Four>);
  EXPECT_TRUE(std::is_standard_layout_v<Four>);
  EXPECT_EQ(sizeof(Four), 20U);
  Four one{1, 2};
  Four two = one;
  two.push_back(3);
  EXPECT_EQ(elements(one), (std::vector<int>{1, 2}));
  EXPECT_EQ(elements(two), (std::vector<int>{1, 2, 3}));
}

TEST(InlineVector, SaysWhenItIsFull) {
  Four vector{1, 2, 3};
  EXPECT_TRUE(vector.try_push_back(4));
  EXPECT_TRUE(vector.full());
  EXPECT_FALSE(vector.try_push_back(5));
  EXPECT_FALSE(vector.try_insert(0, 5));
  EXPECT_FALSE(vector.try_append(std::array{5}));
  EXPECT_THROW(vector.push_back(5), UsageError);
  EXPECT_THROW(vector.insert(0, 5), UsageError);
  EXPECT_EQ(elements(vector), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_THROW((Four{1, 2, 3, 4, 5}), UsageError);
}

TEST(InlineVector, CutsOnlyWhenAsked) {
  const std::array<int, 6> six{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(elements(Four::truncated(six)), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_THROW(Four{std::span<const int>(six)}, UsageError);
  Four vector{9};
  EXPECT_FALSE(vector.try_append(std::span(six).first(4)));
  EXPECT_TRUE(vector.try_append(std::span(six).first(3)));
  EXPECT_EQ(elements(vector), (std::vector<int>{9, 1, 2, 3}));
}

TEST(InlineVector, InsertsAndTakesOut) {
  Four vector{1, 3};
  vector.insert(1, 2);
  vector.insert(3, vector[0]);
  EXPECT_EQ(elements(vector), (std::vector<int>{1, 2, 3, 1}));
  EXPECT_EQ(vector.erase(1), 2);
  EXPECT_EQ(elements(vector), (std::vector<int>{1, 3, 1}));
  EXPECT_EQ(vector.swap_erase(0), 1);
  EXPECT_EQ(elements(vector), (std::vector<int>{1, 3}));
  EXPECT_EQ(vector.swap_erase(1), 3);
  EXPECT_EQ(vector.pop_back(), 1);
  EXPECT_EQ(vector.pop_back(), std::nullopt);
  EXPECT_THROW(vector.erase(0), UsageError);
  EXPECT_THROW(static_cast<void>(vector[0]), UsageError);
  EXPECT_THROW(static_cast<void>(vector.back()), UsageError);
  EXPECT_THROW(vector.insert(1, 0), UsageError);
}

TEST(InlineVector, LeavesZerosBehindItsEnd) {
  Four vector{1, 2, 3, 4};
  vector.erase(0);
  vector.pop_back();
  const Four other{2, 3};
  EXPECT_EQ(std::memcmp(&vector, &other, sizeof vector), 0);
  vector.clear();
  const Four none;
  EXPECT_EQ(std::memcmp(&vector, &none, sizeof vector), 0);
}

TEST(InlineVector, ComparesItsElements) {
  EXPECT_EQ((Four{1, 2}), (Four{1, 2}));
  EXPECT_NE((Four{1, 2}), (Four{1, 2, 0}));
  EXPECT_LT((Four{1, 2}), (Four{1, 3}));
  EXPECT_LT((Four{1}), (Four{1, 0}));
  Four unsorted{3, 1, 2};
  std::sort(unsorted.begin(), unsorted.end());
  EXPECT_EQ(unsorted, (Four{1, 2, 3}));
}

TEST(InlineVector, KnowsAnImpossibleSize) {
  Four vector{1};
  EXPECT_TRUE(vector.is_sound());
  const std::uint32_t impossible = 5;
  std::memcpy(static_cast<void*>(&vector), &impossible, sizeof impossible);
  EXPECT_FALSE(vector.is_sound());
}

TEST(InlineVector, WorksAtCompileTime) {
  constexpr Four kVector{4, 5};
  static_assert(kVector.size() == 2 && kVector[1] == 5);
}

using Eight = InlineString<8>;

TEST(InlineString, HoldsText) {
  EXPECT_TRUE(std::is_trivially_copyable_v<Eight>);
  EXPECT_EQ(sizeof(Eight), 12U);
  const Eight text("abcdefgh");
  EXPECT_EQ(text, "abcdefgh");
  EXPECT_EQ(text.str(), "abcdefgh");
  EXPECT_EQ(Eight(), "");
  std::ostringstream out;
  out << text;
  EXPECT_EQ(out.str(), "abcdefgh");
}

TEST(InlineString, RefusesWhatIsTooLong) {
  EXPECT_THROW(Eight("abcdefghi"), UsageError);
  const auto made = Eight::from("abcdefghi");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("room for 8"), std::string::npos);
  Eight text("abcdefg");
  EXPECT_FALSE(text.try_append("hi"));
  EXPECT_TRUE(text.try_append("h"));
  EXPECT_EQ(text, "abcdefgh");
}

TEST(InlineString, CutsBetweenCharacters) {
  EXPECT_EQ(Eight::truncated("abcdefghij"), "abcdefgh");
  EXPECT_EQ(Eight::truncated("abcdefg\u00e4"), "abcdefg");
  EXPECT_EQ(Eight::truncated("abcdef\u20ac"), "abcdef");
  EXPECT_EQ(Eight::truncated("abcde\u20ac"), "abcde\u20ac");
  EXPECT_EQ(Eight::truncated("ab\xFFzz"), "ab");
}

TEST(InlineString, RefusesWhatIsNoUtf8) {
  const std::string bad[] = {"\x80",
                             "a\xC3",
                             "\xC0\x80",
                             "\xC1\xBF",
                             "\xE0\x80\x80",
                             "\xE0\x9F\xBF",
                             "\xED\xA0\x80",
                             "\xF0\x80\x80\x80",
                             "\xF4\x90\x80\x80",
                             "\xF5\x80\x80\x80",
                             "\xE2\x82",
                             "\xFF",
                             "\xC3(",
                             "\xE2(\x82",
                             "\xF0\x9F\x98"};
  for (const std::string& text : bad) {
    EXPECT_FALSE(Eight::from(text)) << testing::PrintToString(text);
    EXPECT_THROW(Eight{text}, UsageError);
    Eight held("x");
    EXPECT_FALSE(held.try_append(text));
  }
  for (const char* text : {"\u00e4", "\u20ac", "\U0001F600", "\uD7FF", "\uE000", "\U0010FFFF"}) {
    ASSERT_TRUE(Eight::from(text)) << text;
    EXPECT_EQ(Eight::from(text).value(), text);
  }
  EXPECT_EQ(utf8_prefix("ab\xC3"), 2U);
  EXPECT_NE(Eight::from("ab\xC3").error().message.find("from byte 2"), std::string::npos);
}

TEST(InlineString, KnowsBytesThatAreNoText) {
  Eight text("abcd");
  EXPECT_TRUE(text.is_sound());
  std::memcpy(reinterpret_cast<char*>(&text) + 4, "\xFF", 1);
  EXPECT_FALSE(text.is_sound());
  const std::uint32_t impossible = 9;
  std::memcpy(static_cast<void*>(&text), &impossible, sizeof impossible);
  EXPECT_FALSE(text.is_sound());
}

TEST(InlineString, ComparesItsText) {
  EXPECT_LT(Eight("ab"), Eight("abc"));
  EXPECT_LT(Eight("abc"), Eight("b"));
  EXPECT_EQ(Eight("ab"), Eight::truncated("ab"));
  Eight text("ab");
  text.clear();
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace leat
