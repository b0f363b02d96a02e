#include <leat/core/stop.hpp>

#include <leat/core/parker.hpp>

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace leat::core {
namespace {

TEST(StopToken, IsNotRequestedAtFirstAndHasNoReason) {
  const StopToken stop;
  EXPECT_FALSE(stop.requested());
  EXPECT_FALSE(stop.requested_before_sleep());
  EXPECT_EQ(stop.reason(), nullptr);
}

TEST(StopToken, KeepsTheFirstReasonOnly) {
  StopToken stop;
  EXPECT_TRUE(stop.request({"worker 1", "its dataflow failed", nullptr}));
  EXPECT_FALSE(stop.request({"worker 2", "worker 1 stopped", nullptr}));
  ASSERT_NE(stop.reason(), nullptr);
  EXPECT_EQ(stop.reason()->who, "worker 1");
  EXPECT_EQ(stop.reason()->why, "its dataflow failed");
}

TEST(StopToken, CarriesAnExceptionIntact) {
  StopToken stop;
  stop.request(
      {"operator \"split\"", "it threw", std::make_exception_ptr(std::out_of_range("record 17"))});
  try {
    std::rethrow_exception(stop.reason()->exception);
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "record 17");
  }
}

TEST(StopToken, CallsEveryWakerOnceAndThoseWhoComeLateAtOnce) {
  StopToken stop;
  int early = 0;
  int late = 0;
  static_cast<void>(stop.add_waker([&early] { ++early; }));
  static_cast<void>(stop.add_waker([&early] { ++early; }));
  stop.request({"a test", "to see it", nullptr});
  stop.request({"a test", "again", nullptr});
  static_cast<void>(stop.add_waker([&late] { ++late; }));
  EXPECT_EQ(early, 2);
  EXPECT_EQ(late, 1);
}

TEST(StopToken, ForgetsAWakerThatWasRemoved) {
  StopToken stop;
  int calls = 0;
  const StopToken::WakerId kept = stop.add_waker([&calls] { calls += 1; });
  const StopToken::WakerId gone = stop.add_waker([&calls] { calls += 100; });
  EXPECT_NE(kept, gone);
  stop.remove_waker(gone);
  stop.remove_waker(12345);
  stop.request({"a test", "to see it", nullptr});
  EXPECT_EQ(calls, 1);
}

TEST(StopToken, WakesThreadsThatSleepAndStopsLoopsThatDoNot) {
  for (int round = 0; round < 50; ++round) {
    StopToken stop;
    Parker parkers[2];
    std::vector<std::thread> threads;
    for (Parker& parker : parkers) {
      threads.emplace_back([&stop, &parker] {
        const StopToken::WakerId waker = stop.add_waker([&parker] { parker.unpark(); });
        while (!stop.requested()) {
          parker.park([&stop] { return stop.requested_before_sleep(); }, std::nullopt);
        }
        stop.remove_waker(waker);
        EXPECT_EQ(stop.reason()->who, "main");
      });
    }
    threads.emplace_back([&stop] {
      while (!stop.requested()) std::this_thread::yield();
    });
    stop.request({"main", "round over", nullptr});
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace leat::core
