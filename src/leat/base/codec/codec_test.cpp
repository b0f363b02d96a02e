#include <leat/base/codec/codec.hpp>

#include <leat/base/codec.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace leat {
namespace {

enum class Color : std::uint8_t { red = 1, green = 2 };

struct Place {
  std::int32_t x = 0;
  std::int16_t y = 0;

  friend bool operator==(const Place&, const Place&) = default;
};
LEAT_FIELDS(Place, x, y);

struct Person {
  std::string name;
  std::optional<Place> home;
  std::vector<Person> children;

  friend bool operator==(const Person&, const Person&) = default;
};
LEAT_FIELDS(Person, name, home, children);

struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};
LEAT_FIELDS(Nothing);

struct Plain2D {
  float x;
  float y;

  friend bool operator==(const Plain2D&, const Plain2D&) = default;
};

struct NoCodec {
  int* pointer;
};

}  // namespace

template <>
inline constexpr bool kPlainBytes<Plain2D> = true;

namespace {

/// `value` encoded as exactly `bytes`, and back.
template <class T>
void expect_bytes(const T& value, std::initializer_list<int> bytes) {
  std::vector<std::byte> wanted;
  for (const int byte : bytes) wanted.push_back(static_cast<std::byte>(byte));
  const ByteSink sink = encoded(value);
  const std::vector<std::byte> made(sink.bytes().begin(), sink.bytes().end());
  EXPECT_EQ(made, wanted);
  const auto back = decode<T>(wanted);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(*back == value);
  EXPECT_GE(made.size(), Codec<T>::kBytesMin);
}

/// Why `bytes` are no `T`.
template <class T>
std::string refused(std::initializer_list<int> bytes) {
  std::vector<std::byte> input;
  for (const int byte : bytes) input.push_back(static_cast<std::byte>(byte));
  const auto value = decode<T>(input);
  return value ? "a value" : value.error().message;
}

TEST(Codec, NumbersAreTheirBytesLowestFirst) {
  expect_bytes(std::uint32_t{0x01020304}, {4, 3, 2, 1});
  expect_bytes(std::int8_t{-1}, {0xff});
  expect_bytes(1.0, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
  expect_bytes(Color::green, {2});
  expect_bytes(true, {1});
  expect_bytes(std::chrono::duration<std::int16_t>(258), {2, 1});
  expect_bytes(Plain2D{0, 1.0F}, {0, 0, 0, 0, 0, 0, 0x80, 0x3f});
}

TEST(Codec, ANumberThatIsNotANumberKeepsItsBits) {
  const auto back = decode<double>(encoded(std::numeric_limits<double>::quiet_NaN()).bytes());
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(std::isnan(*back));
}

TEST(Codec, TextsAndSequencesAreACountAndTheirElements) {
  expect_bytes(std::string("ab"), {2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'});
  expect_bytes(std::vector<std::string>{"", "c"}, {2, 0, 0, 0, 0, 0, 0, 0,  //
                                                   0, 0, 0, 0, 0, 0, 0, 0,  //
                                                   1, 0, 0, 0, 0, 0, 0, 0, 'c'});
  expect_bytes(std::vector<bool>{true, false}, {2, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  expect_bytes(std::array<std::uint8_t, 2>{7, 8}, {7, 8});
}

TEST(Codec, NumbersOfASequenceStartAtAMultipleOfEight) {
  expect_bytes(std::pair<std::uint8_t, std::vector<std::uint16_t>>(1, {0x0203}),
               {1,                       //
                1, 0, 0, 0, 0, 0, 0, 0,  // one element
                0, 0, 0, 0, 0, 0, 0,     // up to 16
                3, 2});
}

TEST(Codec, MembersFollowEachOther) {
  expect_bytes(std::tuple<std::uint8_t, std::uint8_t>(1, 2), {1, 2});
  expect_bytes(Place{1, 2}, {1, 0, 0, 0, 2, 0});
}

TEST(Codec, WhatMayBeAbsentSaysSoFirst) {
  expect_bytes(std::optional<std::uint8_t>(), {0});
  expect_bytes(std::optional<std::uint8_t>(5), {1, 5});
  using Either = std::variant<std::uint8_t, bool>;
  expect_bytes(Either(std::in_place_index<0>, std::uint8_t{9}), {0, 9});
  expect_bytes(Either(true), {1, 1});
}

TEST(Codec, EveryValueTakesAByte) {
  expect_bytes(std::monostate(), {0});
  expect_bytes(std::tuple<>(), {0});
  expect_bytes(std::array<int, 0>(), {0});
  expect_bytes(Nothing(), {0});
}

TEST(Codec, MapsAndSetsAreInTheOrderOfTheirKeys) {
  expect_bytes(std::map<std::uint8_t, bool>{{2, true}, {1, false}},
               {2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1});
  expect_bytes(std::multiset<std::uint8_t>{3, 3}, {2, 0, 0, 0, 0, 0, 0, 0, 3, 3});
}

TEST(Codec, ATypeMayHoldItself) {
  Person mother{"m", Place{1, -1}, {{"a", {}, {}}, {"b", {}, {{"c", {}, {}}}}}};
  const auto back = decode<Person>(encoded(mother).bytes());
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, mother);
}

TEST(Codec, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused<std::uint32_t>({1, 2}),
            "decode, byte 0 of 2: more bytes are asked for than are left (4, at most 2)");
  EXPECT_EQ(refused<std::uint8_t>({1, 2}),
            "decode, byte 1 of 2: the value ends before the bytes do (1, at most 0)");
  EXPECT_EQ(refused<bool>({2}), "decode, byte 1 of 1: a bool is neither 0 nor 1 (2, at most 1)");
  EXPECT_EQ(refused<std::monostate>({1}),
            "decode, byte 1 of 1: an empty value is not 0 (1, at most 0)");
  EXPECT_EQ((refused<std::variant<std::uint8_t, bool>>({2, 0})),
            "decode, byte 1 of 2: a variant has no such alternative (2, at most 1)");
  EXPECT_EQ((refused<std::pair<std::uint8_t, std::vector<std::uint16_t>>>(
                {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 3, 2})),
            "decode, byte 16 of 18: padding is not zero");
}

TEST(Codec, RefusesACountThatTheBytesCannotHold) {
  EXPECT_EQ(refused<std::string>({255, 255, 255, 255, 255, 255, 255, 255, 'a'}),
            "decode, byte 8 of 9: more elements are counted than bytes are left for "
            "(18446744073709551615, at most 1)");
  EXPECT_EQ(refused<std::vector<std::uint64_t>>({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}),
            "decode, byte 8 of 16: more elements are counted than bytes are left for "
            "(2, at most 1)");
  EXPECT_EQ(refused<std::vector<std::monostate>>({0, 0, 0, 0, 1, 0, 0, 0, 0}),
            "decode, byte 8 of 9: more elements are counted than bytes are left for "
            "(4294967296, at most 1)");
}

TEST(Codec, RefusesKeysOutOfOrderAndKeysTwice) {
  const std::string refusal = "decode, byte 10 of 10: keys are not in order, or stand twice";
  EXPECT_EQ(refused<std::set<std::uint8_t>>({2, 0, 0, 0, 0, 0, 0, 0, 3, 3}), refusal);
  EXPECT_EQ(refused<std::set<std::uint8_t>>({2, 0, 0, 0, 0, 0, 0, 0, 3, 2}), refusal);
  EXPECT_EQ(refused<std::multiset<std::uint8_t>>({2, 0, 0, 0, 0, 0, 0, 0, 3, 2}), refusal);
  EXPECT_EQ((refused<std::unordered_map<std::uint8_t, std::monostate>>(
                {2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 3, 0})),
            "decode, byte 11 of 12: keys are not in order, or stand twice");
}

TEST(Codec, RefusesWhatIsNestedTooDeepOnBothSides) {
  Person person;
  for (std::uint32_t depth = 1; depth < kCodecDepth; ++depth) {
    Person parent;
    parent.children.push_back(std::move(person));
    person = std::move(parent);
  }
  ByteSink sink = encoded(person);  // as deep as may be
  EXPECT_TRUE(decode<Person>(sink.bytes()).has_value());
  Person parent;
  parent.children.push_back(std::move(person));
  EXPECT_THROW(static_cast<void>(encoded(parent)), UsageError);

  // One level more: a name without letters, no home, one child, who is all that was there before.
  ByteSink deeper;
  encode(deeper, std::string());
  encode(deeper, false);
  encode(deeper, std::uint64_t{1});
  deeper.write(sink.bytes().data(), sink.bytes().size());
  const auto refused = decode<Person>(deeper.bytes());
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("values are nested too deep"), std::string::npos);
}

TEST(Codec, DecodingReplacesWhatWasThere) {
  std::vector<std::string> to{"old"};
  const ByteSink sink = encoded(std::vector<std::string>{"new"});
  ByteSource from(sink.bytes());
  ASSERT_TRUE(Codec<std::vector<std::string>>::decode(from, to));
  EXPECT_EQ(to, std::vector<std::string>{"new"});
}

TEST(Codec, ValuesFollowEachOtherInOneSink) {
  ByteSink sink;
  encode(sink, std::uint8_t{1});
  encode(sink, std::vector<std::uint32_t>{2, 3});
  ByteSource from(sink.bytes());
  EXPECT_EQ(*decode_next<std::uint8_t>(from), 1);
  EXPECT_EQ(*decode_next<std::vector<std::uint32_t>>(from), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(from.left(), 0u);
  EXPECT_FALSE(decode_next<bool>(from).has_value());
}

TEST(Codec, KnowsWhatItCannotCode) {
  static_assert(!Encodable<NoCodec>);
  static_assert(!Encodable<int*>);
  static_assert(!Encodable<long double>);
  static_assert(!Encodable<std::vector<NoCodec>>);
  static_assert(!Encodable<std::pair<int, NoCodec>>);
  static_assert(!Encodable<std::map<int, NoCodec>>);
  static_assert(Encodable<std::map<std::string, std::vector<std::optional<Person>>>>);
  enum Unfixed { kOne };  // has not all values of any type
  static_assert(!Encodable<Unfixed>);
}

TEST(Fields, AreNamedInTheOrderOfTheList) {
  std::string names;
  std::apply([&](const auto&... field) { ((names += std::string(field.name) + " "), ...); },
             fields_of<Person>());
  EXPECT_EQ(names, "name home children ");
  static_assert(kFields<Nothing> == 0 && kFields<Place> == 2);
  static_assert(std::is_same_v<FieldType<Place, 1>, std::int16_t>);

  Place place{3, 4};
  int sum = 0;
  for_each_field(std::as_const(place), [&](int member) { sum += member; });
  for_each_field(place, [](auto& member) { member = 1; });
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(place, (Place{1, 1}));
}

TEST(Fields, AreOfTheTypeItselfAndNotOfWhatDerivesFromIt) {
  struct Further : Place {
    int z = 0;
  };
  static_assert(HasFields<Place> && !HasFields<Further>);
  static_assert(!internal::kNamesAllMembers<Place, 1> && internal::kNamesAllMembers<Place, 2>);
  static_assert(!internal::kNamesAllMembers<Person, 2> && internal::kNamesAllMembers<Person, 3>);
}

TEST(ByteSink, PadsToMultiplesOfEightAndKeepsItsMemory) {
  ByteSink sink;
  sink.align();
  EXPECT_EQ(sink.size(), 0u);
  sink.write_plain('x');
  sink.align();
  EXPECT_EQ(sink.size(), 8u);
  const std::byte* const memory = sink.bytes().data();
  sink.clear();
  EXPECT_EQ(sink.size(), 0u);
  sink.write("abc", 3);
  EXPECT_EQ(sink.bytes().data(), memory);
  sink.bytes()[0] = std::byte{'z'};
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(sink.bytes().data()), 3), "zbc");

  ByteSink moved = std::move(sink);
  EXPECT_EQ(moved.size(), 3u);
  EXPECT_EQ(sink.size(), 0u);  // NOLINT(bugprone-use-after-move)
}

TEST(ByteSource, StaysFailedWithItsFirstReason) {
  const ByteSink sink = encoded(std::uint16_t{1});
  ByteSource from(sink.bytes());
  std::uint32_t four = 0;
  std::uint8_t one = 0;
  EXPECT_FALSE(from.read_plain(four));
  EXPECT_FALSE(from.read_plain(one));  // although it is there
  EXPECT_FALSE(from.fail("something else"));
  EXPECT_EQ(from.error().message,
            "decode, byte 0 of 2: more bytes are asked for than are left (4, at most 2)");
}

TEST(ByteSource, ReadsNothingFromNothing) {
  ByteSource from({});
  EXPECT_TRUE(from.read(nullptr, 0));
  EXPECT_TRUE(from.align());
  EXPECT_NE(from.take(0), nullptr);
  EXPECT_EQ(from.left(), 0u);
}

}  // namespace
}  // namespace leat
