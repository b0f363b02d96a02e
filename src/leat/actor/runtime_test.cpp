#include <leat/actor/runtime.hpp>

#include <leat/actor/self.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

TEST(Runtime, ReturnsWhatTheFirstActorReturned) {
  Runtime runtime;
  EXPECT_EQ(runtime.run([] { return 42; }), 42);
  EXPECT_EQ(*runtime.run([] { return std::make_unique<int>(7); }), 7);
}

TEST(Runtime, AnActorSpawnsAndJoinsAnother) {
  Runtime runtime;
  EXPECT_EQ(runtime.run([] {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += spawn([i] { return i; }).join();
    return sum;
  }),
            4950);
}

TEST(Runtime, ManyAtOnce) {
  Runtime runtime;
  EXPECT_EQ(runtime.run([] {
    std::vector<JoinHandle<int>> handles;
    for (int i = 0; i < 5000; ++i) {
      handles.push_back(spawn([i] {
        yield_now();
        return i % 10;
      }));
    }
    int sum = 0;
    for (auto& handle : handles) sum += handle.join();
    return sum;
  }),
            22500);
}

TEST(Runtime, YieldingActorsTakeTurns) {
  Runtime runtime;
  std::string seen;
  runtime.run([&seen] {
    auto a = spawn([&seen] {
      for (int i = 0; i < 3; ++i) {
        seen += 'a';
        yield_now();
      }
    });
    auto b = spawn([&seen] {
      for (int i = 0; i < 3; ++i) {
        seen += 'b';
        yield_now();
      }
    });
    a.join();
    b.join();
  });
  EXPECT_EQ(seen, "ababab");
}

TEST(Runtime, JoinThrowsWhatTheActorThrew) {
  Runtime runtime;
  runtime.run([] {
    auto handle = spawn([]() -> int { throw std::out_of_range("mine"); });
    try {
      handle.join();
      ADD_FAILURE() << "it did not throw";
    } catch (const std::out_of_range& e) {
      EXPECT_STREQ(e.what(), "mine");
    }
    EXPECT_THROW(spawn([] { throw 7; }).join(), int);
  });
}

TEST(Runtime, WhatTheFirstActorThrewComesOutOfRun) {
  Runtime runtime;
  EXPECT_THROW(runtime.run([] { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_EQ(runtime.run([] { return 1; }), 1);
}

// The first actor's timer is on the wheel of the worker that the second one, which stays there, keeps
// from everything.
TEST(Runtime, TimersOfAWorkerThatIsStuckFireOnAnother) {
  struct goes_on : Edge {};
  Runtime runtime(Config::exact(2));
  runtime.run([] {
    Atomic<bool> over{false};
    auto stuck = spawn({.pinned = true}, [&over] {
      const NoPreempt whole;
      while (!over.load_acquire(goes_on{})) {
      }
    });
    sleep_for(std::chrono::milliseconds(1));
    over.store_release(true, goes_on{});
    stuck.join();
  });
}

}  // namespace
}  // namespace leat::actor
