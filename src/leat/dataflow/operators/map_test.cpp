// Record by record: map, map_in_place, filter, flat_map; looking on: inspect and its kin; to_stream.
#include <leat/dataflow/operators/map.hpp>

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
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
using Ints = std::vector<int>;

// What comes out of `op`, given `records` in one batch.
template <class Record, class Build>
void run(std::vector<Record> records, Build build) {
  World world;
  Input<Record> input;
  world[0].dataflow([&](auto& scope) { build(scope.input(input)); });
  input.send_batch(records);
  input.close();
  EXPECT_TRUE(world.ends());
}

template <class Op>
Ints through(Ints records, Op op) {
  Ints out;
  run<int>(std::move(records), [&](auto stream) {
    std::move(stream) | std::move(op) | inspect([&](int x) { out.push_back(x); });
  });
  return out;
}

TEST(Map, CallsTheFunctionOnEachRecordInOrder) {
  EXPECT_EQ(through({1, 2, 3}, map([](int x) { return 10 * x; })), (Ints{10, 20, 30}));
}

TEST(Map, MayChangeTheTypeAndOwnItsRecords) {
  std::vector<std::string> out;
  run<int>({1, 2}, [&](auto stream) {
    std::move(stream) | map([](int x) { return std::make_unique<int>(x); }) |
        map([](std::unique_ptr<int> x) { return std::to_string(*x); }) |
        inspect([&](const std::string& x) { out.push_back(x); });
  });
  EXPECT_EQ(out, (std::vector<std::string>{"1", "2"}));
}

TEST(Map, AChainEqualsTheCompositionOfItsFunctions) {
  const Ints out = through({1, 2, 3}, map([](int x) { return x + 1; }));
  Ints chained;
  run<int>({1, 2, 3}, [&](auto stream) {
    std::move(stream) | map([](int x) { return x + 1; }) |
        flat_map([](int x) { return Ints(static_cast<std::size_t>(x), x); }) |
        map([](int x) { return x * x; }) | inspect([&](int x) { chained.push_back(x); });
  });
  Ints expected;
  for (const int x : out) expected.insert(expected.end(), static_cast<std::size_t>(x), x * x);
  EXPECT_EQ(chained, expected);
}

TEST(MapInPlace, ChangesRecordsInTheirBatch) {
  const int* before = nullptr;
  const int* after = nullptr;
  run<int>({1, 2}, [&](auto stream) {
    std::move(stream) | inspect_batch([&](Time, const Ints& batch) { before = batch.data(); }) |
        map_in_place([](int& x) { x = -x; }) | inspect_batch([&](Time, const Ints& batch) {
          after = batch.data();
          EXPECT_EQ(batch, (Ints{-1, -2}));
        });
  });
  EXPECT_EQ(before, after);
}

TEST(Filter, KeepsWhatThePredicateWantsInOrder) {
  EXPECT_EQ(through({1, 2, 3, 4}, filter([](int x) { return x % 2 == 0; })), (Ints{2, 4}));
  EXPECT_EQ(through({1, 3}, filter([](int) { return false; })), Ints{});
}

TEST(FlatMap, EmitsTheRangesOfItsRecordsInOrder) {
  EXPECT_EQ(
      through({1, 0, 3}, flat_map([](int x) { return Ints(static_cast<std::size_t>(x), x); })),
      (Ints{1, 3, 3, 3}));
  EXPECT_EQ(through({2, 4}, flat_map([](int x) { return std::views::iota(0, x); })),
            (Ints{0, 1, 0, 1, 2, 3}));
  EXPECT_EQ(through({5}, flat_map([](int x) { return std::list<int>{x, x + 1}; })), (Ints{5, 6}));
}

TEST(FlatMap, PutsOutWithoutARange) {
  EXPECT_EQ(through({1, 2}, flat_map<int>([](int x, auto& out) {
                      out(x);
                      out(-x);
                    })),
            (Ints{1, -1, 2, -2}));
}

TEST(FlatMap, MovesRecordsThatCannotBeCopied) {
  Ints out;
  run<int>({1, 2}, [&](auto stream) {
    std::move(stream) | flat_map([](int x) {
      std::vector<std::unique_ptr<int>> owned;
      owned.push_back(std::make_unique<int>(x));
      owned.push_back(std::make_unique<int>(-x));
      return owned;
    }) | inspect([&](const std::unique_ptr<int>& x) { out.push_back(*x); });
  });
  EXPECT_EQ(out, (Ints{1, -1, 2, -2}));
}

// Steps until all is over; the most records that came out within a step.
template <class Op>
std::pair<std::size_t, std::size_t> bounded(const std::vector<std::size_t>& lengths, Op op) {
  World world;
  Input<std::size_t> input;
  std::size_t now = 0;
  std::size_t most = 0;
  std::size_t all = 0;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | std::move(op) | inspect([&](std::size_t) {
      ++now;
      ++all;
    });
  });
  Time time = 0;
  for (const std::size_t length : lengths) {
    input.send(length);
    input.advance_to(++time);
  }
  input.close();
  for (int steps = 0; steps < 1000 && world[0].step(); ++steps) {
    most = std::max(most, now);
    now = 0;
  }
  EXPECT_FALSE(world[0].has_dataflows());
  return {most, all};
}

TEST(FlatMap, EmitsABoundedNumberOfRecordsPerActivationAndResumes) {
  constexpr std::size_t kFuel = kRecordsPerActivation<std::size_t>;
  const auto repeat = [](std::size_t n) { return std::views::iota(std::size_t{0}, n); };
  EXPECT_EQ(bounded({10 * kFuel + 7}, flat_map(repeat)), std::pair(kFuel, 10 * kFuel + 7));
  EXPECT_EQ(bounded({kFuel - 1, kFuel + 1, 5, 3 * kFuel}, flat_map(repeat)),
            std::pair(kFuel, 5 * kFuel + 5));
}

TEST(FlatMap, GoesOnWhenItsFuelEndsExactlyWithAMessage) {
  constexpr std::size_t kFuel = kRecordsPerActivation<std::size_t>;
  const auto repeat = [](std::size_t n) { return std::views::iota(std::size_t{0}, n); };
  EXPECT_EQ(bounded({kFuel, kFuel, 2 * kFuel, 1}, flat_map(repeat)),
            std::pair(kFuel, 4 * kFuel + 1));
}

TEST(Map, TakesABoundedNumberOfMessagesPerActivation) {
  EXPECT_EQ(bounded(std::vector<std::size_t>(1000, 1), map([](std::size_t x) { return x; })),
            std::pair(std::size_t{kMessagesPerActivation}, std::size_t{1000}));
}

TEST(Named, TheNameIsTheOneInReports) {
  World world;
  Input<int> input;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    auto fails = map([](int) -> int { throw std::runtime_error("no"); });
    scope.input(input) | std::move(fails).named("mine");
  });
  input.send(1);
  input.close();
  EXPECT_THROW(world.steps(), std::runtime_error);
  EXPECT_EQ(world[0].thrower(), place("mine", line));
}

TEST(Named, AnOperatorThatIsKeptMayBeUsedAgainUnderAnotherName) {
  const auto doubled = map([](int x) { return 2 * x; });
  EXPECT_EQ(through({1}, doubled.named("once")), Ints{2});
  EXPECT_EQ(through({1}, doubled), Ints{2});
}

// --- looking on

TEST(Inspect, SeesRecordsTimesAndBatchesAndChangesNothing) {
  World world;
  Input<int> input;
  Ints records;
  std::vector<std::pair<Time, int>> timed;
  std::vector<std::pair<Time, Ints>> batches;
  Ints out;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | inspect([&](const int& x) { records.push_back(x); }) |
        inspect_time([&](const Time& time, const int& x) { timed.emplace_back(time, x); }) |
        inspect_batch(
            [&](const Time& time, const Ints& batch) { batches.emplace_back(time, batch); }) |
        inspect([&](int x) { out.push_back(x); });
  });
  input.send_batch({1, 2});
  input.advance_to(3);
  input.send_batch({4});
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(records, (Ints{1, 2, 4}));
  EXPECT_EQ(timed, (std::vector<std::pair<Time, int>>{{0, 1}, {0, 2}, {3, 4}}));
  EXPECT_EQ(batches, (std::vector<std::pair<Time, Ints>>{{0, {1, 2}}, {3, {4}}}));
  EXPECT_EQ(out, records);
}

TEST(Inspect, CoreSeesBatchesAndEachChangeOfTheFrontier) {
  World world;
  Input<int> input;
  std::vector<std::string> seen;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) |
        inspect_core(
            [&](Time time, const Ints& batch) {
              seen.push_back(std::to_string(batch.size()) + " at " + std::to_string(time));
            },
            [&](progress::AntichainRef<Time> frontier) {
              seen.push_back(frontier.size() == 0 ? "end"
                                                  : "from " + std::to_string(*frontier.begin()));
            });
  });
  input.send_batch({1, 2});
  world.steps();
  input.advance_to(3);
  world.steps();
  input.send(4);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen, (std::vector<std::string>{"2 at 0", "from 3", "1 at 3", "end"}));
}

TEST(Inspect, TakesRecordsThatStayOnTheirWorker) {
  struct Local : LocalCounted<Local> {
    int value = 0;
  };
  static_assert(!Sendable<LocalPtr<Local>>);
  int sum = 0;
  World world;
  Input<LocalPtr<Local>> input;
  world[0].dataflow([&](auto& scope) {
    auto stream = scope.input(input) | filter([](const auto&) { return true; }) |
                  map_in_place([](LocalPtr<Local>& x) { x->value += 1; });
    stream | inspect([&](const LocalPtr<Local>& x) { sum += x->value; });
    stream | inspect([&](const LocalPtr<Local>& x) { sum += x->value; });
  });
  auto record = make_local<Local>();
  record->value = 20;
  input.send(record);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(sum, 42);
}

// --- to_stream

TEST(ToStream, EmitsARangeAtTheLeastTimeAndEnds) {
  World world;
  std::vector<std::pair<Time, int>> out;
  world[0].dataflow([&](auto& scope) {
    to_stream(scope, Ints{1, 2, 3}) |
        inspect_time([&](Time time, int x) { out.emplace_back(time, x); });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, (std::vector<std::pair<Time, int>>{{0, 1}, {0, 2}, {0, 3}}));
}

TEST(ToStream, EmitsTheWholeRangeOnEveryWorker) {
  World world(3);
  std::size_t out = 0;
  for (std::size_t index = 0; index < 3; ++index) {
    world[index].dataflow([&](auto& scope) {
      to_stream(scope, std::views::iota(0, 10)) | exchange([](int x) { return x; }) |
          inspect([&](int) { ++out; });
    });
  }
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, 30u);
}

TEST(ToStream, MovesRecordsThatCannotBeCopiedAndTakesEmptyRanges) {
  World world;
  int sum = 0;
  world[0].dataflow([&](auto& scope) {
    std::vector<std::unique_ptr<int>> owned;
    owned.push_back(std::make_unique<int>(4));
    to_stream(scope, std::move(owned)) | inspect([&](const auto& x) { sum += *x; });
    to_stream(scope, Ints{}) | inspect([&](int) { ++sum; });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(sum, 4);
}

TEST(ToStream, EmitsABoundedPartPerActivation) {
  World world;
  std::size_t now = 0;
  std::size_t most = 0;
  std::size_t all = 0;
  constexpr int kRecords = static_cast<int>(4 * kRecordsPerActivation<int> + 1);
  world[0].dataflow([&](auto& scope) {
    to_stream(scope, std::views::iota(0, kRecords)) | inspect([&](int) {
      ++now;
      ++all;
    });
  });
  while (world[0].step()) {
    most = std::max(most, now);
    now = 0;
  }
  EXPECT_EQ(all, static_cast<std::size_t>(kRecords));
  EXPECT_LE(most, kRecordsPerActivation<int>);
}

}  // namespace
}  // namespace leat::dataflow
