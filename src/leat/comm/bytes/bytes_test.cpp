#include <leat/comm/bytes/bytes.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace leat::comm {
namespace {

using Memory = std::vector<std::byte>;

ByteBuffer buffer_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return ByteBuffer(Memory(bytes.begin(), bytes.end()));
}
std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.view().data()), bytes.size()};
}

TEST(Bytes, AreSplitWithoutACopyAndReadByOtherThreads) {
  ByteBuffer buffer = buffer_of("abcdef");
  const std::byte* const at = buffer.view().data();
  Bytes front = buffer.extract_to(4);
  EXPECT_EQ(front.view().data(), at);
  EXPECT_EQ(buffer.view().data(), at + 4);
  Bytes first = front.extract_to(2);
  std::string seen;
  std::thread reader([&, copy = first] { seen = text_of(copy); });
  reader.join();
  EXPECT_EQ(seen, "ab");
  EXPECT_EQ(text_of(front), "cd");
  EXPECT_EQ(text_of(std::move(buffer).freeze()), "ef");
}

TEST(Bytes, RefuseToSplitOffMoreThanTheyShow) {
  ByteBuffer buffer = buffer_of("abc");
  EXPECT_THROW(static_cast<void>(buffer.extract_to(4)), UsageError);
  Bytes bytes = buffer.extract_to(3);
  EXPECT_THROW(static_cast<void>(bytes.extract_to(4)), UsageError);
  EXPECT_EQ(text_of(bytes), "abc");
}

TEST(Bytes, MergeWithWhatFollowsInTheSameAllocationOnly) {
  ByteBuffer buffer = buffer_of("abcdef");
  Bytes a = buffer.extract_to(2);
  Bytes b = buffer.extract_to(2);
  Bytes c = buffer.extract_to(2);
  EXPECT_FALSE(a.try_merge(c));  // b lies between
  EXPECT_EQ(text_of(c), "ef");
  EXPECT_TRUE(a.try_merge(b));
  EXPECT_EQ(text_of(a), "abcd");
  EXPECT_TRUE(b.empty());
  EXPECT_TRUE(a.try_merge(c));
  EXPECT_EQ(text_of(a), "abcdef");
  Bytes other = buffer_of("gh").extract_to(2);
  EXPECT_FALSE(a.try_merge(other));
  EXPECT_EQ(text_of(other), "gh");
  Bytes none;
  EXPECT_FALSE(none.try_merge(none));
}

TEST(ByteBuffer, IsAllOfItsAllocationAgainWhenNobodySharesIt) {
  ByteBuffer buffer = buffer_of("abcdef");
  Bytes front = buffer.extract_to(4);
  EXPECT_EQ(buffer.try_regenerate<std::string>(), Regenerated::other_type);
  EXPECT_EQ(buffer.try_regenerate<Memory>(), Regenerated::shared);
  EXPECT_EQ(buffer.size(), 2U);
  front = Bytes();
  EXPECT_EQ(buffer.try_regenerate<Memory>(), Regenerated::reset);
  EXPECT_EQ(buffer.size(), 6U);
  EXPECT_EQ(buffer.allocation(), 6U);
  EXPECT_EQ(ByteBuffer().try_regenerate<Memory>(), Regenerated::other_type);
}

TEST(ByteBuffer, MayBeAnyMemoryThatStaysWhereItIs) {
  struct Counted {
    int* ended;
    std::array<std::byte, 3>* memory;
    Counted(int* count, std::array<std::byte, 3>* at) : ended(count), memory(at) {}
    Counted(Counted&& other) noexcept
        : ended(std::exchange(other.ended, nullptr)), memory(other.memory) {}
    ~Counted() {
      if (ended != nullptr) ++*ended;
    }
    operator std::span<std::byte>() const noexcept { return *memory; }
  };
  std::array<std::byte, 3> memory{};
  int ended = 0;
  {
    ByteBuffer buffer(Counted(&ended, &memory));
    EXPECT_EQ(buffer.view().data(), memory.data());
    const Bytes all = std::move(buffer).freeze();
    buffer = ByteBuffer();
    EXPECT_EQ(ended, 0);
  }
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace leat::comm
