#include <leat/dataflow/worker.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/clock.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using namespace std::chrono_literals;

using test::listed;
using test::place;
using test::says;
using test::usage_error;
using test::World;

using Time = std::uint64_t;
using Ints = std::vector<int>;

// --- several dataflows

TEST(Worker, RunsSeveralDataflowsIndependently) {
  World world(2);
  std::vector<Input<int>> firsts(2);
  std::vector<Input<int>> seconds(2);
  std::vector<Probe<>> first(2);
  std::vector<Probe<>> second(2);
  for (std::size_t index = 0; index < 2; ++index) {
    EXPECT_EQ(world[index].next_dataflow_index(), 0u);
    world[index].dataflow_named("one", [&](auto& scope) {
      scope.input(firsts[index]) | exchange(hash) | probe(first[index]);
    });
    world[index].dataflow_named("two", [&](auto& scope) {
      scope.input(seconds[index]) | exchange(hash) | probe(second[index]);
    });
  }
  EXPECT_EQ(world[0].installed_dataflows(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(world[0].next_dataflow_index(), 2u);
  EXPECT_EQ(world[0].dataflow_name(0), "one");
  EXPECT_EQ(world[0].dataflow_name(1), "two");
  for (auto& input : seconds) input.advance_to(7);
  world.steps();
  EXPECT_EQ(listed(first[0].frontier()), std::vector<Time>{0});
  EXPECT_EQ(listed(second[0].frontier()), std::vector<Time>{7});
  firsts.clear();
  world.steps();
  EXPECT_TRUE(first[1].done());
  EXPECT_EQ(world[0].installed_dataflows(), std::vector<std::uint32_t>{1});
  EXPECT_TRUE(world[0].has_dataflows());
  seconds.clear();
  EXPECT_TRUE(world.ends());
}

TEST(Worker, RefusesTheNameOfADataflowThatNeverWas) {
  World world;
  EXPECT_TRUE(says(usage_error([&] { (void)world[0].dataflow_name(3); }),
                   {"worker 0", "dataflow 3", "0 dataflows"}));
}

TEST(Worker, BuildsADataflowWhileOthersRun) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  std::vector<std::pair<Time, int>> late;
  const auto build = [&](bool first) {
    for (std::size_t index = 0; index < 2; ++index) {
      world[index].dataflow([&](auto& scope) {
        scope.input(inputs[index]) | exchange(hash) | inspect_time([&, first](Time time, int x) {
          if (!first) late.emplace_back(time, x);
        });
      });
    }
  };
  build(true);
  for (Time time = 0; time < 10; ++time) {
    inputs[0].send(static_cast<int>(time));
    for (auto& input : inputs) input.advance_to(time + 1);
    world.steps(2);
    if (time == 4) build(false);
  }
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(late, (std::vector<std::pair<Time, int>>{{5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9}}));
}

TEST(Worker, WhatComesBeforeAWorkerHasBuiltWaitsForIt) {
  for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
    World world(2, mode);
    std::vector<Input<int>> inputs(2);
    std::vector<Probe<>> probes(2);
    Ints got;
    const auto build = [&](std::size_t index) {
      world[index].dataflow([&](auto& scope) {
        auto stream = scope.input(inputs[index]);
        auto left = scope.iterative("rounds", [&](auto& inner) {
          return stream | enter(inner) | exchange([](int) { return 1; }) |
                 inspect([&](int x) { got.push_back(x); }) | leave(scope);
        });
        left | probe(probes[index]);
      });
    };
    build(0);
    for (int x = 0; x < 200; ++x) {
      inputs[0].send(x);
      inputs[0].advance_to(static_cast<Time>(x) + 1);
      world.steps(1);
    }
    EXPECT_TRUE(probes[0].less_equal(0));
    build(1);
    EXPECT_TRUE(got.empty());
    inputs.clear();
    EXPECT_TRUE(world.ends());
    EXPECT_EQ(got.size(), 200u);
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  }
}

// --- the same on all workers

// Builds `first` on worker 0 and `second` on worker 1.
template <class First, class Second>
std::string differing(First first, Second second) {
  World world(2);
  return usage_error([&] {
    first(world[0]);
    second(world[1]);
  });
}
auto flow(std::string name) {
  return [name](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      to_stream(scope, Ints{1}) | map([](int x) { return x; }).named(name) | inspect([](int) {});
    });
  };
}

TEST(Worker, RefusesADataflowWithAnotherOperatorThanItsPeers) {
  const auto said = differing(flow("parse"), flow("read"));
  EXPECT_TRUE(says(said, {"worker 1", "the same dataflow on all workers", "worker 0 built",
                          "worker 1 built", "dataflow \"dataflow\""}));
}

TEST(Worker, RefusesADataflowWithMoreOperatorsThanItsPeers) {
  const auto said = differing(flow("x"), [](Worker& worker) {
    worker.dataflow([](auto& scope) {
      to_stream(scope, Ints{1}) | map([](int x) { return x; }).named("x") | inspect([](int) {}) |
          inspect([](int) {});
    });
  });
  EXPECT_TRUE(says(said, {"the same dataflow on all workers", "3 operators", "4 operators"}));
}

TEST(Worker, RefusesADataflowThatDiffersInsideAScope) {
  const auto inner = [](std::string name) {
    return [name](Worker& worker) {
      worker.dataflow([&](auto& scope) {
        scope.region("inner", [&](auto& region) {
          to_stream(region, Ints{1}) | map([](int x) { return x; }).named(name);
        });
      });
    };
  };
  EXPECT_TRUE(says(differing(inner("a"), inner("b")), {"the same dataflow on all workers"}));
}

TEST(Worker, RefusesADataflowWithOtherTimes) {
  const auto said = differing(
      [](Worker& worker) {
        worker.dataflow<std::uint64_t>(
            [](auto& scope) { empty<int>(scope) | inspect([](int) {}); });
      },
      [](Worker& worker) {
        worker.dataflow<std::uint32_t>(
            [](auto& scope) { empty<int>(scope) | inspect([](int) {}); });
      });
  EXPECT_TRUE(says(said, {"the same dataflow on all workers"}));
}

TEST(Worker, RefusesAnotherKindOfRecordOnAChannel) {
  const auto said = differing(
      [](Worker& worker) {
        worker.dataflow([](auto& scope) { empty<int>(scope) | exchange(hash); });
      },
      [](Worker& worker) {
        worker.dataflow([](auto& scope) { empty<long>(scope) | exchange(hash); });
      });
  EXPECT_TRUE(says(said, {"exchange of \"exchange\"", "vector<int", "vector<long"}));
}

TEST(Worker, RefusesToRunADataflowThatAPeerLeftWithout) {
  comm::Fabric fabric(2);
  const core::Config config;
  Worker stays(fabric.seat(0), config, nullptr);
  {
    Worker leaves(fabric.seat(1), config, nullptr);
  }
  stays.dataflow_named("lonely", [](auto& scope) { empty<int>(scope) | inspect([](int) {}); });
  EXPECT_TRUE(says(usage_error([&] { stays.step(); }),
                   {"worker 0", "\"lonely\"", "left without building it"}));
}

TEST(Worker, IdentifiersAreTheSameOnAllWorkersAndNeverTwice) {
  World world(2);
  const auto first = world[0].new_identifier();
  EXPECT_EQ(world[1].new_identifier(), first);
  EXPECT_NE(world[0].new_identifier(), first);
}

// --- the end of a dataflow

struct Order {
  std::vector<std::string>& log;
  std::string name;
  Order(std::vector<std::string>& to, std::string as) : log(to), name(std::move(as)) {}
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  ~Order() { log.push_back(name); }
};

// A dataflow with resources, whose operator holds something as well.
void with_resources(Worker& worker, Input<int>& input, std::vector<std::string>& log) {
  worker.dataflow_with("careful", std::make_unique<Order>(log, "resources"), [&](auto& scope) {
    scope.input(input) | inspect([held = std::make_shared<Order>(log, "operator")](int) {});
  });
}
const std::vector<std::string> kOperatorFirst{"operator", "resources"};

TEST(Resources, AreDestroyedAfterTheOperatorsWhenTheDataflowEnds) {
  World world;
  Input<int> input;
  std::vector<std::string> log;
  with_resources(world[0], input, log);
  world.steps();
  EXPECT_TRUE(log.empty());
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(log, kOperatorFirst);
}

TEST(Resources, AreDestroyedAfterTheOperatorsWhenTheDataflowIsDropped) {
  World world;
  Input<int> input;
  std::vector<std::string> log;
  with_resources(world[0], input, log);
  world[0].drop_dataflow(0);
  EXPECT_EQ(log, kOperatorFirst);
}

TEST(Resources, AreDestroyedAfterTheOperatorsWhenTheWorkerIs) {
  Input<int> input;
  std::vector<std::string> log;
  {
    World world;
    with_resources(world[0], input, log);
    world.steps();
  }
  EXPECT_EQ(log, kOperatorFirst);
}

TEST(Worker, DropsADataflowAndTheOthersGoOn) {
  World world(2);
  std::vector<Input<int>> dropped(2);
  std::vector<Input<int>> kept(2);
  Ints got;
  auto state = std::make_shared<int>(0);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      scope.input(dropped[index]) | exchange(hash) | inspect([state](int) {}) | count() |
          inspect([](std::size_t) { ADD_FAILURE() << "this time was never complete"; });
    });
    world[index].dataflow([&](auto& scope) {
      scope.input(kept[index]) | exchange(hash) | inspect([&](int x) { got.push_back(x); });
    });
  }
  dropped[0].send_batch({1, 2, 3, 4});
  kept[0].send_batch({5});
  world.steps();
  EXPECT_EQ(state.use_count(), 3);
  // One after the other, with steps between: what the one still sends finds nobody at the other.
  world[1].drop_dataflow(0);
  dropped[0].send_batch({6, 7, 8, 9});
  dropped[0].advance_to(3);
  world.steps();
  world[0].drop_dataflow(0);
  world[0].drop_dataflow(0);  // it is gone already
  EXPECT_EQ(state.use_count(), 1);
  EXPECT_EQ(world[0].installed_dataflows(), std::vector<std::uint32_t>{1});
  kept[0].send_batch({10});
  kept.clear();
  EXPECT_TRUE(world.ends());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (Ints{5, 10}));
}

TEST(Worker, RefusesToDropTheDataflowThatIsRunning) {
  World world;
  world[0].dataflow([&](auto& scope) {
    to_stream(scope, Ints{1}) | inspect([&](int) { world[0].drop_dataflow(0); });
  });
  EXPECT_TRUE(says(usage_error([&] { world.steps(); }), {"to be dropped", "running just now"}));
}

TEST(Worker, MayBuildAndDropOtherDataflowsFromInsideAnOperator) {
  World world;
  Input<int> input;
  int built = 0;
  world[0].dataflow([&](auto& scope) { scope.input(input) | inspect([](int) {}); });
  world[0].dataflow([&](auto& scope) {
    to_stream(scope, Ints{1}) | inspect([&](int) {
      world[0].drop_dataflow(0);
      world[0].dataflow(
          [&](auto& later) { to_stream(later, Ints{1, 2}) | inspect([&](int) { ++built; }); });
    });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(built, 2);
}

TEST(Worker, AnExceptionEndsItsDataflowAndLeavesTheStep) {
  World world;
  Input<int> input;
  Ints got;
  auto state = std::make_shared<int>(0);
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    auto fails = map([state](int) -> int { throw std::range_error("too much"); });
    to_stream(scope, Ints{1}) | std::move(fails);
  });
  world[0].dataflow(
      [&](auto& scope) { scope.input(input) | inspect([&](int x) { got.push_back(x); }); });
  EXPECT_THROW(world.steps(), std::range_error);
  EXPECT_EQ(world[0].thrower(), place("map", line));
  EXPECT_EQ(state.use_count(), 1);
  EXPECT_EQ(world[0].installed_dataflows(), std::vector<std::uint32_t>{1});
  input.send(1);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, Ints{1});
}

// --- steps

TEST(Worker, RefusesAStepFromInsideAnOperator) {
  for (const bool parks : {false, true}) {
    comm::Fabric fabric(1);
    const RealClock clock;
    Worker worker(fabric.seat(0), core::Config(), &clock);
    worker.dataflow([&](auto& scope) {
      to_stream(scope, Ints{1}) |
          inspect([&](int) { parks ? worker.step_or_park() : worker.step(); });
    });
    EXPECT_TRUE(says(usage_error([&] { worker.step(); }),
                     {"a step that is not finished", "from inside an operator"}));
  }
}

// Counts how often it is read; a microsecond passes each time.
class CountingClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const noexcept override { return Nanos(1000 * ++reads_); }
  [[nodiscard]] int reads() const noexcept { return reads_; }

 private:
  mutable int reads_ = 0;
};

// A worker with an input that is open, and nothing to do.
struct Idle {
  comm::Fabric fabric{1};
  CountingClock clock;
  std::optional<Worker> worker;
  Input<int> input;
  explicit Idle(Nanos idle_spin) {
    core::Config config;
    config.idle_spin = idle_spin;
    worker.emplace(fabric.seat(0), config, &clock, Nanos{0});
    worker->dataflow([&](auto& scope) { scope.input(input) | inspect([](int) {}); });
    for (int i = 0; i < 5; ++i) worker->step();
  }
};

TEST(Worker, AStepNeverParksAndNeverPolls) {
  Idle idle(1ms);
  for (int i = 0; i < 100; ++i) idle.worker->step();
  EXPECT_EQ(idle.worker->counters().parks, 0u);
  EXPECT_EQ(idle.clock.reads(), 0);
  EXPECT_EQ(idle.worker->counters().steps, 105u);
}

TEST(Worker, AnIdleWorkerPollsForItsBudgetAndThenParks) {
  Idle idle(10us);
  EXPECT_TRUE(idle.worker->step_or_park(1ns));
  EXPECT_EQ(idle.worker->counters().parks, 1u);
  EXPECT_GT(idle.clock.reads(), 9);
}

TEST(Worker, WithoutABudgetAnIdleWorkerParksAtOnce) {
  Idle idle(0ns);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(idle.worker->step_or_park(1ns));
    EXPECT_EQ(idle.worker->counters().parks, static_cast<std::uint64_t>(i));
  }
  EXPECT_EQ(idle.clock.reads(), 0);
}

TEST(Worker, DoesNotParkWhenThereIsSomethingToDoOrNoTimeToWait) {
  Idle idle(0ns);
  idle.input.send(1);
  idle.input.flush();
  EXPECT_TRUE(idle.worker->step_or_park());  // would sleep forever
  EXPECT_TRUE(idle.worker->step_or_park(0ns));
  idle.input.close();
  idle.worker->step_or_park_while([&] { return idle.worker->has_dataflows(); });
  EXPECT_EQ(idle.worker->counters().parks, 0u);
}

TEST(Worker, StepsWhileAConditionHolds) {
  World world;
  Input<int> input;
  Probe<> probed;
  world[0].dataflow([&](auto& scope) { scope.input(input) | probe(probed); });
  input.advance_to(3);
  world[0].step_while([&] { return probed.less_than(input.time()); });
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{3});
}

TEST(Worker, AWorkerAloneNeitherPublishesNorWakes) {
  World world;
  Input<int> input;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | exchange(hash) | count() | inspect([](std::size_t) {});
  });
  for (Time time = 0; time < 10; ++time) {
    input.send(1);
    input.advance_to(time + 1);
    world.steps(2);
  }
  const auto counters = world[0].counters();
  EXPECT_GT(counters.batches, 0u);
  EXPECT_EQ(counters.notices, 0u);
  EXPECT_EQ(counters.wakes_sent, 0u);
  EXPECT_EQ(counters.batches_read, 0u);
}

TEST(Worker, AnIdleDataflowCostsItsPeersNothing) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      scope.input(inputs[index]) | exchange(hash) | count() | inspect([](std::size_t) {});
    });
  }
  world.steps();
  const auto before = world[0].counters();
  world.steps(100);
  const auto after = world[0].counters();
  EXPECT_EQ(after.batches, before.batches);
  EXPECT_EQ(after.batches_read, before.batches_read);
  EXPECT_EQ(after.notices, before.notices);
}

// --- timers

TEST(Worker, TimersMayActivateOperators) {
  comm::Fabric fabric(1);
  SettableClock clock;
  Worker worker(fabric.seat(0), core::Config(), &clock);
  Ints ticks;
  std::optional<Activator> late;
  worker.dataflow([&](auto& scope) {
    source<int>(scope, "ticks", [&](Capability<Time> capability, const OperatorInfo& info) {
      late = info.activation;
      return [&, capability = std::move(capability), activation = info.activation,
              n = 0](auto& output) mutable {
        if (!capability) return;
        output.session(capability).give(n);
        if (++n == 3) return capability.release();
        worker.timers().arm_after(10ms, [activation] { activation.activate(); });
      };
    }) | inspect([&](int x) { ticks.push_back(x); });
  });
  for (int i = 0; i < 5; ++i) worker.step();
  EXPECT_EQ(ticks, (Ints{0}));
  clock.advance(9ms);
  worker.step();
  EXPECT_EQ(ticks, (Ints{0}));
  clock.advance(1ms);
  for (int i = 0; i < 5; ++i) worker.step();
  EXPECT_EQ(ticks, (Ints{0, 1}));
  clock.advance(10ms);
  // Fires after the dataflow has ended.
  worker.timers().arm_after(1ms, [late] { late->activate(); });
  for (int i = 0; i < 5; ++i) worker.step();
  EXPECT_EQ(ticks, (Ints{0, 1, 2}));
  EXPECT_FALSE(worker.has_dataflows());
  clock.advance(1ms);
  EXPECT_FALSE(worker.step());
}

}  // namespace
}  // namespace leat::dataflow
