// A descriptor beside a ring: readable when something is there, in one process and between two.
#include <leat/queue/ring/ready.hpp>

#include <leat/core/segment/test_segments.hpp>
#include <leat/queue/ring/in_segment.hpp>

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdint>
#include <thread>
#include <utility>

namespace leat::queue {
namespace {

bool is_readable(int descriptor) {
  pollfd what{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&what, 1, 0) == 1;
}

/// As an event loop does; for ever if need be.
void wait_until_readable(int descriptor) {
  pollfd what{.fd = descriptor, .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&what, 1, -1), 1);
}

TEST(RingReady, BecomesReadableForWhatComesAndSaysNoForWhatIsThere) {
  auto ring = Ring<int>::make({.slots = 4, .wakeable = true}).value();
  auto producer = ring.single_producer().value();
  auto consumer = ring.consumer().value();
  auto ready = RingReady::of(consumer).value();
  EXPECT_FALSE(is_readable(ready.descriptor()));
  ASSERT_EQ(producer.try_push(1), Push::ok);
  EXPECT_FALSE(ready.arm(consumer));
  int got = 0;
  ASSERT_EQ(consumer.try_pop(got), Pull::ok);
  for (int i = 2; i < 20; ++i) {
    ASSERT_TRUE(ready.arm(consumer));
    EXPECT_FALSE(is_readable(ready.descriptor()));
    ASSERT_EQ(producer.try_push(i), Push::ok);
    wait_until_readable(ready.descriptor());
    ASSERT_EQ(consumer.try_pop(got), Pull::ok);
    EXPECT_EQ(got, i);
  }
}

TEST(RingReady, ForgetsWhatItWasArmedFor) {
  auto ring = Ring<int>::make({.wakeable = true}).value();
  auto producer = ring.single_producer().value();
  auto consumer = ring.consumer().value();
  auto ready = RingReady::of(consumer).value();
  ASSERT_TRUE(ready.arm(consumer));
  ready.clear();
  ASSERT_EQ(producer.try_push(1), Push::ok);
  EXPECT_FALSE(is_readable(ready.descriptor()));
  int got = 0;
  ASSERT_EQ(consumer.try_pop(got), Pull::ok);
  // Armed twice is armed for the second.
  ASSERT_TRUE(ready.arm(consumer));
  ASSERT_TRUE(ready.arm(consumer));
  auto moved = std::move(ready);
  ASSERT_EQ(producer.try_push(2), Push::ok);
  wait_until_readable(moved.descriptor());
}

TEST(RingReady, IsForMembersOfAGroupAndForRingsOfTwoToo) {
  auto ring = Ring<int>::make({.wakeable = true}).value();
  auto producer = ring.single_producer().value();
  auto member = ring.member("work").value();
  auto of_member = RingReady::of(member).value();
  ASSERT_TRUE(of_member.arm(member));
  ASSERT_EQ(producer.try_push(7), Push::ok);
  wait_until_readable(of_member.descriptor());
  int got = 0;
  EXPECT_EQ(member.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 7);

  auto spsc = SpscRing<int>::make({.wakeable = true}).value();
  auto from = spsc.producer().value();
  auto to = spsc.consumer().value();
  auto of_spsc = RingReady::of(to).value();
  ASSERT_TRUE(of_spsc.arm(to));
  ASSERT_EQ(from.try_push(8), Push::ok);
  wait_until_readable(of_spsc.descriptor());
  EXPECT_EQ(to.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 8);
  EXPECT_DEATH(of_spsc.arm(member), "armed for another ring");
}

TEST(RingReady, NeedsARingOnWhichOneCanSleep) {
  auto ring = Ring<int>::make({}).value();
  auto consumer = ring.consumer().value();
  const auto ready = RingReady::of(consumer);
  ASSERT_FALSE(ready);
  EXPECT_NE(ready.error().message.find("wakeable = true"), std::string::npos);
}

TEST(RingReady, HearsOfEveryMessageOfAnotherThread) {
  constexpr int kMessages = 2'000;
  auto ring = Ring<int>::make({.slots = 16, .reliable = true, .wakeable = true}).value();
  auto consumer = ring.consumer({.reliable = true}).value();
  auto ready = RingReady::of(consumer).value();
  std::thread produces([&] {
    auto producer = ring.single_producer().value();
    for (int i = 0; i < kMessages; ++i) {
      while (producer.try_push(i) != Push::ok) std::this_thread::yield();
    }
  });
  for (int next = 0; next < kMessages;) {
    int got = 0;
    if (consumer.try_pop(got) == Pull::ok) {
      ASSERT_EQ(got, next++);
    } else if (ready.arm(consumer)) {
      wait_until_readable(ready.descriptor());
    }
  }
  produces.join();
}

TEST(RingReady, IsToldByAnotherProcess) {
  const core::TestFolder folder;
  const core::SegmentName name{.name = "ring", .base = folder.path()};
  auto ring = create_ring<std::uint64_t>(name, {.wakeable = true}).value();
  auto consumer = ring.consumer().value();
  core::ChildProcess child([&](const core::ChildProcess&) {
    auto joined = join_ring<std::uint64_t>(name).value();
    auto producer = joined.single_producer().value();
    return producer.try_push(42) == Push::ok ? 0 : 1;
  });
  auto ready = RingReady::of(consumer).value();
  if (ready.arm(consumer)) wait_until_readable(ready.descriptor());
  std::uint64_t got = 0;
  EXPECT_EQ(consumer.try_pop(got), Pull::ok);
  EXPECT_EQ(got, 42U);
  EXPECT_EQ(child.wait(), 0);

  auto watched = observe_ring<std::uint64_t>(name).value();
  auto observer = watched.consumer().value();
  EXPECT_FALSE(RingReady::of(observer));
}

}  // namespace
}  // namespace leat::queue
