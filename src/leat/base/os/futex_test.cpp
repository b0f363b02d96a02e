#include <leat/base/os/futex.hpp>

#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace leat::os {
namespace {

struct wake_up : Edge {};  // waker -> sleeper: the word has changed before the sleeper goes on

TEST(Futex, ReturnsAtOnceWhenTheWordHoldsAnotherValue) {
  const Atomic<std::uint32_t> word(1);
  futex_wait(word, 0);
  EXPECT_EQ(word.load_relaxed(), 1U);
}

TEST(Futex, ReturnsWhenTheTimeoutHasPassed) {
  const Atomic<std::uint32_t> word(0);
  futex_wait(word, 0, std::chrono::nanoseconds(1));
  futex_wait(word, 0, std::chrono::nanoseconds(-1));
  EXPECT_EQ(word.load_relaxed(), 0U);
}

TEST(Futex, WakesNobodyWhenNobodySleeps) {
  Atomic<std::uint32_t> word(0);
  EXPECT_EQ(futex_wake(word, 1), 0);
}

TEST(Futex, WakesASleeper) {
  Atomic<std::uint32_t> word(0);
  std::thread sleeper([&] {
    while (word.load_acquire(wake_up{}) == 0) futex_wait(word, 0);
  });
  word.store_release(1, wake_up{});
  futex_wake(word, 1);
  sleeper.join();
  EXPECT_EQ(word.load_relaxed(), 1U);
}

TEST(Futex, WakesASleeperThatSharesTheMemory) {
  Atomic<std::uint32_t> word(0);
  std::thread sleeper([&] {
    while (word.load_acquire(wake_up{}) == 0) {
      futex_wait(word, 0, std::nullopt, FutexScope::shared);
    }
  });
  word.store_release(1, wake_up{});
  futex_wake(word, 1, FutexScope::shared);
  sleeper.join();
  EXPECT_EQ(word.load_relaxed(), 1U);
}

}  // namespace
}  // namespace leat::os
