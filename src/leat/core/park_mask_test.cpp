#include <leat/core/park_mask.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace leat::core {
namespace {

std::vector<std::size_t> parked(const ParkMask& mask) {
  std::vector<std::size_t> workers;
  mask.for_each_parked([&](std::size_t worker) { workers.push_back(worker); });
  return workers;
}

TEST(ParkMask, StartsWithEverybodyAwake) { EXPECT_TRUE(parked(ParkMask(200)).empty()); }

TEST(ParkMask, NamesThoseWhoSetTheirBitAndHaveNotClearedIt) {
  ParkMask mask(1024);
  for (std::size_t worker : {0u, 63u, 64u, 500u, 1023u}) mask.set(worker);
  EXPECT_EQ(parked(mask), (std::vector<std::size_t>{0, 63, 64, 500, 1023}));
  mask.clear(63);
  mask.clear(500);
  EXPECT_EQ(parked(mask), (std::vector<std::size_t>{0, 64, 1023}));
  EXPECT_EQ(mask.for_each_parked([](std::size_t) {}), 3u);
}

TEST(ParkMask, AskingDoesNotClear) {
  ParkMask mask(2);
  mask.set(1);
  EXPECT_EQ(parked(mask), parked(mask));
}

}  // namespace
}  // namespace leat::core
