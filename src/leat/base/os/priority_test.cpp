#include <leat/base/os/priority.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <thread>

namespace leat::os {
namespace {

// On a thread of its own: what is lowered cannot be raised again without the right to it.
template <class Body>
void on_a_thread(Body&& body) {
  std::thread(body).join();
}

TEST(Priority, AThreadIsAsNiceAsItWasTold) {
  on_a_thread([] {
    const int before = thread_niceness();
    const int wanted = before < kNicenessMax ? before + 1 : kNicenessMax;
    ASSERT_TRUE(set_thread_niceness(wanted).has_value());
    EXPECT_EQ(thread_niceness(), wanted);
  });
}

TEST(Priority, ANicenessOutOfRangeIsRefused) {
  for (const int wrong : {-21, 20}) {
    const auto refused = set_thread_niceness(wrong);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("range of -20 to 19"), std::string::npos);
  }
}

TEST(Priority, ARealTimePolicyIsAppliedOrRefusedWithAReason) {
  on_a_thread([] {
    const auto applied = set_thread_real_time(RealTime::fifo, 1);
    if (applied) {
      EXPECT_EQ(thread_real_time(), RealTime::fifo);
      ASSERT_TRUE(set_thread_real_time(RealTime::none, 0).has_value());
    } else {
      EXPECT_NE(applied.error().message.find("a real-time policy of priority 1"),
                std::string::npos);
    }
    EXPECT_EQ(thread_real_time(), RealTime::none);
  });
}

TEST(Priority, APriorityOutOfRangeIsRefused) {
  EXPECT_FALSE(set_thread_real_time(RealTime::fifo, 0));
  EXPECT_FALSE(set_thread_real_time(RealTime::round_robin, 100));
  EXPECT_FALSE(set_thread_real_time(RealTime::none, 1));
}

TEST(Priority, AThreadThatTouchesNewPagesHasHadFaults) {
  on_a_thread([] {
    constexpr std::size_t kBytes = 4 << 20;
    const auto block = std::make_unique_for_overwrite<volatile char[]>(kBytes);
    for (std::size_t i = 0; i < kBytes; i += 4096) block[i] = 1;
    EXPECT_GT(thread_troubles().page_faults, 0U);
  });
}

}  // namespace
}  // namespace leat::os
