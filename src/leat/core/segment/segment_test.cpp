#include <leat/core/segment/segment.hpp>

#include "test_segments.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace leat::core {
namespace {

using testing::HasSubstr;

class SegmentTest : public ::testing::Test {
 protected:
  SegmentName name(const std::string& of = "prices") const { return {of, "test", folder.path()}; }

  static SegmentSpec spec() {
    return {.kind = "board",
            .kind_version = 3,
            .flavour = "plain",
            .type = {0x1234, 16, 8, "Quote"},
            .stride = 64,
            .count = 100,
            .payload_bytes = 6400,
            .participants_max = 4,
            .words = {7}};
  }

  static std::string error_of(const Result<Segment>& result) {
    return result ? "no error" : result.error().message;
  }

  TestFolder folder;
};

TEST_F(SegmentTest, IsZerosWhenItIsMadeAndSharedByWhoeverJoins) {
  auto maker = Segment::create(name(), spec());
  ASSERT_TRUE(maker) << error_of(maker);
  EXPECT_EQ(maker->payload().size(), 6400U);
  for (const std::byte byte : maker->payload()) ASSERT_EQ(byte, std::byte{0});
  auto guest = Segment::join(name(), spec());
  ASSERT_TRUE(guest) << error_of(guest);
  EXPECT_EQ(guest->spec(), spec());
  maker->payload()[17] = std::byte{42};
  EXPECT_EQ(guest->payload()[17], std::byte{42});
  EXPECT_NE(maker->self(), guest->self());
  EXPECT_EQ(maker->life(guest->self()), ParticipantLife::alive);
  EXPECT_EQ(guest->life(maker->self()), ParticipantLife::alive);
}

TEST_F(SegmentTest, IsFormattedBeforeItHasAName) {
  bool seen = false;
  const SegmentKind kind{.format = [&](std::span<std::byte> payload, const SegmentSpec&) {
    payload[0] = std::byte{9};
    seen = std::filesystem::exists(*segment_path(name()));
  }};
  auto maker = Segment::create_or_join(name(), spec(), kind);
  ASSERT_TRUE(maker) << error_of(maker);
  EXPECT_FALSE(seen);
  auto guest = Segment::create_or_join(
      name(), spec(), {.format = [](std::span<std::byte>, const SegmentSpec&) { FAIL(); }});
  ASSERT_TRUE(guest) << error_of(guest);
  EXPECT_EQ(guest->payload()[0], std::byte{9});
}

}  // namespace
}  // namespace leat::core
