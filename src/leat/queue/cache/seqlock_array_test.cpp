#include <leat/queue/cache/seqlock_array.hpp>

#include <leat/core/segment/test_segments.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace leat::queue {
namespace {

struct Price {
  std::uint64_t bid;
  std::uint64_t ask;
  std::uint32_t size;
  friend bool operator==(const Price&, const Price&) = default;
};

Where shared(const core::TestFolder& folder, Opening opening, const std::string& name = "prices") {
  return {.name = {.name = name, .base = folder.path()}, .opening = opening};
}

TEST(SeqlockArray, HasNothingUntilSomethingIsWritten) {
  auto array = SeqlockArray<Price>::open({}, 4).value();
  Price price{};
  EXPECT_EQ(array.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(array.read(i, price), Look::none);
    EXPECT_EQ(array.version(i), 0U);
  }
}

TEST(SeqlockArray, KeepsTheLastValueOfEachIndex) {
  auto array = SeqlockArray<Price>::open({}, 3).value();
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      ASSERT_EQ(array.write(i, {round, i, round * i}), Write::ok);
    }
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    Price price{};
    std::uint64_t version = 0;
    ASSERT_EQ(array.read(i, price, &version), Look::ok);
    EXPECT_EQ(price, (Price{4, i, 4 * i}));
    EXPECT_EQ(version, 5U);
  }
}

TEST(SeqlockArray, RefusesAnIndexBehindTheEnd) {
  auto array = SeqlockArray<Price>::open({}, 3).value();
  Price price{};
  EXPECT_EQ(array.write(3, price), Write::out_of_range);
  EXPECT_EQ(array.clear(3), Write::out_of_range);
  EXPECT_EQ(array.read(~std::size_t{0}, price), Look::out_of_range);
  EXPECT_EQ(array.version(3), 0U);
}

TEST(SeqlockArray, ForgetsAClearedValueButNotItsVersion) {
  auto array = SeqlockArray<Price>::open({}, 1).value();
  Price price{};
  std::uint64_t version = 0;
  ASSERT_EQ(array.write(0, {1, 2, 3}), Write::ok);
  ASSERT_EQ(array.clear(0), Write::ok);
  EXPECT_EQ(array.read(0, price, &version), Look::none);
  EXPECT_EQ(version, 2U);
  ASSERT_EQ(array.write(0, {4, 5, 6}), Write::ok);
  ASSERT_EQ(array.read(0, price, &version), Look::ok);
  EXPECT_EQ(price, (Price{4, 5, 6}));
  EXPECT_EQ(version, 3U);
}

TEST(SeqlockArray, AWatchVisitsWhatHasChanged) {
  auto array = SeqlockArray<std::uint64_t>::open({}, 100).value();
  SeqlockArrayWatch watch(array);
  std::map<std::size_t, std::uint64_t> seen;
  const auto visit = [&](std::size_t index, Look look, std::uint64_t value, std::uint64_t) {
    seen[index] = look == Look::ok ? value : 0;
  };
  EXPECT_EQ(watch.visit(visit), 0U);
  EXPECT_EQ(array.write(7, 70), Write::ok);
  EXPECT_EQ(array.write(99, 990), Write::ok);
  EXPECT_EQ(array.write(99, 991), Write::ok);
  EXPECT_EQ(watch.visit(visit), 2U);
  EXPECT_EQ(seen, (std::map<std::size_t, std::uint64_t>{{7, 70}, {99, 991}}));
  EXPECT_EQ(watch.visit(visit), 0U);
  EXPECT_EQ(array.clear(7), Write::ok);
  EXPECT_EQ(watch.visit(visit), 1U);
  EXPECT_EQ(seen[7], 0U);
}

template <std::size_t N>
void keeps_records_of() {
  using Record = std::array<std::uint8_t, N>;
  auto array = SeqlockArray<Record>::open({}, 2).value();
  Record record{};
  for (std::size_t i = 0; i < N; ++i) record[i] = static_cast<std::uint8_t>(i * 13 + N);
  ASSERT_EQ(array.write(0, Record{}), Write::ok);
  ASSERT_EQ(array.write(1, record), Write::ok);
  Record found{};
  ASSERT_EQ(array.read(1, found), Look::ok);
  EXPECT_EQ(found, record) << N;
  ASSERT_EQ(array.read(0, found), Look::ok);
  EXPECT_EQ(found, Record{}) << N;
}

TEST(SeqlockArray, KeepsRecordsOfAnySize) {
  keeps_records_of<1>();
  keeps_records_of<7>();
  keeps_records_of<8>();
  keeps_records_of<63>();
  keeps_records_of<64>();
  keeps_records_of<65>();
  keeps_records_of<4096>();
}

TEST(SeqlockArray, RefusesToBeOfNothing) {
  const auto none = SeqlockArray<Price>::open({}, 0);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("asked for 0 values"), std::string::npos);
  const auto more = SeqlockArray<Price>::open({}, std::size_t{1} << 62);
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("take fewer"), std::string::npos) << more.error().message;
}

TEST(SeqlockArray, WithoutANameThereIsNothingToJoin) {
  const auto array = SeqlockArray<Price>::open({.opening = Opening::join}, 1);
  ASSERT_FALSE(array);
  EXPECT_NE(array.error().message.find("found no name"), std::string::npos);
}

TEST(SeqlockArray, IsSharedByName) {
  const core::TestFolder folder;
  auto one = SeqlockArray<Price>::open(shared(folder, Opening::create_or_join), 8).value();
  auto two = SeqlockArray<Price>::open(shared(folder, Opening::create_or_join), 4).value();
  auto observer = SeqlockArray<Price>::open(shared(folder, Opening::observe), 0).value();
  EXPECT_EQ(two.size(), 8U);
  ASSERT_EQ(one.write(7, {1, 2, 3}), Write::ok);
  Price price{};
  ASSERT_EQ(two.read(7, price), Look::ok);
  EXPECT_EQ(price, (Price{1, 2, 3}));
  ASSERT_EQ(observer.read(7, price), Look::ok);
  EXPECT_DEATH(static_cast<void>(observer.write(7, price)), "an observer writes");
}

TEST(SeqlockArray, IsNotJoinedAsOneOfOtherRecords) {
  const core::TestFolder folder;
  auto one = SeqlockArray<Price>::open(shared(folder, Opening::create), 8).value();
  const auto other = SeqlockArray<std::uint64_t>::open(shared(folder, Opening::join), 0);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("Price"), std::string::npos) << other.error().message;
  EXPECT_FALSE(SeqlockArray<Price>::open(shared(folder, Opening::join), 9));
  EXPECT_FALSE(SeqlockArray<Price>::open(shared(folder, Opening::join, "none"), 8));
}

// A process is killed at each step of a write; the others go on.
TEST(SeqlockArray, ADeadWriterIsInNobodysWay) {
  const core::TestFolder folder;
  auto array = SeqlockArray<Price>::open(shared(folder, Opening::create), 1).value();
  ASSERT_EQ(array.write(0, {1, 1, 1}), Write::ok);
  std::uint64_t versions = 1;
  for (int step = 0; step < 4; ++step) {
    core::ChildProcess child([&](const core::ChildProcess& me) {
      auto mine = SeqlockArray<Price>::open(shared(folder, Opening::join), 1).value();
      auto* record = reinterpret_cast<internal::LastValue<Price>*>(mine.segment().payload().data());
      auto hold = record->hold(mine.segment().self().word(), [](std::uint64_t) { return false; });
      if (!hold) return 1;
      if (step >= 1) hold.begin();
      if (step >= 2) hold.fill({9, 9, 9});
      if (step >= 3) hold.end(false);
      me.say('d');
      core::ChildProcess::wait_for_ever();
    });
    ASSERT_EQ(child.listen(), 'd') << step;
    // Stopped, it blocks no reader, and writers only for a while.
    Price price{};
    EXPECT_EQ(array.read(0, price), Look::ok) << step;
    EXPECT_EQ(array.write(0, {2, 2, 2}), Write::busy) << step;
    EXPECT_EQ(child.kill(), -1);
    const std::uint64_t expected = step == 3 ? 9 : versions == 1 ? 1 : 3;
    ASSERT_EQ(array.read(0, price), Look::ok) << step;
    EXPECT_EQ(price.bid, expected) << step;
    ASSERT_EQ(array.write(0, {3, 3, 3}), Write::ok) << step;
    versions += step == 3 ? 2 : 1;
    ASSERT_EQ(array.read(0, price), Look::ok) << step;
    EXPECT_EQ(price, (Price{3, 3, 3})) << step;
    EXPECT_EQ(array.version(0), versions) << step;
  }
}

}  // namespace
}  // namespace leat::queue
