#include <leat/actor/scheduler/stower.hpp>

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/channel/select.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;

// Adds up what it is sent, in a frame of some size that it points into.
JoinHandle<std::uint64_t> adder(Receiver<std::uint64_t> from) {
  return spawn({.stows = true}, [in = std::move(from)]() mutable {
    std::uint64_t sums[32] = {};
    std::uint64_t* const here = &sums[7];
    const std::string words = "a text that is kept on the heap, with its head on the stack";
    while (const auto number = in.receive()) *here += *number;
    EXPECT_EQ(words.size(), 59U);
    return *here;
  });
}

class Stowing : public testing::TestWithParam<int> {
 protected:
  static Config config() {
    return GetParam() == 0 ? Config::current_thread()
                           : Config::exact(static_cast<std::size_t>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Threads, Stowing, testing::Values(0, 1, 2));

TEST_P(Stowing, WhoIsStowedGoesOnWithWhatItHad) {
  Runtime runtime(config().stow_after(std::chrono::hours(1)));
  runtime.run([&] {
    std::vector<Sender<std::uint64_t>> senders;
    std::vector<JoinHandle<std::uint64_t>> adders;
    for (int i = 0; i < 100; ++i) {
      auto [sender, receiver] = channel<std::uint64_t>();
      senders.push_back(std::move(sender));
      adders.push_back(adder(std::move(receiver)));
    }
    std::uint64_t stowed = 0;
    for (std::uint64_t round = 1; round <= 3; ++round) {
      for (auto& sender : senders) (void)sender.send(round);
      for (int i = 0; i < 3; ++i) yield_now();
      stowed += stow_idle_actors();
    }
    if (GetParam() < 2) {  // with two, some may still be at it
      EXPECT_EQ(stowed, 300U);
    }
    for (auto& sender : senders) sender.close();
    for (auto& one : adders) EXPECT_EQ(one.join(), 6U);
  });
  EXPECT_EQ(runtime.stats().stowed, 0U);
}

TEST(Stowing, ComesAfterTheTimeThatWasSaidAndNotForWhoRanSince) {
  SettableClock clock;
  Runtime runtime(Config::current_thread().clock(clock).stow_after(milliseconds(100)));
  runtime.run([&] {
    auto [to_idle, idle] = channel<std::uint64_t>();
    auto [to_busy, busy] = channel<std::uint64_t>();
    auto first = adder(std::move(idle));
    auto second = adder(std::move(busy));
    // Enough turns that the worker looks around, with time going on.
    const auto later = [&](Nanos time) {
      clock.advance(time);
      for (int i = 0; i < 200; ++i) yield_now();
    };
    later(milliseconds(1));  // the first pass marks both
    EXPECT_EQ(runtime.stats().stowed, 0U);
    later(milliseconds(50));
    (void)to_busy.send(1);
    later(milliseconds(60));  // the second finds one that has not run since
    EXPECT_EQ(runtime.stats().stowed, 1U);
    later(milliseconds(100));
    EXPECT_EQ(runtime.stats().stowed, 2U);
    (void)to_idle.send(1);
    later(milliseconds(1));
    EXPECT_EQ(runtime.stats().stowed, 1U);
    to_idle.close();
    to_busy.close();
    EXPECT_EQ(first.join() + second.join(), 2U);
  });
}

TEST(Stowing, IsDoneAtOnceWhileThereIsTooLittleMemory) {
  SettableClock clock;
  Runtime runtime(Config::current_thread().clock(clock).stow_above(1));
  runtime.run([&] {
    auto [sender, receiver] = channel<std::uint64_t>();
    auto one = adder(std::move(receiver));
    for (int i = 0; i < 200; ++i) yield_now();
    EXPECT_EQ(runtime.stats().stowed, 1U);
    (void)sender.send(5);
    sender.close();
    EXPECT_EQ(one.join(), 5U);
  });
}

TEST(Stowing, IsForThoseThatAskForIt) {
  Runtime().run([] {
    auto [sender, receiver] = channel<int>();
    auto other = spawn([in = std::move(receiver)]() mutable { return in.receive().value(); });
    yield_now();
    EXPECT_EQ(stow_idle_actors(), 0U);
    (void)sender.send(3);
    EXPECT_EQ(other.join(), 3);
  });
  EXPECT_THROW(stow_idle_actors(), UsageError);
  EXPECT_THROW((void)Config::current_thread().stow_after(Nanos{-1}), UsageError);
}

TEST_P(Stowing, AStowedActorCanBeCancelledAndWokenByTime) {
  Runtime runtime(config().stow_after(std::chrono::hours(1)));
  runtime.run([] {
    auto sleeper = spawn({.stows = true}, [] { sleep_for(milliseconds(3)); });
    auto waiter = spawn({.stows = true}, [] { sleep_for(std::chrono::hours(10)); });
    for (int i = 0; i < 3; ++i) yield_now();
    (void)stow_idle_actors();
    sleeper.join();
    waiter.cancel();
    EXPECT_EQ(waiter.join_result().exit.kind(), ExitKind::cancelled);
  });
}

}  // namespace
}  // namespace leat::actor
