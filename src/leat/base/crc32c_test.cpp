#include <leat/base/crc32c.hpp>

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace leat {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Crc32c, KnownValuesHold) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(bytes_of("")), 0U);
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c(zeros), 0x8a9136aaU);  // RFC 3720, B.4
}

TEST(Crc32c, TheInstructionAndTheTableAgreeAtEveryLength) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(crc32c(bytes, 7), internal::crc32c_by_table(bytes, 7)) << i;
    bytes.push_back(static_cast<std::byte>(i * 37));
  }
}

TEST(Crc32c, PartsOneAfterTheOtherMakeTheWhole) {
  EXPECT_EQ(crc32c(bytes_of("6789"), crc32c(bytes_of("12345"))), crc32c(bytes_of("123456789")));
}

}  // namespace
}  // namespace leat
