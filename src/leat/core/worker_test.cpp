#include <leat/core/worker.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>

namespace leat::core {
namespace {

using namespace std::chrono_literals;

/// Surroundings in which news and sleep are what the test says they are.
class Told final : public Surroundings {
 public:
  void poll() override {
    ++polls;
    if (on_poll) on_poll();
  }
  void park(std::optional<Nanos> timeout) override {
    parks.push_back(timeout);
    if (on_park) on_park();
  }

  int polls = 0;
  std::vector<std::optional<Nanos>> parks;
  std::function<void()> on_poll;
  std::function<void()> on_park;
};

/// A task that writes its name and does what the test says.
class Writes final : public Task {
 public:
  Writes(
      std::string& log, char name, std::function<bool()> act = [] { return true; })
      : log_(log), name_(name), act_(std::move(act)) {}
  ~Writes() override { log_ += static_cast<char>(name_ - 'a' + 'A'); }
  bool run() override {
    log_ += name_;
    return act_();
  }

 private:
  std::string& log_;
  char name_;
  std::function<bool()> act_;
};

class CoreWorker : public testing::Test {
 protected:
  Worker::TaskId add(char name, std::function<bool()> act = [] { return true; }) {
    const auto id = worker.reserve();
    worker.install(id, std::make_unique<Writes>(log, name, std::move(act)));
    return id;
  }

  std::string log;
  Told told;
  StopToken stop;
  SettableClock clock;
  Worker worker{told, stop, &clock, IdlePolicy(Nanos{0}, nullptr)};
};

TEST_F(CoreWorker, RunsAnInstalledTaskOnceAndThenOnlyWhenActivated) {
  const auto a = add('a');
  EXPECT_TRUE(worker.step());
  EXPECT_TRUE(worker.step());
  EXPECT_EQ(log, "a");
  worker.activation_of(a).activate();
  worker.activation_of(a).activate();
  worker.step();
  EXPECT_EQ(log, "aa");
  EXPECT_EQ(worker.counters().steps, 3u);
  EXPECT_EQ(worker.counters().runs, 2u);
}

TEST_F(CoreWorker, RunsActiveTasksInAscendingOrderEachOnce) {
  add('a');
  const auto b = add('b');
  add('c', [&] {
    worker.activation_of(b).activate();  // behind: the next step
    return true;
  });
  worker.step();
  EXPECT_EQ(log, "abc");
  worker.step();
  EXPECT_EQ(log, "abcb");
}

TEST_F(CoreWorker, WhatIsActivatedAheadRunsInTheSamePass) {
  Worker::TaskId b = 0;
  const auto a = add('a', [&] {
    worker.activation_of(b).activate();
    return true;
  });
  b = add('b');
  worker.step();
  log.clear();
  worker.activation_of(a).activate();
  worker.step();
  EXPECT_EQ(log, "ab");
}

TEST_F(CoreWorker, ATaskThatEndsIsDestroyedAndTheLastOneEndsTheWorker) {
  const auto a = add('a', [] { return false; });
  EXPECT_TRUE(worker.running(a));
  EXPECT_FALSE(worker.step());
  EXPECT_EQ(log, "aA");
  EXPECT_FALSE(worker.running(a));
  EXPECT_EQ(worker.task(a), nullptr);
}

TEST_F(CoreWorker, ATaskThatThrowsIsDestroyedAndTheOthersGoOn) {
  add('a', []() -> bool { throw std::runtime_error("a broke"); });
  add('b');
  EXPECT_THROW(worker.step(), std::runtime_error);
  EXPECT_EQ(log, "aA");
  worker.step();
  EXPECT_EQ(log, "aAb");
}

TEST_F(CoreWorker, ADroppedTaskDoesNotRunAgain) {
  const auto a = add('a');
  worker.drop(a);
  worker.drop(a);  // nothing is there: nothing happens
  EXPECT_FALSE(worker.step());
  EXPECT_EQ(log, "A");
}

TEST_F(CoreWorker, ATaskCannotDropItself) {
  Worker::TaskId a = 0;
  a = add('a', [&] {
    worker.drop(a);
    return true;
  });
  EXPECT_THROW(worker.step(), UsageError);
}

TEST_F(CoreWorker, ATaskCannotStepItsWorker) {
  add('a', [&] { return worker.step(); });
  EXPECT_THROW(worker.step(), UsageError);
  EXPECT_EQ(log, "aA");
}

TEST_F(CoreWorker, StepLooksForNewsOnceAndNeverParks) {
  add('a');
  worker.step();
  worker.step();
  EXPECT_EQ(told.polls, 2);
  EXPECT_TRUE(told.parks.empty());
}

TEST_F(CoreWorker, ParksOnlyWithNothingToRun) {
  const auto a = add('a');
  worker.step_or_park(std::nullopt);
  EXPECT_TRUE(told.parks.empty());
  told.on_park = [&] { worker.activation_of(a).activate(); };
  worker.step_or_park(std::nullopt);
  EXPECT_EQ(told.parks, std::vector<std::optional<Nanos>>{std::nullopt});
  EXPECT_EQ(worker.counters().parks, 1u);
  EXPECT_EQ(log, "aa") << "what woke it runs in the same call";
}

TEST_F(CoreWorker, NewsFoundByThePollKeepsItAwake) {
  const auto a = add('a');
  worker.step();
  told.on_poll = [&] { worker.activation_of(a).activate(); };
  worker.step_or_park(std::nullopt);
  EXPECT_TRUE(told.parks.empty());
  EXPECT_EQ(log, "aa");
}

TEST_F(CoreWorker, SleepsNoLongerThanToTheNextTimerOrTheTimeout) {
  add('a');
  worker.step();
  worker.timers().arm_after(5ms, [] {});
  worker.step_or_park(3ms);
  worker.step_or_park(8ms);
  worker.step_or_park(std::nullopt);
  EXPECT_EQ(told.parks, (std::vector<std::optional<Nanos>>{3ms, 5ms, 5ms}));
}

TEST_F(CoreWorker, FiresTimersThatAreDueAndRunsWhomTheyActivate) {
  const auto a = add('a');
  worker.step();
  worker.timers().arm_after(5ms, [&] { worker.activation_of(a).activate(); });
  worker.step();
  EXPECT_EQ(log, "a");
  told.on_park = [&] { clock.advance(5ms); };
  worker.step_or_park(std::nullopt);
  EXPECT_EQ(log, "aa");
}

TEST_F(CoreWorker, WithoutTasksOnlyATimeoutLetsItSleep) {
  EXPECT_FALSE(worker.step_or_park(std::nullopt));
  EXPECT_TRUE(told.parks.empty());
  EXPECT_FALSE(worker.step_or_park(1ms));
  EXPECT_EQ(told.parks.size(), 1u);
  EXPECT_FALSE(worker.step_or_park(0ms));
  EXPECT_EQ(told.parks.size(), 1u) << "no time means no sleep";
}

TEST_F(CoreWorker, AStopLeavesFromTheNextStepWithItsReason) {
  add('a');
  stop.request({"worker 3", "it met a wall", nullptr});
  try {
    worker.step();
    FAIL() << "went on";
  } catch (const Stopped& stopped) {
    EXPECT_STREQ(stopped.what(), "stopped: worker 3: it met a wall");
  }
  EXPECT_EQ(log, "");
}

TEST_F(CoreWorker, AStopDuringSleepLeavesToo) {
  add('a');
  worker.step();
  told.on_park = [&] { stop.request({"worker 3", "it met a wall", nullptr}); };
  EXPECT_THROW(worker.step_or_park(std::nullopt), Stopped);
}

TEST_F(CoreWorker, WithoutAClockItNeverParksAndTimersAreDueAtOnce) {
  Worker still(told, stop, nullptr, IdlePolicy(Nanos{0}, nullptr));
  const auto a = still.reserve();
  still.install(a, std::make_unique<Writes>(log, 'a'));
  EXPECT_TRUE(still.step_or_park(std::nullopt));
  still.timers().arm_after(1h, [&] { still.activation_of(a).activate(); });
  EXPECT_TRUE(still.step_or_park(std::nullopt));
  EXPECT_TRUE(still.step_or_park(1s));
  EXPECT_TRUE(told.parks.empty());
  EXPECT_EQ(log, "aa");
}

}  // namespace
}  // namespace leat::core
