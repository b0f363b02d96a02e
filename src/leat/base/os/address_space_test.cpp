#include <leat/base/os/address_space.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace leat::os {
namespace {

TEST(AddressSpace, IsWritableAndEmptyUntilItIsWritten) {
  const std::size_t bytes = 16 * page_bytes();
  const Reservation space = reserve_space(bytes);
  ASSERT_NE(space.low, nullptr);
  if (!space.writable) {
    ASSERT_TRUE(make_writable(space.low, bytes));
  }
  EXPECT_EQ(space.low[0], std::byte{0});
  std::memset(space.low, 1, bytes);
  empty_space(space.low, bytes);
  EXPECT_EQ(space.low[bytes - 1], std::byte{0});
  unreserve_space(space.low, bytes);
}

TEST(AddressSpace, ReservesFarMoreThanThereIsMemory) {
  const std::size_t bytes = std::size_t{1} << 36;
  const Reservation space = reserve_space(bytes);
  ASSERT_NE(space.low, nullptr);
  unreserve_space(space.low, bytes);
}

void write_into_guard(bool light) {
  const std::size_t page = page_bytes();
  const Reservation space = reserve_space(4 * page);
  if (!space.writable && !make_writable(space.low, 4 * page)) return;
  if (!(light ? install_light_guard(space.low, page) : install_heavy_guard(space.low, page)))
    return;
  empty_space(space.low, 4 * page);
  space.low[page] = std::byte{1};  // beside the guard all is well
  static_cast<volatile std::byte&>(space.low[page - 1]) = std::byte{1};
}

TEST(AddressSpaceDeathTest, AHeavyGuardStopsAWriteAlsoAfterTheSpaceWasEmptied) {
  EXPECT_DEATH(write_into_guard(false), "");
}

TEST(AddressSpaceDeathTest, ALightGuardStopsAWriteAlsoAfterTheSpaceWasEmptied) {
  const std::size_t page = page_bytes();
  const Reservation space = reserve_space(page);
  const bool has = has_light_guards(space.low, page);
  unreserve_space(space.low, page);
  if (!has) GTEST_SKIP() << "this kernel has no light guards (Linux 6.13 has)";
  EXPECT_DEATH(write_into_guard(true), "");
}

TEST(AddressSpace, CountsMappings) {
  EXPECT_GT(mappings_max(), 1000U);
  const std::size_t before = mappings_now();
  EXPECT_GT(before, 5U);
  const std::size_t page = page_bytes();
  const Reservation space = reserve_space(4 * page);
  if (!space.writable) {
    ASSERT_TRUE(make_writable(space.low, 4 * page));
  }
  const std::size_t reserved = mappings_now();
  ASSERT_TRUE(install_heavy_guard(space.low + page, page));
  EXPECT_GE(mappings_now(), reserved + 2);
  unreserve_space(space.low, 4 * page);
}

}  // namespace
}  // namespace leat::os
