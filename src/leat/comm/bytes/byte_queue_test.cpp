#include <leat/comm/bytes/byte_queue.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace leat::comm {
namespace {

using Pushed = ByteQueue::Pushed;

ByteBuffer zeros(std::size_t bytes) { return ByteBuffer(std::vector<std::byte>(bytes)); }

TEST(ByteQueue, JoinsBytesThatLieOneAfterTheOther) {
  ByteQueue queue;
  ByteBuffer buffer = zeros(30);
  EXPECT_EQ(queue.push(buffer.extract_to(10)), Pushed::first);
  EXPECT_EQ(queue.push(buffer.extract_to(10)), Pushed::more);
  EXPECT_EQ(queue.push(zeros(5).extract_to(5)), Pushed::more);
  EXPECT_EQ(queue.push(buffer.extract_to(10)), Pushed::more);
  EXPECT_EQ(queue.waiting_bytes(), 35U);
  EXPECT_EQ(queue.merges(), 1U);
  std::vector<Bytes> out;
  EXPECT_TRUE(queue.drain_into(out));
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].size(), 20U);
  EXPECT_EQ(out[1].size(), 5U);
  EXPECT_EQ(out[2].size(), 10U);
}

TEST(ByteQueue, SaysOncePerEmptyingThatTheOtherSideIsToBeTold) {
  ByteQueue queue;
  std::vector<Bytes> out;
  EXPECT_FALSE(queue.drain_into(out));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(queue.push(zeros(1).extract_to(1)), Pushed::first);
    EXPECT_EQ(queue.push(zeros(1).extract_to(1)), Pushed::more);
    EXPECT_TRUE(queue.drain_into(out));
  }
  EXPECT_EQ(out.size(), 6U);
}

TEST(ByteQueue, KeepsNothingOnceItIsClosed) {
  ByteQueue queue;
  static_cast<void>(queue.push(zeros(1).extract_to(1)));
  queue.close();
  EXPECT_EQ(queue.push(zeros(1).extract_to(1)), Pushed::closed);
  EXPECT_EQ(queue.waiting_bytes(), 0U);
  std::vector<Bytes> out;
  EXPECT_FALSE(queue.drain_into(out));
}

}  // namespace
}  // namespace leat::comm
