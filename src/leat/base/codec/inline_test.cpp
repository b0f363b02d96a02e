#include <leat/base/codec/inline.hpp>

#include <leat/base/codec.hpp>
#include <leat/base/fields.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace leat {
namespace {

struct Leg {
  std::uint32_t from = 0;
  bool by_air = false;
  friend bool operator==(const Leg&, const Leg&) = default;
};
LEAT_FIELDS(Leg, from, by_air);

struct Trip {
  InlineString<16> name;
  InlineVector<std::uint64_t, 4> stops;
  InlineVector<Leg, 3> legs;
  friend bool operator==(const Trip&, const Trip&) = default;
};
LEAT_FIELDS(Trip, name, stops, legs);

struct LooseTrip {
  std::string name;
  std::vector<std::uint64_t> stops;
  std::vector<Leg> legs;
  friend bool operator==(const LooseTrip&, const LooseTrip&) = default;
};
LEAT_FIELDS(LooseTrip, name, stops, legs);

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  ByteSink sink;
  encode(sink, value);
  return {sink.bytes().begin(), sink.bytes().end()};
}

const Trip kTrip{.name = InlineString<16>("\u00dcber Land"),
                 .stops = {7, 8, 9},
                 .legs = {{1, false}, {2, true}}};
const LooseTrip kLooseTrip{
    .name = "\u00dcber Land", .stops = {7, 8, 9}, .legs = {{1, false}, {2, true}}};

TEST(InlineCodec, BringsValuesBack) {
  const auto trip = decode<Trip>(bytes_of(kTrip));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_EQ(*trip, kTrip);
  EXPECT_EQ(decode<Trip>(bytes_of(Trip{})).value(), Trip{});
}

TEST(InlineCodec, HasTheBytesOfTheStandardContainers) {
  EXPECT_EQ(bytes_of(kTrip), bytes_of(kLooseTrip));
  EXPECT_EQ(decode<LooseTrip>(bytes_of(kTrip)).value(), kLooseTrip);
  EXPECT_EQ(decode<Trip>(bytes_of(kLooseTrip)).value(), kTrip);
}

template <class T, class Other>
std::string error_of(const Other& value) {
  const auto decoded = decode<T>(bytes_of(value));
  return decoded ? "none" : decoded.error().message;
}

TEST(InlineCodec, RefusesMoreThanThereIsRoomFor) {
  EXPECT_NE((error_of<InlineVector<std::uint64_t, 2>>(std::vector<std::uint64_t>{1, 2, 3}))
                .find("room for"),
            std::string::npos);
  EXPECT_NE((error_of<InlineVector<Leg, 1>>(std::vector<Leg>(2))).find("room for"),
            std::string::npos);
  EXPECT_NE((error_of<InlineString<3>>(std::string("four"))).find("room for"), std::string::npos);
}

TEST(InlineCodec, RefusesTextThatIsNoUtf8) {
  EXPECT_NE((error_of<InlineString<8>>(std::string("ab\xFF"))).find("no UTF-8"), std::string::npos);
}

TEST(InlineCodec, RefusesWhatIsCutOff) {
  std::vector<std::byte> bytes = bytes_of(kTrip);
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_FALSE(decode<Trip>(bytes)) << bytes.size();
  }
}

}  // namespace
}  // namespace leat
