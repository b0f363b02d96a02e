#include <leat/comm/wire/frame.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <leat/base/rng.hpp>

namespace leat::comm {
namespace {

std::vector<std::byte> frame_of(FrameHeader header, std::string_view payload) {
  header.payload_bytes = payload.size();
  std::vector<std::byte> frame(static_cast<std::size_t>(header.frame_bytes()), std::byte{0xaa});
  std::memcpy(frame.data() + kFrameHeaderBytes, payload.data(), payload.size());
  finish_frame(frame, header);
  return frame;
}

FrameHeader some_header(bool is_checked) {
  FrameHeader header;
  header.kind = FrameKind::data;
  header.is_checked = is_checked;
  header.source = 3;
  header.target_lower = 0;
  header.target_upper = 2;
  header.channel = 17;
  header.sequence = 5;
  return header;
}

FrameRead look_at(std::span<const std::byte> bytes, FrameHeader& header, std::string& wrong) {
  return read_frame(bytes, {.payload_bytes_max = 1000}, header, wrong);
}

TEST(Frame, ComesBackAsItWasWritten) {
  for (const bool is_checked : {false, true}) {
    for (const std::string_view payload : {"", "1", "12345678", "123456789"}) {
      const auto frame = frame_of(some_header(is_checked), payload);
      FrameHeader header;
      std::string wrong;
      ASSERT_EQ(look_at(frame, header, wrong), FrameRead::whole) << wrong;
      EXPECT_EQ(header.source, 3U);
      EXPECT_EQ(header.target_upper, 2U);
      EXPECT_EQ(header.channel, 17U);
      EXPECT_EQ(header.sequence, 5U);
      EXPECT_EQ(header.payload_bytes, payload.size());
      EXPECT_EQ(header.frame_bytes() % 8, 0U);
      EXPECT_EQ(header, header_of(frame));
    }
  }
}

// The example of docs/protocols/frames.md.
TEST(Frame, HasTheBytesThatThePageShows) {
  FrameHeader header = some_header(false);
  header.target_lower = 1;
  const auto frame = frame_of(header, "leat!");
  const std::array<std::uint8_t, 64> shown = {
      'L', 'F', 'R', '1', 1,   0, 0, 0,  // magic, kind, flags
      3,   0,   0,   0,   1,   0, 0, 0,  // source, target_lower
      2,   0,   0,   0,   0,   0, 0, 0,  // target_upper
      17,  0,   0,   0,   0,   0, 0, 0,  // channel
      5,   0,   0,   0,   0,   0, 0, 0,  // payload bytes
      5,   0,   0,   0,   0,   0, 0, 0,  // sequence
      0,   0,   0,   0,   0,   0, 0, 0,  // no check
      'l', 'e', 'a', 't', '!', 0, 0, 0};
  ASSERT_EQ(frame.size(), shown.size());
  EXPECT_EQ(std::memcmp(frame.data(), shown.data(), shown.size()), 0);
}

TEST(Frame, WaitsForTheRestWhereverItIsCut) {
  const auto frame = frame_of(some_header(true), "some payload");
  for (std::size_t cut = 0; cut < frame.size(); ++cut) {
    FrameHeader header;
    std::string wrong;
    const auto found = look_at(std::span(frame).first(cut), header, wrong);
    EXPECT_EQ(found, cut < kFrameHeaderBytes ? FrameRead::partial : FrameRead::header) << cut;
  }
}

TEST(Frame, WithACheckShowsEveryBitThatWasChanged) {
  const auto frame = frame_of(some_header(true), "some payload of more than one word");
  for (std::size_t at = 0; at < frame.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = frame;
      changed[at] ^= static_cast<std::byte>(1 << bit);
      FrameHeader header;
      std::string wrong;
      const auto found = look_at(changed, header, wrong);
      // A length that became longer waits for bytes that do not come, or is refused as too long.
      const bool is_length = at >= 32 && at < 40;
      EXPECT_TRUE(found == FrameRead::refused || (is_length && found == FrameRead::header))
          << at << " " << bit;
    }
  }
}

TEST(Frame, RefusesALengthBeforeMemoryIsAskedForIt) {
  FrameHeader header = some_header(false);
  auto frame = frame_of(header, "x");
  const std::uint64_t length = 1001;
  std::memcpy(frame.data() + 32, &length, sizeof length);
  std::string wrong;
  EXPECT_EQ(look_at(frame, header, wrong), FrameRead::refused);
  EXPECT_EQ(wrong, "a frame of 1001 bytes; at most 1000 are taken");
}

TEST(Frame, SaysWhatIsWrong) {
  const auto refusal = [](std::size_t at, std::uint8_t with) {
    auto frame = frame_of(some_header(false), "x");
    frame[at] = static_cast<std::byte>(with);
    FrameHeader header;
    std::string wrong;
    EXPECT_EQ(look_at(frame, header, wrong), FrameRead::refused);
    return wrong;
  };
  EXPECT_EQ(refusal(0, 'G'), "a frame begins with \"LFR1\"; these bytes do not");
  EXPECT_EQ(refusal(4, 99), "a frame of the unknown kind 99");
  EXPECT_EQ(refusal(5, 2), "a frame with something in fields that must be 0");
  EXPECT_EQ(refusal(12, 9), "a frame for workers 9 to 2");
  EXPECT_EQ(refusal(48, 1), "a frame whose check is not that of its bytes: they were changed");
  EXPECT_EQ(refusal(57, 1), "a frame whose padding is not zero");
}

TEST(Frame, AnyBytesAreAFrameOrRefused) {
  Rng rng(5);
  const auto good = frame_of(some_header(true), "payload");
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = good;
    bytes.resize(rng.below(100));
    for (std::uint64_t n = rng.below(6); n > 0 && !bytes.empty(); --n) {
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
    }
    FrameHeader header;
    std::string wrong;
    if (look_at(bytes, header, wrong) == FrameRead::refused) {
      EXPECT_FALSE(wrong.empty());
    }
  }
}

}  // namespace
}  // namespace leat::comm
