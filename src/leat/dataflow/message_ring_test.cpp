#include <leat/dataflow/message_ring.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace leat::dataflow {
namespace {

using Batch = std::vector<int>;
using Ring = MessageRing<std::uint64_t, Batch>;
using Letter = Message<std::uint64_t, Batch>;

Letter letter(std::uint64_t time, Batch batch) {
  return {Stamp<std::uint64_t>(time), std::move(batch)};
}
void send(Ring& ring, std::uint64_t time) {
  Letter sent = letter(time, {static_cast<int>(time)});
  ring.push(sent);
}

TEST(MessageRing, GivesMessagesBackInOrderAlsoWhenItGrowsInBetween) {
  Ring ring;
  Letter taken;
  std::vector<std::uint64_t> times;
  std::uint64_t next = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 7; ++i) send(ring, next++);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(ring.pull(taken));
      EXPECT_EQ(taken.batch, Batch{static_cast<int>(taken.stamp.first())});
      times.push_back(taken.stamp.first());
      taken.batch.clear();
    }
  }
  while (ring.pull(taken)) {
    times.push_back(taken.stamp.first());
    taken.batch.clear();
  }
  EXPECT_TRUE(ring.empty());
  ASSERT_EQ(times.size(), 35U);
  for (std::uint64_t i = 0; i < 35; ++i) EXPECT_EQ(times[i], i);
}

TEST(MessageRing, TakesTheOldestAndLeavesASpareInItsPlace) {
  Ring ring;
  send(ring, 3);
  send(ring, 4);
  Batch spare(50, 1);
  const int* const memory = spare.data();
  spare.clear();
  const Letter first = ring.take(spare);
  EXPECT_EQ(first.stamp.first(), 3U);
  EXPECT_EQ(first.batch, Batch{3});
  EXPECT_EQ(spare.capacity(), 0U);
  EXPECT_EQ(ring.take(spare).stamp.first(), 4U);
  EXPECT_TRUE(ring.empty());
  Letter sent = letter(5, {5});
  ring.push(sent);
  EXPECT_EQ(sent.batch.data(), memory);  // the spare has come to the sender
  EXPECT_TRUE(sent.batch.empty());
}

TEST(MessageRing, TakenFromManyItLetsSparesGo) {
  Ring ring;
  for (std::uint64_t time = 0; time < 5; ++time) send(ring, time);
  Batch spare(50, 1);
  spare.clear();
  EXPECT_EQ(ring.take(spare).stamp.first(), 0U);
  EXPECT_EQ(spare.capacity(), 0U);
  for (std::uint64_t time = 1; time < 5; ++time) EXPECT_EQ(ring.take(spare).stamp.first(), time);
}

TEST(MessageRing, HandsTheMemoryOfAnEmptiedBatchBackToTheSender) {
  Ring ring;
  Letter sent = letter(0, Batch(100, 1));
  const int* const memory = sent.batch.data();
  ring.push(sent);
  EXPECT_EQ(sent.batch.capacity(), 0U);  // none has come back yet
  Letter taken;
  ASSERT_TRUE(ring.pull(taken));
  EXPECT_EQ(taken.batch.data(), memory);
  taken.batch.clear();
  ring.push(sent);
  ASSERT_TRUE(ring.pull(taken));  // leaves the emptied one in its place
  ring.push(sent);
  EXPECT_EQ(sent.batch.data(), memory);
}

TEST(MessageRing, LetsMemoryOfABurstGo) {
  Ring ring;
  for (std::uint64_t time = 0; time < 100; ++time) send(ring, time);
  Letter taken;
  while (ring.pull(taken)) taken.batch.clear();
  std::size_t kept = 0;
  for (std::uint64_t time = 0; time < 128; ++time) {
    Letter sent = letter(time, {});
    ring.push(sent);
    kept += sent.batch.capacity() > 0 ? 1 : 0;
  }
  EXPECT_LE(kept, 3U);
}

TEST(MessageRing, GivesMemoryBackWhenItIsAskedTo) {
  Ring ring;
  for (std::uint64_t time = 0; time < 6; ++time) send(ring, time);
  Letter taken;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(ring.pull(taken));
    taken.batch.clear();
  }
  ring.release_spares();
  Letter sent = letter(6, {6});
  ring.push(sent);
  EXPECT_EQ(sent.batch.capacity(), 0U);
  for (std::uint64_t time = 5; time < 7; ++time) {
    ASSERT_TRUE(ring.pull(taken));
    EXPECT_EQ(taken.batch, Batch{static_cast<int>(time)});
    taken.batch.clear();
  }
  ring.release_spares();
  EXPECT_FALSE(ring.pull(taken));
  send(ring, 8);
  ASSERT_TRUE(ring.pull(taken));
  EXPECT_EQ(taken.stamp.first(), 8U);
}

TEST(MessageRing, SaysThatNothingWaitsAndChangesNothing) {
  Ring ring;
  Letter kept = letter(7, Batch{});
  EXPECT_TRUE(ring.empty());
  EXPECT_FALSE(ring.pull(kept));
  EXPECT_EQ(kept.stamp.first(), 7U);
}

}  // namespace
}  // namespace leat::dataflow
