// Operators that keep records until their time is complete: accumulate, count, aggregate, delay,
// state_machine.
#include <leat/dataflow/operators/accumulate.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::listed;
using test::place;
using test::says;
using test::usage_error;
using test::World;

using Time = std::uint64_t;
using Pair = progress::Product<std::uint64_t, std::uint64_t>;

// Workers with one input each, all of which build the same.
template <class Record>
struct Flow {
  World world;
  std::vector<Input<Record>> inputs;

  template <class Build>
  Flow(std::size_t peers, Build build) : world(peers), inputs(peers) {
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) { build(scope.input(inputs[index]), index); });
    }
  }
  ::testing::AssertionResult ends() {
    inputs.clear();
    return world.ends();
  }
};

// --- accumulate, count

TEST(Accumulate, SendsOneResultPerTimeWhenTheTimeIsComplete) {
  std::vector<std::pair<Time, int>> sums;
  Flow<int> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) | accumulate(100, [](int& sum, std::vector<int>& batch) {
      for (const int x : batch) sum += x;
    }) | inspect_time([&](Time time, int sum) { sums.emplace_back(time, sum); });
  });
  auto& input = flow.inputs[0];
  input.send_batch({1, 2});
  input.send_batch({3});
  input.advance_to(1);
  input.send(10);
  input.flush();
  flow.world.steps();
  EXPECT_EQ(sums, (std::vector<std::pair<Time, int>>{{0, 106}}));
  input.advance_to(5);  // nothing between: no results for times without records
  flow.world.steps();
  input.send(20);
  EXPECT_TRUE(flow.ends());
  EXPECT_EQ(sums, (std::vector<std::pair<Time, int>>{{0, 106}, {1, 110}, {5, 120}}));
}

TEST(Count, CountsRecordsPerTimeAndWorker) {
  std::vector<std::tuple<std::size_t, Time, std::size_t>> counts;
  Flow<int> flow(2, [&](auto stream, std::size_t index) {
    std::move(stream) | exchange([](int x) { return x; }) | count() |
        inspect_time([&, index](Time time, std::size_t n) { counts.emplace_back(index, time, n); });
  });
  for (Time t = 0; t < 3; ++t) {
    for (auto& input : flow.inputs) {
      for (int x = 0; x < 5; ++x) input.send(x);
      input.advance_to(t + 1);
    }
  }
  EXPECT_TRUE(flow.ends());
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(counts, (std::vector<std::tuple<std::size_t, Time, std::size_t>>{
                        {0, 0, 6}, {0, 1, 6}, {0, 2, 6}, {1, 0, 4}, {1, 1, 4}, {1, 2, 4}}));
}

TEST(Count, WorksInScopesWithPartiallyOrderedTimes) {
  World world;
  std::vector<std::pair<Time, std::size_t>> counts;
  world[0].dataflow([&](auto& scope) {
    scope.iterative("rounds", [&](auto& inner) {
      auto [handle, loop] = loop_variable<int>(inner, 1);
      auto entered = to_stream(scope, std::vector<int>{3, 1, 2}) | enter(inner);
      auto again = std::move(entered) | concat(loop);
      again | map([](int x) { return x - 1; }) | filter([](int x) { return x > 0; }) |
          connect_loop(std::move(handle));
      again | count() | inspect_time([&](const Pair& time, std::size_t n) {
        EXPECT_EQ(time.outer, 0u);
        counts.emplace_back(time.inner, n);
      });
    });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(counts, (std::vector<std::pair<Time, std::size_t>>{{0, 3}, {1, 2}, {2, 1}}));
}

TEST(Accumulate, SendsAsManyTimesPerActivationAsOthersCanWaitFor) {
  std::size_t most = 0;
  std::size_t now = 0;
  std::size_t all = 0;
  Flow<int> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) | accumulate(std::array<char, 4096>{}, [](auto&, auto&) {}) |
        inspect([&](const std::array<char, 4096>&) {
          ++now;
          ++all;
        });
  });
  constexpr std::size_t kTimes = 300;
  for (Time t = 0; t < kTimes; ++t) {
    flow.inputs[0].send(0);
    flow.inputs[0].advance_to(t + 1);
  }
  flow.inputs.clear();
  while (flow.world[0].step()) {
    most = std::max(most, now);
    now = 0;
  }
  EXPECT_EQ(all, kTimes);
  EXPECT_LE(most, (kRecordsPerActivation<std::array<char, 4096>>));
}

// --- aggregate

TEST(Aggregate, SendsOneResultPerKeyAndTimeOnTheKeysWorker) {
  for (const std::size_t peers : {1u, 2u, 3u}) {
    std::map<std::pair<Time, int>, int> sums;
    std::map<int, std::set<std::size_t>> workers;
    Flow<std::pair<int, int>> flow(peers, [&](auto stream, std::size_t index) {
      std::move(stream) |
          aggregate<int>([](int, int value, int& sum) { sum += value; },
                         [](int key, int sum) { return std::pair(key, sum); }) |
          inspect_time([&, index](Time time, const std::pair<int, int>& result) {
            EXPECT_TRUE(sums.emplace(std::pair(time, result.first), result.second).second);
            workers[result.first].insert(index);
          });
    });
    for (Time t = 0; t < 2; ++t) {
      for (auto& input : flow.inputs) {
        for (int i = 0; i < 100; ++i) input.send({i % 10, 1 + static_cast<int>(t)});
        input.advance_to(t + 1);
      }
    }
    EXPECT_TRUE(flow.ends());
    EXPECT_EQ(sums.size(), 20u);
    for (const auto& [at, sum] : sums) {
      EXPECT_EQ(sum, 10 * static_cast<int>(peers) * (1 + static_cast<int>(at.first)));
    }
    for (const auto& [key, on] : workers) EXPECT_EQ(on.size(), 1u) << key;
  }
}

TEST(Aggregate, RoutesByTheHashItIsGiven) {
  std::map<int, std::size_t> at;
  Flow<std::pair<int, int>> flow(3, [&](auto stream, std::size_t index) {
    std::move(stream) |
        aggregate<int>([](int, int, int&) {}, [](int key, int) { return key; },
                       [](int key) { return static_cast<std::uint64_t>(key); }) |
        inspect([&, index](int key) { at[key] = index; });
  });
  for (int key = 0; key < 9; ++key) flow.inputs[0].send({key, 0});
  EXPECT_TRUE(flow.ends());
  ASSERT_EQ(at.size(), 9u);
  for (const auto& [key, index] : at) EXPECT_EQ(index, static_cast<std::size_t>(key) % 3);
}

TEST(Aggregate, SendsManyKeysOverSeveralActivations) {
  std::size_t most = 0;
  std::size_t now = 0;
  std::set<int> keys;
  Flow<std::pair<int, int>> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) |
        aggregate<int>([](int, int value, int& sum) { sum += value; },
                       [](int key, int sum) { return std::pair(key, sum); }) |
        inspect([&](const std::pair<int, int>& result) {
          EXPECT_EQ(result.second, 1);
          EXPECT_TRUE(keys.insert(result.first).second);
          ++now;
        });
  });
  constexpr std::size_t kFuel = kRecordsPerActivation<std::pair<int, int>>;
  constexpr int kKeys = static_cast<int>(2 * kFuel + 10);
  for (int key = 0; key < kKeys; ++key) flow.inputs[0].send({key, 1});
  flow.inputs.clear();
  while (flow.world[0].step()) {
    most = std::max(most, now);
    now = 0;
  }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(kKeys));
  EXPECT_LE(most, kFuel);
}

// --- delay

TEST(Delay, MovesEachRecordToItsTimeAndReleasesItWhenThatIsComplete) {
  std::vector<std::pair<Time, int>> seen;
  Flow<int> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) | delay([](int x, Time time) { return time + static_cast<Time>(x); }) |
        inspect_time([&](Time time, int x) { seen.emplace_back(time, x); });
  });
  auto& input = flow.inputs[0];
  input.send_batch({5, 0, 2});
  flow.world.steps();
  EXPECT_TRUE(seen.empty());
  input.advance_to(1);
  input.send(1);
  input.advance_to(3);
  flow.world.steps();
  EXPECT_EQ(seen, (std::vector<std::pair<Time, int>>{{0, 0}, {2, 2}, {2, 1}}));
  EXPECT_TRUE(flow.ends());
  EXPECT_EQ(seen.back(), (std::pair<Time, int>{5, 5}));
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Delay, RefusesAnEarlierTime) {
  int line = 0;
  Flow<int> flow(1, [&](auto stream, std::size_t) {
    line = __LINE__ + 1;
    std::move(stream) | delay([](int, Time) { return Time{3}; }) | inspect([](int) {});
  });
  flow.inputs[0].advance_to(4);
  flow.inputs[0].send(1);
  flow.inputs[0].flush();
  EXPECT_TRUE(says(usage_error([&] { flow.world.steps(); }),
                   {place("delay", line), "at time 4 to be moved to 3"}));
}

TEST(Delay, SendsManyRecordsOverSeveralActivationsInOrder) {
  std::size_t most = 0;
  std::size_t now = 0;
  std::vector<int> seen;
  Flow<int> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) | delay([](int, Time) { return Time{1}; }) | inspect([&](int x) {
      seen.push_back(x);
      ++now;
    });
  });
  constexpr int kRecords = static_cast<int>(2 * kRecordsPerActivation<int> + 3);
  for (int x = 0; x < kRecords; ++x) flow.inputs[0].send(x);
  flow.inputs.clear();
  while (flow.world[0].step()) {
    most = std::max(most, now);
    now = 0;
  }
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(kRecords));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_LE(most, kRecordsPerActivation<int>);
}

TEST(Delay, TakesRecordsThatCannotBeCopied) {
  std::vector<int> seen;
  Flow<std::unique_ptr<int>> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) | delay([](const auto&, Time time) { return time + 1; }) |
        inspect([&](const std::unique_ptr<int>& x) { seen.push_back(*x); });
  });
  flow.inputs[0].send(std::make_unique<int>(7));
  EXPECT_TRUE(flow.ends());
  EXPECT_EQ(seen, std::vector<int>{7});
}

// --- state_machine

using Command = std::pair<std::string, int>;

// Sums per key; 0 ends the key's state. Emits (key, sum before).
auto summing() {
  return state_machine<int, std::pair<std::string, int>>(
      [](const std::string& key, int value, int& sum) {
        Transition<std::pair<std::string, int>> transition;
        if (value == 0) {
          transition.remove = true;
          transition.emit.emplace_back(key, sum);
        }
        sum += value;
        return transition;
      });
}

TEST(StateMachine, KeepsAStatePerKeyAcrossTimesUntilItIsRemoved) {
  for (const std::size_t peers : {1u, 2u, 3u}) {
    std::map<std::pair<Time, std::string>, int> sums;
    Flow<Command> flow(peers, [&](auto stream, std::size_t) {
      std::move(stream) | summing() |
          inspect_time([&](Time time, const std::pair<std::string, int>& sum) {
            EXPECT_TRUE(sums.emplace(std::pair(time, sum.first), sum.second).second);
          });
    });
    for (Time t = 0; t < 3; ++t) {
      for (auto& input : flow.inputs) {
        input.send({"a", 1});
        input.send({"b", 2});
        input.advance_to(t + 1);
      }
    }
    flow.inputs[0].send({"a", 0});
    for (auto& input : flow.inputs) input.advance_to(4);
    flow.inputs.back().send({"a", 5});
    for (auto& input : flow.inputs) input.advance_to(5);
    flow.inputs[0].send({"a", 0});
    flow.inputs[0].send({"b", 0});
    EXPECT_TRUE(flow.ends());
    const int n = static_cast<int>(peers);
    EXPECT_EQ(sums, (std::map<std::pair<Time, std::string>, int>{
                        {{3, "a"}, 3 * n}, {{5, "a"}, 5}, {{5, "b"}, 6 * n}}));
  }
}

TEST(StateMachine, AppliesAtOnceWhatNothingEarlierCanPrecede) {
  std::vector<std::pair<Time, int>> seen;
  Flow<Command> flow(1, [&](auto stream, std::size_t) {
    std::move(stream) | summing() |
        inspect_time([&](Time time, const auto& sum) { seen.emplace_back(time, sum.second); });
  });
  flow.inputs[0].send_batch({{"a", 4}, {"a", 0}});
  flow.world.steps();  // time 0 is not complete
  EXPECT_EQ(seen, (std::vector<std::pair<Time, int>>{{0, 4}}));
  EXPECT_TRUE(flow.ends());
}

TEST(StateMachine, AppliesTimesInOrderWhateverOrderTheyComeIn) {
  World world;
  std::vector<std::pair<Time, int>> seen;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    auto input = unordered_input<Command>(scope);
    input.stream |
        state_machine<std::vector<int>, int>([](const auto&, int value, std::vector<int>& states) {
          states.push_back(value);
          EXPECT_TRUE(std::is_sorted(states.begin(), states.end()));
          return Transition<int>{false, {value}};
        }) |
        inspect_time([&](Time time, int x) { seen.emplace_back(time, x); });
    return std::pair(std::move(input.handle), std::move(input.capability));
  });
  for (const Time time : std::vector<Time>{5, 2, 9, 2, 7}) {
    handle.session(capability.delayed(time)).give({"k", static_cast<int>(time)});
    world.steps();
  }
  EXPECT_TRUE(seen.empty());
  capability.downgrade(3);
  world.steps();
  EXPECT_EQ(seen, (std::vector<std::pair<Time, int>>{{2, 2}, {2, 2}}));
  handle.session(capability).give({"k", 3});  // nothing earlier waits: at once
  world.steps();
  EXPECT_EQ(seen.size(), 3u);
  capability.release();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen,
            (std::vector<std::pair<Time, int>>{{2, 2}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {9, 9}}));
}

TEST(StateMachine, WorksThroughWhatWaitedOverSeveralActivationsInOrder) {
  World world;
  std::vector<int> seen;
  std::size_t most = 0;
  std::size_t now = 0;
  using Numbered = std::pair<int, int>;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    auto input = unordered_input<Numbered>(scope);
    input.stream | state_machine<int, int>([](int, int value, int&) {
      return Transition<int>{false, {value}};
    }) | inspect([&](int x) {
      seen.push_back(x);
      ++now;
    });
    return std::pair(std::move(input.handle), std::move(input.capability));
  });
  constexpr std::size_t kFuel = kRecordsPerActivation<Numbered>;
  {
    const auto later = capability.delayed(1);
    auto session = handle.session(later);
    for (std::size_t i = 0; i < 2 * kFuel; ++i) session.give({0, static_cast<int>(i)});
  }
  world.steps();
  EXPECT_TRUE(seen.empty());
  capability.downgrade(2);
  // Comes while what waited is being worked through, and must not overtake it.
  handle.session(capability).give({0, 1'000'000'000});
  capability.release();
  now = 0;
  while (world[0].step()) {
    most = std::max(most, now);
    now = 0;
  }
  EXPECT_EQ(seen.size(), 2 * kFuel + 1);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_LE(most, kFuel);
}

}  // namespace
}  // namespace leat::dataflow
