#include <leat/base/os/interrupt.hpp>

#include <gtest/gtest.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <future>
#include <thread>

namespace leat::os {
namespace {

// Signals go to a process of its own: the parent's may not be blocked in every thread of the test.
TEST(SignalName, IsWhatPeopleCallIt) {
  EXPECT_EQ(signal_name(SIGQUIT), "SIGQUIT");
  EXPECT_EQ(signal_name(1000), "signal 1000");
}

TEST(InterruptDeathTest, IsOneOrdinaryCallOnAnotherThread) {
  EXPECT_EXIT(
      {
        std::promise<int> called;
        const InterruptWatcher watcher([&called](int signal) { called.set_value(signal); });
        kill(getpid(), SIGINT);
        const int signal = called.get_future().get();
        std::_Exit(signal == SIGINT ? 42 : 1);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST(InterruptDeathTest, QuitIsWatchedForWhoAsksAlone) {
  const auto quit_under = [](WatchQuit quit) {
    std::promise<int> called;
    const InterruptWatcher watcher([&called](int signal) { called.set_value(signal); }, quit);
    kill(getpid(), SIGQUIT);
    std::_Exit(called.get_future().get() == SIGQUIT ? 42 : 1);
  };
  EXPECT_EXIT(quit_under(WatchQuit::yes), ::testing::ExitedWithCode(42), "");
  EXPECT_EXIT(quit_under(WatchQuit::no), ::testing::KilledBySignal(SIGQUIT), "");
}

TEST(InterruptDeathTest, EndsTheProcessTheSecondTime) {
  EXPECT_EXIT(
      {
        std::promise<void> called;
        const InterruptWatcher watcher([&called](int) { called.set_value(); });
        kill(getpid(), SIGTERM);
        called.get_future().wait();
        kill(getpid(), SIGTERM);
        while (true) pause();
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptDeathTest, BelongsToTheProcessAgainWhenNobodyWatches) {
  EXPECT_EXIT(
      {
        {
          const InterruptWatcher watcher([](int) {});
        }
        std::raise(SIGINT);
        std::_Exit(1);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace leat::os
