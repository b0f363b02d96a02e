#include <leat/base/identity.hpp>

#include <leat/base/codec.hpp>

#include <gtest/gtest.h>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// The same type, but for one thing each. All are called Quote, in namespaces that `kIdentityAs`
// hides, so that only that thing can make the difference.
namespace market {

enum class Side : std::uint8_t { buy, sell };
LEAT_ENUMERATORS(Side, buy, sell);

struct Quote {
  std::uint64_t id;
  double price;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, price, size, side);
LEAT_LOCK_LAYOUT(Quote, 2552832443043537024U);

namespace wider_member {
struct Quote {
  std::uint64_t id;
  double price;
  std::uint64_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, price, size, side);
}  // namespace wider_member

namespace other_name {
struct Quote {
  std::uint64_t id;
  double cost;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, cost, size, side);
}  // namespace other_name

namespace other_order {
struct Quote {
  double price;
  std::uint64_t id;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, price, size, side);
}  // namespace other_order

namespace other_alignment {
struct alignas(64) Quote {
  std::uint64_t id;
  double price;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, price, size, side);
}  // namespace other_alignment

namespace other_sign {
struct Quote {
  std::int64_t id;
  double price;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, price, size, side);
}  // namespace other_sign

namespace other_enum {
enum class Side : std::uint8_t { buy, sell, cancel };
LEAT_ENUMERATORS(Side, buy, sell, cancel);
struct Quote {
  std::uint64_t id;
  double price;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Quote, id, price, size, side);
}  // namespace other_enum

namespace renamed {
struct Offer {
  std::uint64_t id;
  double price;
  std::uint32_t size;
  Side side;
};
LEAT_FIELDS(Offer, id, price, size, side);
}  // namespace renamed

struct Anything {
  std::uint64_t id;
};
struct AnythingElse {
  std::uint64_t id;
};
struct Fixed {
  std::uint64_t id;
};

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
LEAT_FIELDS(Tree, name, children);
struct Chain {
  std::string name;
  std::vector<Chain> links;
};
LEAT_FIELDS(Chain, name, links);

}  // namespace market

namespace leat {

template <>
inline constexpr IdentityAs kIdentityAs<market::wider_member::Quote>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::other_name::Quote>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::other_order::Quote>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::other_alignment::Quote>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::other_sign::Quote>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::other_enum::Quote>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::other_enum::Side>{.name = "market::Side"};
template <>
inline constexpr IdentityAs kIdentityAs<market::renamed::Offer>{.name = "market::Quote"};
template <>
inline constexpr IdentityAs kIdentityAs<market::Anything>{.nameless = true};
template <>
inline constexpr IdentityAs kIdentityAs<market::AnythingElse>{.nameless = true};
template <>
inline constexpr IdentityAs kIdentityAs<market::Fixed>{.hash = 77};

namespace {

using market::Quote;

TEST(LayoutHash, ChangesWithAnyChangeOfTheType) {
  constexpr std::uint64_t kQuote = layout_hash<Quote>();
  static_assert(kQuote != layout_hash<market::wider_member::Quote>());
  static_assert(kQuote != layout_hash<market::other_name::Quote>());
  static_assert(kQuote != layout_hash<market::other_order::Quote>());
  static_assert(kQuote != layout_hash<market::other_alignment::Quote>());
  static_assert(kQuote != layout_hash<market::other_sign::Quote>());
  static_assert(kQuote != layout_hash<market::other_enum::Quote>());
  static_assert(kQuote == layout_hash<const Quote>());
}

TEST(LayoutHash, KeepsToTheNameThatItIsTold) {
  static_assert(layout_hash<Quote>() == layout_hash<market::renamed::Offer>());
  static_assert(layout_hash<market::Anything>() == layout_hash<market::AnythingElse>());
  static_assert(layout_hash<market::Fixed>() == 77);
}

TEST(LayoutHash, IsTheSameOnEveryMachine) {
  // Pinned: segments that were made by another build are joined by these numbers.
  EXPECT_EQ(layout_hash<std::uint64_t>(), layout_hash<unsigned long long>());
  EXPECT_EQ(layout_hash<std::uint64_t>(), 4305782206473493164U);
  EXPECT_EQ(layout_hash<double>(), 8406040328962713148U);
  EXPECT_EQ((layout_hash<std::array<std::uint32_t, 7>>()), 6253428946923275623U);
  EXPECT_EQ(layout_hash<market::Side>(), 17126896735143943483U);
  EXPECT_EQ(layout_hash<std::chrono::nanoseconds>(), 7365555500644232805U);
}

TEST(LayoutHash, TellsNumbersApart) {
  static_assert(layout_hash<std::uint32_t>() != layout_hash<std::int32_t>());
  static_assert(layout_hash<std::uint32_t>() != layout_hash<float>());
  static_assert(layout_hash<std::uint8_t>() != layout_hash<bool>());
  static_assert(layout_hash<std::uint8_t>() != layout_hash<std::byte>());
  static_assert(layout_hash<std::uint8_t>() != layout_hash<char>());
  static_assert(layout_hash<std::array<int, 3>>() != layout_hash<std::array<int, 4>>());
  static_assert(layout_hash<std::array<int, 3>>() == layout_hash<int[3]>());
  static_assert(layout_hash<std::chrono::seconds>() != layout_hash<std::chrono::milliseconds>());
}

TEST(SchemaHash, LooksAtWhatIsEncodedAndNotAtWhereItLies) {
  static_assert(schema_hash<Quote>() == schema_hash<market::other_alignment::Quote>());
  static_assert(schema_hash<Quote>() == schema_hash<market::other_order::Quote>());
  static_assert(schema_hash<Quote>() != schema_hash<market::other_name::Quote>());
  static_assert(schema_hash<Quote>() != schema_hash<market::wider_member::Quote>());
  static_assert(schema_hash<Quote>() != layout_hash<Quote>());
}

TEST(SchemaHash, SeesWhatTheStandardLibrarysTypesHold) {
  static_assert(schema_hash<std::vector<int>>() == schema_hash<std::deque<int>>());
  static_assert(schema_hash<std::vector<int>>() != schema_hash<std::vector<unsigned>>());
  static_assert(schema_hash<std::string>() != schema_hash<std::vector<char>>());
  static_assert(schema_hash<std::pair<int, bool>>() != schema_hash<std::pair<bool, int>>());
  static_assert(schema_hash<std::map<int, bool>>() != schema_hash<std::map<int, char>>());
  static_assert(schema_hash<std::optional<int>>() != schema_hash<int>());
  static_assert(schema_hash<std::variant<int, bool>>() !=
                schema_hash<std::variant<int, bool, std::string>>());
}

TEST(SchemaHash, EndsWhereATypeHoldsItself) {
  static_assert(schema_hash<market::Tree>() != schema_hash<market::Chain>());
}

}  // namespace
}  // namespace leat
