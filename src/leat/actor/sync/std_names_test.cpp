#include <leat/actor/sync/std_names.hpp>

#include <leat/actor/runtime.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace leat::actor {
namespace {

// One program, word for word, over the standard's names and over ours.
#define LEAT_TEST_PROGRAM                                                 \
  int program(int workers, int jobs) {                                    \
    using namespace std::chrono_literals;                                 \
    sync::mutex mutex;                                                    \
    sync::condition_variable changed;                                     \
    sync::counting_semaphore<> at_once(2);                                \
    sync::once_flag first;                                                \
    std::deque<int> queue;                                                \
    bool over = false;                                                    \
    int sum = 0;                                                          \
    std::vector<sync::thread> threads;                                    \
    for (int i = 0; i < workers; ++i) {                                   \
      threads.emplace_back(                                               \
          [&](int bonus) {                                                \
            sync::call_once(first, [&] {                                  \
              const std::lock_guard lock(mutex);                          \
              sum += 1000;                                                \
            });                                                           \
            for (;;) {                                                    \
              std::unique_lock lock(mutex);                               \
              changed.wait(lock, [&] { return over || !queue.empty(); }); \
              if (queue.empty()) return;                                  \
              const int job = queue.front();                              \
              queue.pop_front();                                          \
              lock.unlock();                                              \
              at_once.acquire();                                          \
              sync::this_thread::sleep_for(10us);                         \
              at_once.release();                                          \
              lock.lock();                                                \
              sum += job + bonus;                                         \
            }                                                             \
          },                                                              \
          1);                                                             \
    }                                                                     \
    for (int job = 0; job < jobs; ++job) {                                \
      {                                                                   \
        const std::lock_guard lock(mutex);                                \
        queue.push_back(job);                                             \
      }                                                                   \
      changed.notify_one();                                               \
      sync::this_thread::yield();                                         \
    }                                                                     \
    {                                                                     \
      const std::lock_guard lock(mutex);                                  \
      over = true;                                                        \
    }                                                                     \
    changed.notify_all();                                                 \
    for (auto& thread : threads) thread.join();                           \
    return sum;                                                           \
  }

namespace by_threads {
namespace sync = std;
LEAT_TEST_PROGRAM
}  // namespace by_threads

namespace by_actors {
namespace sync = leat::actor::std_names;
LEAT_TEST_PROGRAM
}  // namespace by_actors

TEST(StdNames, MakeAProgramOfThreadsOneOfActors) {
  const int answer = by_threads::program(3, 20);
  EXPECT_EQ(answer, 1000 + 190 + 20);
  for (const std::size_t threads : {0U, 2U}) {
    Runtime runtime(threads == 0 ? Config::current_thread() : Config::exact(threads));
    EXPECT_EQ(runtime.run([] { return by_actors::program(3, 20); }), answer);
  }
}

TEST(StdNames, WaitNoLongerThanTheyAreTold) {
  using namespace std::chrono_literals;
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    std_names::timed_mutex mutex;
    std_names::condition_variable never;
    mutex.lock();
    spawn([&] { EXPECT_FALSE(mutex.try_lock_for(5ms)); }).join();
    mutex.unlock();
    std_names::mutex plain;
    std::unique_lock lock(plain);
    EXPECT_EQ(never.wait_for(lock, 5ms), std_names::cv_status::timeout);
    EXPECT_FALSE(never.wait_for(lock, 5ms, [] { return false; }));
    std_names::binary_semaphore none(0);
    EXPECT_FALSE(none.try_acquire_for(1ms));
    EXPECT_FALSE(none.try_acquire());
    none.release();
    EXPECT_TRUE(none.try_acquire());
  });
}

TEST(StdNames, AThreadIsJoinedOnceMovedOrDetached) {
  Runtime().run([] {
    int ran = 0;
    std_names::thread one([&] { ++ran; });
    EXPECT_TRUE(one.joinable());
    EXPECT_NE(one.get_id(), std_names::this_thread::get_id());
    std_names::thread two;
    two.swap(one);
    two = std_names::thread(std::exchange(two, std_names::thread()));
    two.join();
    EXPECT_FALSE(two.joinable());
    EXPECT_THROW(two.join(), UsageError);
    std_names::thread([&] { ++ran; }).detach();
    yield_now();
    EXPECT_EQ(ran, 2);
  });
}

}  // namespace
}  // namespace leat::actor
