#include <leat/base/identity/versions.hpp>

#include <leat/base/codec.hpp>

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace book {

// v1: as it began.
struct OrderV1 {
  std::uint32_t id = 0;
  std::string symbol;
  float price = 0;
};
LEAT_FIELDS(OrderV1, id, symbol, price);
LEAT_LOCK_SCHEMA(OrderV1, 560907605977330521U);

// v2: the id is wider, the price is in cents, a venue was added.
struct OrderV2 {
  std::uint64_t id = 0;
  std::string symbol;
  std::int64_t cents = 0;
  std::string venue;
};
LEAT_FIELDS(OrderV2, id, symbol, cents, venue);
LEAT_LOCK_SCHEMA(OrderV2, 7882112170347227925U);

// v3: the symbol was renamed, the venue removed, tags were added and computed.
struct Order {
  std::uint64_t id = 0;
  std::string instrument;
  std::int64_t cents = 0;
  std::vector<std::string> tags;
};
LEAT_FIELDS(Order, id, instrument, cents, tags);
LEAT_LOCK_SCHEMA(Order, 15748434741602153536U);

OrderV2 upgrade(OrderV1&& old) {
  OrderV2 to;
  leat::carry_fields(old, to);
  to.id = old.id;
  to.cents = static_cast<std::int64_t>(old.price * 100);
  to.venue = "unknown";
  return to;
}

Order upgrade(OrderV2&& old) {
  Order to;
  leat::carry_fields(old, to);
  to.instrument = std::move(old.symbol);
  to.tags = {"venue:" + old.venue};
  return to;
}

using Orders = leat::Versions<OrderV1, OrderV2, Order>;

// Records that lie in memory as they are.
struct TickV1 {
  std::uint32_t id;
};
LEAT_FIELDS(TickV1, id);
LEAT_LOCK_SCHEMA(TickV1, 9087554627653809808U);
LEAT_LOCK_LAYOUT(TickV1, 9717265493413458027U);
struct Tick {
  std::uint64_t id;
  std::uint64_t sequence;
};
LEAT_FIELDS(Tick, id, sequence);
LEAT_LOCK_SCHEMA(Tick, 12719049985469489037U);

Tick upgrade(TickV1&& old) { return {old.id, 0}; }

using Ticks = leat::Versions<TickV1, Tick>;

struct NothingYet {};
LEAT_FIELDS(NothingYet);
LEAT_LOCK_SCHEMA(NothingYet, 14231931337542023560U);
struct Something {
  std::uint32_t number = 0;
};
LEAT_FIELDS(Something, number);
LEAT_LOCK_SCHEMA(Something, 8564080837788163843U);

Something upgrade(NothingYet&&) { return {7}; }

}  // namespace book

namespace leat {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <class T>
ByteSink record_of(const T& value) {
  ByteSink sink;
  sink.write_plain(schema_hash<T>());
  encode(sink, value);
  return sink;
}

TEST(Versions, ReadWhatTheNewestWrote) {
  ByteSink sink;
  book::Orders::encode(sink, {7, "ABC", 1250, {"x", "y"}});
  const auto order = book::Orders::decode(sink.bytes());
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->id, 7U);
  EXPECT_EQ(order->tags, (std::vector<std::string>{"x", "y"}));
}

TEST(Versions, TakeTheOldestThroughTheWholeChain) {
  const auto order = book::Orders::decode(record_of(book::OrderV1{7, "ABC", 12.5F}).bytes());
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->id, 7U);
  EXPECT_EQ(order->instrument, "ABC");
  EXPECT_EQ(order->cents, 1250);
  EXPECT_EQ(order->tags, (std::vector<std::string>{"venue:unknown"}));
}

TEST(Versions, TakeOneInTheMiddleFromThere) {
  const auto order = book::Orders::decode(record_of(book::OrderV2{7, "ABC", 9, "here"}).bytes());
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->cents, 9);
  EXPECT_EQ(order->tags, (std::vector<std::string>{"venue:here"}));
}

TEST(Versions, MayBeginWithATypeWithoutMembers) {
  using Both = Versions<book::NothingYet, book::Something>;
  const auto read = Both::decode(record_of(book::NothingYet{}).bytes());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->number, 7U);
}

TEST(Versions, ReadRecordsOfSeveralVersionsOneBehindTheOther) {
  ByteSink sink = record_of(book::OrderV1{1, "A", 1});
  const ByteSink second = record_of(book::OrderV2{2, "B", 2, "v"});
  sink.write(second.bytes().data(), second.size());
  ByteSource from(sink.bytes());
  EXPECT_EQ(book::Orders::decode_next(from)->id, 1U);
  EXPECT_EQ(book::Orders::decode_next(from)->id, 2U);
  EXPECT_EQ(from.left(), 0U);
}

TEST(Versions, RefuseANumberThatIsNoneOfTheirs) {
  ByteSink sink = record_of(book::TickV1{1});
  const auto order = book::Orders::decode(sink.bytes());
  ASSERT_FALSE(order);
  EXPECT_PRED2(says, order.error().message, "asked a version of book::Order, one of 0x");
  EXPECT_FALSE(book::Orders::decode(sink.bytes().first(3)));
}

TEST(Versions, RefuseARecordThatIsCutOffOrGoesOn) {
  ByteSink sink = record_of(book::OrderV1{1, "A", 1});
  EXPECT_FALSE(book::Orders::decode(sink.bytes().first(sink.size() - 1)));
  sink.write_plain(std::uint8_t{0});
  EXPECT_FALSE(book::Orders::decode(sink.bytes()));
}

TEST(Versions, ReadRecordsAsTheyLayInMemory) {
  const book::TickV1 old{41};
  const auto tick =
      book::Ticks::from_memory(layout_hash<book::TickV1>(), std::as_bytes(std::span(&old, 1)));
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_EQ(tick->id, 41U);
  const book::Tick now{41, 3};
  EXPECT_EQ(book::Ticks::from_memory(layout_hash<book::Tick>(), std::as_bytes(std::span(&now, 1)))
                ->sequence,
            3U);
  EXPECT_FALSE(book::Ticks::from_memory(1, std::as_bytes(std::span(&now, 1))));
  EXPECT_FALSE(
      book::Ticks::from_memory(layout_hash<book::TickV1>(), std::as_bytes(std::span(&now, 1))));
}

TEST(CarryFields, MovesWhatKeptItsNameAndType) {
  book::OrderV2 old{3, "S", 4, "v"};
  book::Order to;
  carry_fields(old, to);
  EXPECT_EQ(to.id, 3U);
  EXPECT_EQ(to.cents, 4);
  EXPECT_EQ(to.instrument, "");
}

}  // namespace
}  // namespace leat
