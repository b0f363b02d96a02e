#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/sync/condition.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/actor/sync/once.hpp>
#include <leat/actor/sync/semaphore.hpp>
#include <leat/actor/sync/shared_mutex.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;

class Sync : public testing::TestWithParam<int> {
 protected:
  Runtime runtime{GetParam() == 0 ? Config::current_thread()
                                  : Config::exact(static_cast<std::size_t>(GetParam()))};

  // `count` actors and one plain thread.
  template <class F>
  void all(int count, F f) {
    runtime.run([&] {
      std::thread thread(f);
      std::vector<JoinHandle<void>> handles;
      for (int i = 0; i < count; ++i) handles.push_back(spawn(f));
      for (auto& handle : handles) handle.join();
      thread.join();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, Sync, testing::Values(0, 1, 2));

TEST_P(Sync, AMutexLetsOneInAtATimeAlsoWhileItWaits) {
  Mutex mutex;
  int inside = 0;
  int total = 0;
  all(6, [&] {
    for (int i = 0; i < 30; ++i) {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(++inside, 1);
      yield_now();
      --inside;
      ++total;
    }
  });
  EXPECT_EQ(total, 7 * 30);
}

TEST_P(Sync, WhatIsToBeDoneOnceIsDoneByOneAndAwaitedByAll) {
  Once once;
  int calls = 0;
  all(6, [&] {
    once.call(
        [&](int by) {
          yield_now();  // the others come meanwhile
          calls += by;
        },
        1);
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(once.is_done());
  });
}

TEST_P(Sync, WhatWasToBeDoneOnceAndFailedIsDoneByTheNext) {
  Once once;
  int attempts = 0;
  std::atomic<int> failures = 0;
  all(3, [&] {
    try {
      once.call([&] {
        yield_now();
        if (++attempts < 3) throw std::runtime_error("not yet");
      });
    } catch (const std::runtime_error&) {
      ++failures;
    }
  });
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(failures, 2);
}

TEST_P(Sync, AConditionWakesWhoWaitsForIt) {
  Mutex mutex;
  Condition condition;
  int turn = 0;
  int next_place = 0;
  all(3, [&] {
    std::unique_lock lock(mutex);
    const int place = next_place++;
    for (int round = 0; round < 10; ++round) {
      condition.wait(lock, [&] { return turn % 4 == place; });
      ++turn;
      condition.notify_all();
    }
  });
  EXPECT_EQ(turn, 40);
}

TEST(Condition, HoldsItsMutexAgainHoweverItEnds) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    Mutex mutex;
    Condition condition;
    std::unique_lock lock(mutex);
    EXPECT_FALSE(condition.wait(lock, deadline_after(milliseconds(5))));
    EXPECT_TRUE(lock.owns_lock());
    lock.unlock();
    auto waits = spawn([&] {
      std::unique_lock mine(mutex);
      try {
        condition.wait(mine);
      } catch (const Cancelled&) {
        EXPECT_TRUE(mine.owns_lock());
        throw;
      }
    });
    yield_now();
    waits.cancel();
    (void)waits.join_result();
    EXPECT_TRUE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_until(deadline_after(milliseconds(1))));
    mutex.unlock();
  });
}

TEST_P(Sync, ASemaphoreGivesAsManyPermitsAsItHas) {
  Semaphore semaphore(3);
  Mutex mutex;
  int inside = 0;
  int most = 0;
  all(8, [&] {
    for (int i = 0; i < 20; ++i) {
      semaphore.acquire();
      {
        const std::lock_guard lock(mutex);
        most = std::max(most, ++inside);
      }
      yield_now();
      {
        const std::lock_guard lock(mutex);
        --inside;
      }
      semaphore.release();
    }
  });
  EXPECT_LE(most, 3);
  EXPECT_TRUE(semaphore.try_acquire(3));
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST(Semaphore, WhoWantsManyGetsThem) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    Semaphore semaphore(0);
    auto many = spawn([&] { return semaphore.acquire(5); });
    EXPECT_FALSE(semaphore.acquire(1, deadline_after(milliseconds(1))));
    for (int i = 0; i < 5; ++i) semaphore.release();
    EXPECT_TRUE(many.join());
  });
}

TEST_P(Sync, ReadersShareAndWritersDoNot) {
  SharedMutex mutex;
  int value = 0;
  all(6, [&] {
    for (int i = 0; i < 20; ++i) {
      if (i % 5 == 0) {
        const std::unique_lock lock(mutex);
        const int before = value;
        yield_now();
        value = before + 1;
      } else {
        const std::shared_lock lock(mutex);
        const int before = value;
        yield_now();
        EXPECT_EQ(value, before);
      }
    }
  });
  EXPECT_EQ(value, 7 * 4);
}

TEST_P(Sync, ABarrierLetsAllGoWhenTheLastHasCome) {
  Barrier barrier(5);
  Mutex mutex;
  int arrived = 0;
  int last = 0;
  all(4, [&] {
    for (int round = 1; round <= 10; ++round) {
      {
        const std::lock_guard lock(mutex);
        ++arrived;
      }
      const bool was_last = barrier.arrive_and_wait();
      {
        const std::lock_guard lock(mutex);
        EXPECT_GE(arrived, 5 * round);
        last += was_last ? 1 : 0;
      }
      barrier.arrive_and_wait();
    }
  });
  EXPECT_EQ(last, 10);
}

TEST_P(Sync, ALatchOpensWhenAllIsDone) {
  Latch latch(5);
  int done = 0;
  Mutex mutex;
  all(4, [&] {
    {
      const std::lock_guard lock(mutex);
      ++done;
    }
    latch.arrive_and_wait();
    const std::lock_guard lock(mutex);
    EXPECT_EQ(done, 5);
  });
  EXPECT_TRUE(latch.is_open());
}

}  // namespace
}  // namespace leat::actor
