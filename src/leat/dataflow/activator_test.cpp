// How operators are run from elsewhere: at once, later, from other threads, and by what is dropped.
#include <leat/dataflow/activator.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/clock.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using std::chrono::milliseconds;
using test::World;

using Time = std::uint64_t;

/// An operator that counts its runs and lives until its capability is dropped.
struct Counted {
  int runs = 0;
  std::optional<Activator> activator;
  std::optional<Capability<Time>> capability;

  void build(Worker& worker) {
    worker.dataflow([this](auto& scope) {
      (void)source<int>(scope, "counted", [this](Capability<Time> kept, const OperatorInfo& info) {
        activator = info.activation;
        capability.emplace(std::move(kept));
        return [this](auto&) { ++runs; };
      });
    });
  }
};

// --- at once

TEST(Activator, HasItsOperatorRunInTheNextStepOnce) {
  World world;
  int runs = 0;
  std::optional<Activator> again;
  std::optional<Capability<Time>> kept;
  world[0].dataflow([&](auto& scope) {
    (void)source<int>(scope, "counts", [&](Capability<Time> capability, const OperatorInfo& info) {
      again = info.activation;
      kept.emplace(std::move(capability));
      return [&](auto&) { ++runs; };
    });
  });
  world.steps();
  EXPECT_EQ(runs, 1);
  again->activate();
  again->activate();
  world[0].step();
  EXPECT_EQ(runs, 2);
  world[0].step();
  EXPECT_EQ(runs, 2);
}

TEST(Activator, HasNoEffectAfterItsOperatorOrDataflowEnded) {
  World world;
  Input<int> input;
  std::optional<Activator> ended;
  std::optional<Activator> dropped;
  world[0].dataflow([&](auto& scope) {
    (void)source<int>(scope, "ends", [&](Capability<Time>, const OperatorInfo& info) {
      ended = info.activation;
      return [](auto&) {};
    });
    scope.input(input) | unary<int>(pipeline, "stays", [&](auto, const OperatorInfo& info) {
      dropped = info.activation;
      return [](auto& in, auto&) { in.for_each([](auto&) {}); };
    });
  });
  world.steps();
  ended->activate();
  world.steps();
  world[0].drop_dataflow(0);
  ended->activate();
  dropped->activate();
  Activator().activate();
  EXPECT_FALSE(world[0].step());
}

// --- later

TEST(ActivateAfter, RunsTheOperatorWhenTheDelayIsOverAndNotBefore) {
  SettableClock clock;
  World world(1, core::ProgressMode::demand, &clock);
  Counted counted;
  counted.build(world[0]);
  world.steps();
  ASSERT_EQ(counted.runs, 1);
  counted.activator->activate_after(milliseconds(5));
  counted.activator->activate_after(milliseconds(7));
  clock.advance(milliseconds(4));
  world.steps();
  EXPECT_EQ(counted.runs, 1);
  clock.advance(milliseconds(1));
  world.steps();
  EXPECT_EQ(counted.runs, 2);
  clock.advance(milliseconds(100));
  world.steps();
  EXPECT_EQ(counted.runs, 3);
}

TEST(ActivateAfter, IsAtOnceWithoutADelayOrWithoutAClock) {
  SettableClock clock;
  World timed(1, core::ProgressMode::demand, &clock);
  World clockless;
  for (World* world : {&timed, &clockless}) {
    Counted counted;
    counted.build((*world)[0]);
    world->steps();
    counted.activator->activate_after(world == &timed ? Nanos{0} : milliseconds(5));
    (*world)[0].step();
    EXPECT_EQ(counted.runs, 2);
    world->steps();
    EXPECT_EQ(counted.runs, 2);
    counted.capability.reset();
    EXPECT_TRUE(world->ends());
  }
}

TEST(ActivateAfter, AWorkerThatSleepsWakesForTheEarliestTimer) {
  const RealClock clock;
  World world(1, core::ProgressMode::demand, &clock);
  Counted counted;
  counted.build(world[0]);
  world.steps();
  counted.activator->activate_after(std::chrono::hours(1));
  counted.activator->activate_after(milliseconds(1));
  while (counted.runs == 1) world[0].step_or_park();  // the hour would be the test's end
  EXPECT_EQ(counted.runs, 2);
}

TEST(ActivateAfter, OfAnOperatorThatEndedDoesNothing) {
  SettableClock clock;
  World world(1, core::ProgressMode::demand, &clock);
  Counted counted;
  counted.build(world[0]);
  world.steps();
  counted.activator->activate_after(milliseconds(1));
  counted.capability.reset();
  counted.activator->activate();
  EXPECT_TRUE(world.ends());
  const int runs = counted.runs;
  counted.activator->activate_after(milliseconds(1));
  clock.advance(milliseconds(2));
  world.steps();
  EXPECT_EQ(counted.runs, runs);
}

// --- from other threads

TEST(RemoteActivator, WakesAWorkerThatSleepsAndBringsWhatWasWrittenBefore) {
  std::vector<int> queue;  // a plain one: the activation orders it, and one is sent at a time
  std::atomic<int> heard{0};
  std::optional<RemoteActivator> door;
  std::atomic<bool> stands{false};
  std::thread outside([&] {
    while (!stands.load()) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) {
      queue.push_back(i);
      EXPECT_TRUE(door->activate());
      while (heard.load() <= i) std::this_thread::yield();
    }
    while (door->activate()) std::this_thread::yield();  // until nobody is there any more
  });
  std::vector<int> seen;
  execute_directly([&](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      source<int>(scope, "outside", [&](Capability<Time> capability, const OperatorInfo& info) {
        door = info.activation.remote();
        return [&, capability = std::move(capability)](auto& output) mutable {
          // From its first run on, only activations have it run, until it drops its capability.
          if (!stands.exchange(true) || !capability) return;
          output.session(capability).give_all(std::exchange(queue, {}));
          if (++heard == 100) capability.release();
        };
      }) | inspect([&](int x) { seen.push_back(x); });
    });
  });
  outside.join();
  ASSERT_EQ(seen.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(RemoteActivator, SaysWhenTheOperatorOrItsDataflowOrItsWorkerEnded) {
  RemoteActivator last;
  {
    World world;
    std::vector<Counted> counted(3);
    for (auto& one : counted) one.build(world[0]);
    world.steps();
    std::vector<RemoteActivator> doors;
    for (auto& one : counted) doors.push_back(one.activator->remote());
    for (auto& door : doors) EXPECT_TRUE(door.activate());
    world.steps();
    for (auto& one : counted) EXPECT_EQ(one.runs, 2);

    counted[0].capability.reset();
    world.steps();
    EXPECT_FALSE(doors[0].activate());
    EXPECT_FALSE(counted[0].activator->remote().activate());
    world[0].drop_dataflow(1);
    EXPECT_FALSE(doors[1].activate());
    EXPECT_TRUE(doors[2].activate());
    last = doors[2];
  }
  EXPECT_FALSE(last.activate());
  EXPECT_FALSE(Activator().remote().activate());
}

TEST(RemoteActivator, ActivatesManyInOneGo) {
  World world(2);
  std::array<Counted, 4> counted;
  std::vector<RemoteActivator> doors;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    // All workers build alike; the test looks at each dataflow on one of them only.
    Counted other;
    counted[i].build(world[i / 2]);
    other.build(world[1 - i / 2]);
    other.capability.reset();
    doors.push_back(counted[i].activator->remote());
    world.steps();
  }
  EXPECT_EQ(activate_all(doors), 4u);
  world.steps();
  for (auto& one : counted) EXPECT_EQ(one.runs, 2);
}

// --- by what is dropped

TEST(ActivateOnDrop, RunsTheOperatorWhenWhatItGaveAwayIsDropped) {
  World world;
  Counted counted;
  counted.build(world[0]);
  world.steps();
  {
    ActivateOnDrop<Capability<Time>> given(counted.capability->clone(), *counted.activator);
    ActivateOnDrop<Capability<Time>> moved(std::move(given));
    world.steps();
    EXPECT_FALSE(given);
    EXPECT_EQ(moved->time(), 0u);
    EXPECT_EQ(counted.runs, 1);
    moved->downgrade(3);
    world.steps();
    EXPECT_EQ(counted.runs, 1);
  }
  world.steps();
  EXPECT_EQ(counted.runs, 2);
  counted.capability.reset();
  EXPECT_TRUE(world.ends());
}

TEST(ActivateOnDrop, ReleasingACapabilityOutsideEndsTheDataflow) {
  World world;
  Counted counted;
  counted.build(world[0]);
  world.steps();
  ActivateOnDrop<Capability<Time>> outside(*std::exchange(counted.capability, std::nullopt),
                                           *counted.activator);
  world.steps();
  EXPECT_TRUE(world[0].has_dataflows());
  outside.drop();
  outside.drop();
  EXPECT_TRUE(world.ends());
  EXPECT_GE(counted.runs, 2);  // and once more to end
}

}  // namespace
}  // namespace leat::dataflow
