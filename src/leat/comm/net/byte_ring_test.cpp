#include <leat/comm/net/byte_ring.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <leat/base/rng.hpp>

namespace leat::comm {
namespace {

constexpr std::size_t kSize = 16;

struct Ring {
  alignas(128) std::array<std::byte, ring_footprint(kSize)> memory{};
  ByteRingWriter writer{memory};
  ByteRingReader reader{memory};

  std::size_t write(std::string_view text) {
    const std::span<const std::byte> part = std::as_bytes(std::span(text));
    return writer.write(std::span(&part, 1));
  }
  std::string read(std::size_t most = 100) {
    std::vector<std::byte> into(most);
    const std::size_t count = reader.read(into);
    EXPECT_LE(count, most);
    return {reinterpret_cast<const char*>(into.data()), count};
  }
};

TEST(ByteRing, BringsBytesInOrderAndTakesWhatFits) {
  Ring ring;
  EXPECT_EQ(ring.read(), "");
  EXPECT_EQ(ring.write("abc"), 3U);
  EXPECT_EQ(ring.write("0123456789abcdef"), 13U);
  EXPECT_EQ(ring.write("x"), 0U);
  EXPECT_EQ(ring.read(4), "abc0");
  EXPECT_EQ(ring.write("wxyz!"), 4U);
  EXPECT_EQ(ring.read(), "123456789abcwxyz");
}

TEST(ByteRing, WritesPartsOneAfterTheOther) {
  Ring ring;
  const std::array<std::span<const std::byte>, 3> parts = {
      std::as_bytes(std::span(std::string_view("abc"))), std::span<const std::byte>(),
      std::as_bytes(std::span(std::string_view("de")))};
  EXPECT_EQ(ring.writer.write(parts), 5U);
  EXPECT_EQ(ring.read(), "abcde");
}

TEST(ByteRing, WakesOnceWhoeverSaysThatItSleeps) {
  Ring ring;
  static_cast<void>(ring.write("a"));
  EXPECT_FALSE(ring.writer.must_wake());
  EXPECT_FALSE(ring.reader.may_sleep());  // there is something
  EXPECT_EQ(ring.read(), "a");
  EXPECT_TRUE(ring.reader.may_sleep());
  static_cast<void>(ring.write("b"));
  EXPECT_TRUE(ring.writer.must_wake());
  EXPECT_FALSE(ring.writer.must_wake());
  // And the other way.
  EXPECT_FALSE(ring.writer.may_sleep_for_room());
  static_cast<void>(ring.write("0123456789abcdef"));
  EXPECT_TRUE(ring.writer.may_sleep_for_room());
  EXPECT_EQ(ring.read(1), "b");
  EXPECT_TRUE(ring.reader.must_wake());
  EXPECT_FALSE(ring.reader.must_wake());
}

TEST(ByteRing, ShowsCountsThatCannotBe) {
  Ring ring;
  auto* const header = reinterpret_cast<ByteRingHeader*>(ring.memory.data());
  header->tail.store_relaxed(kSize + 1);
  std::array<std::byte, 4> into;
  EXPECT_GT(ring.reader.read(into), into.size());
  header->head.store_relaxed(5);  // more than was ever written
  EXPECT_EQ(ring.write("abc"), 0U);
}

TEST(ByteRing, CarriesAStreamBetweenThreads) {
  Ring ring;
  constexpr std::size_t kBytes = 200'000;
  std::thread writer([&] {
    Rng rng(3);
    std::array<std::byte, 40> part;
    for (std::size_t at = 0; at < kBytes;) {
      const std::size_t count = std::min<std::size_t>(1 + rng.below(part.size()), kBytes - at);
      for (std::size_t i = 0; i < count; ++i) part[i] = static_cast<std::byte>((at + i) * 7);
      const std::span<const std::byte> one(part.data(), count);
      const std::size_t written = ring.writer.write(std::span(&one, 1));
      if (written == 0) std::this_thread::yield();
      at += written;
    }
  });
  Rng rng(4);
  std::array<std::byte, 40> into;
  bool is_right = true;
  for (std::size_t at = 0; at < kBytes;) {
    const std::size_t count = ring.reader.read(std::span(into).first(1 + rng.below(into.size())));
    if (count == 0) std::this_thread::yield();
    for (std::size_t i = 0; i < count; ++i) {
      is_right = is_right && into[i] == static_cast<std::byte>((at + i) * 7);
    }
    at += count;
  }
  writer.join();
  EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace leat::comm
