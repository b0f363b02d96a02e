#include <leat/base/os/process_fence.hpp>

#include <leat/base/atomic.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace leat::os {
namespace {

TEST(ProcessFence, SaysTheSameEachTimeItIsAsked) {
  EXPECT_EQ(process_fence_ready(), process_fence_ready());
}

// Store buffering: with a light fence on one side and a process fence on the other, one sees one.
TEST(ProcessFence, OneOfTwoSeesTheOther) {
  if (!process_fence_ready()) GTEST_SKIP() << "no process-wide fence here";
  constexpr int kRounds = 2'000;
  struct Word {
    alignas(128) Atomic<int> value{0};
  };
  Word cheap;
  Word dear;
  Word round;
  struct turn : Edge {};
  int missed = 0;
  int seen_by_cheap = 0;
  std::thread other([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.value.load_acquire(turn{}) != 2 * i - 1) std::this_thread::yield();
      cheap.value.store_relaxed(i);
      light_fence();
      seen_by_cheap = dear.value.load_relaxed();
      round.value.store_release(2 * i, turn{});
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    round.value.store_release(2 * i - 1, turn{});
    dear.value.store_relaxed(i);
    process_fence();
    const int seen_by_dear = cheap.value.load_relaxed();
    while (round.value.load_acquire(turn{}) != 2 * i) std::this_thread::yield();
    if (seen_by_dear != i && seen_by_cheap != i) ++missed;
  }
  other.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace leat::os
