// Actors on two workers, all at once: spawning, messages, locks, timers, cancellation. Fit for the thread
// sanitizer; each program checks what must come out.
#include <leat/actor.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace leat::stress {
namespace {

using namespace leat::actor;
using std::chrono::microseconds;
using std::chrono::milliseconds;

class ActorStress : public testing::TestWithParam<int> {
 protected:
  Runtime runtime{GetParam() == 0 ? Config::current_thread()
                                  : Config::exact(static_cast<std::size_t>(GetParam()))};
};
// One thread first: a failure there is the program's.
INSTANTIATE_TEST_SUITE_P(Threads, ActorStress, testing::Values(0, 2, 3));

TEST_P(ActorStress, AllThatAreSpawnedRunOnce) {
  const int sum = runtime.run([] {
    int total = 0;
    for (int round = 0; round < 20; ++round) {
      std::vector<JoinHandle<int>> handles;
      for (int i = 0; i < 100; ++i) {
        handles.push_back(spawn([] {
          auto inner = spawn([] {
            yield_now();
            return 1;
          });
          yield_now();
          return 1 + inner.join();
        }));
      }
      for (auto& handle : handles) total += handle.join();
    }
    return total;
  });
  EXPECT_EQ(sum, 20 * 100 * 2);
}

TEST_P(ActorStress, MessagesComeWholeAndInOrder) {
  runtime.run([] {
    constexpr int kSenders = 4;
    constexpr int kEach = 2000;
    for (const std::size_t bound : {std::size_t{3}, std::size_t{1'000'000}}) {
      auto [sender, receiver] = channel<std::pair<int, int>>({.messages = bound});
      for (int who = 0; who < kSenders; ++who) {
        spawn([who, to = sender]() mutable {
          for (int i = 0; i < kEach; ++i) (void)to.send({who, i});
        }).detach();
      }
      sender.close();
      int next[kSenders] = {};
      while (const auto message = receiver.receive()) {
        ASSERT_EQ(message->second, next[message->first]++);
      }
      for (const int count : next) EXPECT_EQ(count, kEach);
    }
  });
}

TEST_P(ActorStress, LocksLetOneInAlsoWithPlainThreads) {
  Mutex mutex;
  Semaphore permits(2);
  int count = 0;
  const auto work = [&] {
    for (int i = 0; i < 500; ++i) {
      permits.acquire();
      {
        const std::lock_guard lock(mutex);
        ++count;
        if (i % 16 == 0) yield_now();
      }
      permits.release();
    }
  };
  std::thread thread(work);
  runtime.run([&] {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 4; ++i) handles.push_back(spawn(work));
    for (auto& handle : handles) handle.join();
  });
  thread.join();
  EXPECT_EQ(count, 5 * 500);
}

TEST_P(ActorStress, WhoIsCancelledWhileItWaitsEndsAndNobodyElse) {
  runtime.run([] {
    for (int round = 0; round < 100; ++round) {
      auto [sender, receiver] = channel<int>();
      auto waits = spawn([from = std::move(receiver)]() mutable { (void)from.receive(); });
      auto sleeps = spawn([] { sleep_for(std::chrono::hours(1)); });
      auto sends = spawn([to = std::move(sender)]() mutable {
        yield_now();
        (void)to.send(1);
      });
      waits.cancel();
      sleeps.cancel();
      (void)waits.join_result();
      EXPECT_EQ(sleeps.join_result().exit.kind(), ExitKind::cancelled);
      sends.join();
    }
  });
}

TEST_P(ActorStress, TimersFireForAllAndNoneEarly) {
  runtime.run([] {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 200; ++i) {
      handles.push_back(spawn([i] {
        const Nanos due = deadline_after(microseconds(i * 37));
        sleep_until(due);
        EXPECT_GE(now_here(), due);
      }));
    }
    for (auto& handle : handles) handle.join();
  });
}

TEST_P(ActorStress, PlainThreadsTalkWithActors) {
  runtime.run([] {
    auto there = channel<int>();
    auto back = channel<int>();
    std::thread echo([from = std::move(there.receiver), to = std::move(back.sender)]() mutable {
      while (const auto message = from.receive()) (void)to.send(*message);
    });
    for (int i = 0; i < 500; ++i) {
      (void)there.sender.send(i);
      ASSERT_EQ(back.receiver.receive(), i);
    }
    there.sender.close();
    echo.join();
  });
}

}  // namespace
}  // namespace leat::stress
