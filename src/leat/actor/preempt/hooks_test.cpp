// Linked with leat::actor_preempt: operator new counts, and locks hold.
#include <leat/actor/preempt/turn.hpp>

#include <leat/actor/fiber/test_carousel.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

#if LEAT_TSAN

TEST(PreemptHooks, AreNotThereUnderThreadSanitizer) {
  GTEST_SKIP() << "ThreadSanitizer's operator new and locks cannot be replaced";
}

#else

constexpr PreemptKnobs kEachAllocation{.alloc_interval = 1, .timeslice_cycles = 0};

// An allocation that the compiler cannot take away.
void allocate() {
  auto* const memory = new int(1);
  asm volatile("" : : "r"(memory) : "memory");
  delete memory;
}

TEST(PreemptHooks, ALoopThatAllocatesLetsOthersRun) {
  Carousel carousel;
  carousel.preempt_by({.alloc_interval = 4, .timeslice_cycles = 0});
  char written[16] = {};
  int at = 0;
  for (const char letter : {'a', 'b'}) {
    carousel.add([&, letter] {
      for (int i = 0; i < 8; ++i) {
        if (i % 4 == 0) written[at++] = letter;
        allocate();
      }
    });
  }
  carousel.run();
  EXPECT_STREQ(written, "abab");
}

TEST(PreemptHooks, AnAllocationUnderALockLetsNobodyElseIn) {
  // Two actors of one thread and a lock of the operating system: were one interrupted while it holds
  // the lock, the other would put the thread to sleep for good.
  Carousel carousel;
  carousel.preempt_by(kEachAllocation);
  std::mutex mutex;
  std::vector<std::string> shared;
  for (int body = 0; body < 2; ++body) {
    carousel.add([&] {
      for (int i = 0; i < 100; ++i) {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(turn().held(), 1U);
        shared.emplace_back("long enough to be allocated on the heap");
      }
    });
  }
  carousel.run();
  EXPECT_EQ(shared.size(), 200U);
}

TEST(PreemptHooks, EveryKindOfLockHolds) {
  Carousel carousel;
  carousel.preempt_by(kEachAllocation);
  carousel.add([] {
    std::mutex mutex;
    std::recursive_mutex recursive;
    std::timed_mutex timed;
    std::shared_timed_mutex shared;
    EXPECT_EQ(turn().held(), 0U);
    ASSERT_TRUE(mutex.try_lock());
    recursive.lock();
    recursive.lock();
    ASSERT_TRUE(timed.try_lock_for(std::chrono::seconds(1)));
    shared.lock_shared();
    EXPECT_EQ(turn().held(), 5U);
    ASSERT_TRUE(shared.try_lock_shared());
    EXPECT_EQ(turn().held(), 6U);
    shared.unlock_shared();
    shared.unlock_shared();
    timed.unlock();
    recursive.unlock();
    recursive.unlock();
    mutex.unlock();
    EXPECT_EQ(turn().held(), 0U);
    shared.lock();
    EXPECT_FALSE(shared.try_lock_shared_for(std::chrono::nanoseconds(1)));
    EXPECT_EQ(turn().held(), 1U);
    shared.unlock();
    EXPECT_EQ(turn().held(), 0U);
  });
  carousel.run();
}

struct Slow {
  Slow() {
    for (int i = 0; i < 100; ++i) allocate();
  }
  int value = 1;
};

TEST(PreemptHooks, AnInitialiserOfAStaticIsNotInterrupted) {
  Carousel carousel;
  carousel.preempt_by(kEachAllocation);
  int sum = 0;
  for (int body = 0; body < 3; ++body) {
    carousel.add([&] {
      static Slow slow;  // a second actor that found it half made would wait for itself
      sum += slow.value;
      EXPECT_EQ(turn().held(), 0U);
    });
  }
  carousel.run();
  EXPECT_EQ(sum, 3);
}

int failing() {
  for (int i = 0; i < 10; ++i) allocate();
  throw std::runtime_error("not made");
}

TEST(PreemptHooks, AnInitialiserThatThrowsHoldsNoMore) {
  Carousel carousel;
  carousel.preempt_by(kEachAllocation);
  carousel.add([] {
    for (int i = 0; i < 2; ++i) {
      try {
        static const int never = failing();
        static_cast<void>(never);
        ADD_FAILURE();
      } catch (const std::runtime_error&) {
        EXPECT_EQ(turn().held(), 0U);
      }
    }
  });
  carousel.run();
}

TEST(PreemptHooks, WhatIsCalledOnceIsNotInterrupted) {
  Carousel carousel;
  carousel.preempt_by(kEachAllocation);
  std::once_flag once;
  int calls = 0;
  for (int body = 0; body < 2; ++body) {
    carousel.add([&] {
      std::call_once(once, [&] {
        for (int i = 0; i < 100; ++i) allocate();
        ++calls;
      });
      EXPECT_EQ(turn().held(), 0U);
    });
  }
  carousel.run();
  EXPECT_EQ(calls, 1);
}

// What these are for: the same with the hold taken away. The thread waits for itself, and an alarm ends
// it; or the language finds that an initialiser came to itself.
TEST(PreemptHooksTwinDeathTest, WithoutTheHoldALockWaitsForItself) {
  const auto twin = [] {
    ::alarm(1);
    Carousel carousel;
    carousel.preempt_by(kEachAllocation);
    std::mutex mutex;
    for (int body = 0; body < 2; ++body) {
      carousel.add([&] {
        const std::lock_guard lock(mutex);
        turn().release();
        allocate();
        turn().hold();
      });
    }
    carousel.run();
  };
  EXPECT_EXIT(twin(), testing::KilledBySignal(SIGALRM), "");
}

struct Unheld {
  Unheld() {
    turn().release();
    allocate();
    turn().hold();
  }
};

TEST(PreemptHooksTwinDeathTest, WithoutTheHoldAnInitialiserWaitsForItself) {
  const auto twin = [] {
    ::alarm(1);
    Carousel carousel;
    carousel.preempt_by(kEachAllocation);
    for (int body = 0; body < 2; ++body) {
      carousel.add([] { static const Unheld unheld; });
    }
    carousel.run();
  };
  EXPECT_EXIT(twin(), [](int status) { return status != 0; }, "");
}

TEST(PreemptHooks, EveryFormOfNewGivesWhatWasAskedFor) {
  struct alignas(256) Wide {
    char byte;
  };
  const auto one = std::make_unique<Wide>();
  const auto many = std::make_unique<Wide[]>(3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.get()) % 256, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(many.get()) % 256, 0U);
  std::unique_ptr<Wide> quiet(new (std::nothrow) Wide);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(quiet.get()) % 256, 0U);
  std::unique_ptr<Wide[]> quiet_many(new (std::nothrow) Wide[2]);
  EXPECT_NE(quiet_many, nullptr);
  void* const none = operator new(0);
  EXPECT_NE(none, nullptr);
  operator delete(none);
}

TEST(PreemptHooks, ANewThatCannotBeServedSaysSo) {
#if LEAT_ASAN
  GTEST_SKIP() << "AddressSanitizer ends the program when malloc finds no memory";
#endif
  volatile std::size_t huge = ~std::size_t{0} - 4096;
  EXPECT_THROW(static_cast<void>(operator new(huge)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(operator new(huge, std::align_val_t{8192})), std::bad_alloc);
  EXPECT_EQ(operator new(huge, std::nothrow), nullptr);
  EXPECT_EQ(operator new[](huge, std::align_val_t{64}, std::nothrow), nullptr);
}

TEST(PreemptHooks, TheHandlerIsAskedFirst) {
#if LEAT_ASAN
  GTEST_SKIP() << "AddressSanitizer ends the program when malloc finds no memory";
#endif
  static int asked = 0;
  asked = 0;
  const std::new_handler before = std::set_new_handler([] {
    if (++asked == 3) std::set_new_handler(nullptr);
  });
  volatile std::size_t huge = ~std::size_t{0} - 4096;
  EXPECT_EQ(operator new(huge, std::nothrow), nullptr);
  std::set_new_handler(before);
  EXPECT_EQ(asked, 3);
}

#endif

}  // namespace
}  // namespace leat::actor
