#include <leat/queue/cache/shared_value.hpp>

#include <leat/core/segment/test_segments.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace leat::queue {
namespace {

struct Totals {
  std::uint64_t count;
  std::uint64_t sum;
  friend bool operator==(const Totals&, const Totals&) = default;
};

Where shared(const core::TestFolder& folder, Opening opening) {
  return {.name = {.name = "totals", .base = folder.path()}, .opening = opening};
}

TEST(SharedValue, IsThereFromTheBeginning) {
  auto value = SharedValue<Totals>::open({}, {1, 2}).value();
  Totals totals{};
  std::uint64_t version = 0;
  ASSERT_EQ(value.read(totals, &version), Look::ok);
  EXPECT_EQ(totals, (Totals{1, 2}));
  EXPECT_EQ(version, 1U);
}

TEST(SharedValue, IsReplacedAndUpdated) {
  auto value = SharedValue<Totals>::open({}, {0, 0}).value();
  EXPECT_EQ(value.write({3, 4}), Write::ok);
  EXPECT_EQ(value.update([](Totals t) { return Totals{t.count + 1, t.sum + 10}; }), Write::ok);
  Totals totals{};
  ASSERT_EQ(value.read(totals), Look::ok);
  EXPECT_EQ(totals, (Totals{4, 14}));
  EXPECT_EQ(value.version(), 3U);
}

TEST(SharedValue, StaysAsItIsWhenAnUpdateThrows) {
  auto value = SharedValue<Totals>::open({}, {1, 1}).value();
  EXPECT_THROW(
      static_cast<void>(value.update([](Totals) -> Totals { throw std::runtime_error("no"); })),
      std::runtime_error);
  EXPECT_EQ(value.version(), 1U);
  EXPECT_EQ(value.write({2, 2}), Write::ok);  // and is not held
}

TEST(SharedValue, IsInitialisedOnce) {
  const core::TestFolder folder;
  auto one = SharedValue<Totals>::open(shared(folder, Opening::create_or_join), {1, 1}).value();
  ASSERT_EQ(one.write({5, 5}), Write::ok);
  auto two = SharedValue<Totals>::open(shared(folder, Opening::create_or_join), {7, 7}).value();
  Totals totals{};
  ASSERT_EQ(two.read(totals), Look::ok);
  EXPECT_EQ(totals, (Totals{5, 5}));
}

TEST(SharedValue, IsNotTakenForAnotherType) {
  const core::TestFolder folder;
  auto one = SharedValue<Totals>::open(shared(folder, Opening::create), {1, 1}).value();
  const auto other = SharedValue<int>::open(shared(folder, Opening::join), 0);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("Totals"), std::string::npos) << other.error().message;
}

TEST(SharedValue, LosesNoUpdateOfSeveralProcesses) {
  constexpr std::uint64_t kEach = 2'000;
  const core::TestFolder folder;
  auto value = SharedValue<Totals>::open(shared(folder, Opening::create), {0, 0}).value();
  const auto add = [](SharedValue<Totals>& to) {
    for (std::uint64_t i = 0; i < kEach; ++i) {
      while (to.update([](Totals t) { return Totals{t.count + 1, t.sum + 3}; }) != Write::ok) {
      }
    }
  };
  const auto body = [&](const core::ChildProcess&) {
    auto mine = SharedValue<Totals>::open(shared(folder, Opening::join), {0, 0}).value();
    add(mine);
    return 0;
  };
  core::ChildProcess one(body);
  core::ChildProcess two(body);
  add(value);
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(two.wait(), 0);
  Totals totals{};
  ASSERT_EQ(value.read(totals), Look::ok);
  EXPECT_EQ(totals, (Totals{3 * kEach, 9 * kEach}));
}

}  // namespace
}  // namespace leat::queue
