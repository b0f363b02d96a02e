// Moving records: pacts between workers, exchange and broadcast; concat, branch, partition and ok_err
// within one.
#include <leat/dataflow/operators/routing.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::place;
using test::says;
using test::usage_error;
using test::World;

using Time = std::uint64_t;
using Ints = std::vector<int>;

// Workers with an input each; where records come out, by worker.
struct Flow {
  World world;
  std::vector<Input<int>> inputs;
  std::vector<Ints> out;

  template <class Build>
  Flow(std::size_t peers, Build build) : world(peers), inputs(peers), out(peers) {
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        build(scope.input(inputs[index])) |
            inspect([this, index](int x) { out[index].push_back(x); });
      });
    }
  }
  // Gives every worker the numbers below `n`, two times long.
  void feed(int n) {
    for (Time time = 0; time < 2; ++time) {
      for (auto& input : inputs) {
        for (int x = 0; x < n; ++x) input.send(x);
        input.advance_to(time + 1);
      }
    }
    inputs.clear();
    EXPECT_TRUE(world.ends());
  }
};

// --- exchange

TEST(Exchange, BringsEachRecordToItsWorkerAndLosesNone) {
  for (std::size_t peers = 1; peers <= 4; ++peers) {
    Flow flow(peers,
              [](auto stream) { return std::move(stream) | exchange([](int x) { return x; }); });
    flow.feed(100);
    std::size_t all = 0;
    for (std::size_t index = 0; index < peers; ++index) {
      all += flow.out[index].size();
      for (const int x : flow.out[index]) EXPECT_EQ(static_cast<std::size_t>(x) % peers, index);
    }
    EXPECT_EQ(all, 200 * peers);
  }
}

TEST(Exchange, TakesRoutesOfAnyIntegerType) {
  Flow flow(2, [](auto stream) {
    return std::move(stream) | exchange([](int x) { return static_cast<std::uint8_t>(x); });
  });
  flow.feed(4);
  std::sort(flow.out[1].begin(), flow.out[1].end());
  EXPECT_EQ(flow.out[1], (Ints{1, 1, 1, 1, 3, 3, 3, 3}));
}

TEST(Exchange, KeepsTheOrderFromOneWorkerToAnother) {
  Flow flow(2, [](auto stream) { return std::move(stream) | exchange([](int) { return 1; }); });
  for (int x = 0; x < 10'000; ++x) flow.inputs[0].send(x);
  flow.inputs.clear();
  EXPECT_TRUE(flow.world.ends());
  ASSERT_EQ(flow.out[1].size(), 10'000u);
  EXPECT_TRUE(std::is_sorted(flow.out[1].begin(), flow.out[1].end()));
}

TEST(Exchange, MovesRecordsThatCannotBeCopied) {
  World world(2);
  std::vector<Input<std::unique_ptr<int>>> inputs(2);
  int sum = 0;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      scope.input(inputs[index]) | exchange([](const std::unique_ptr<int>& x) { return *x; }) |
          inspect([&](const std::unique_ptr<int>& x) { sum += *x; });
    });
  }
  for (int x = 0; x < 10; ++x) inputs[0].send(std::make_unique<int>(x));
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(sum, 45);
}

TEST(Exchange, SpreadsByHash) {
  Flow flow(2, [](auto stream) {
    return std::move(stream) | map([](int x) { return 2 * x; }) | exchange(hash);
  });
  flow.feed(1000);
  EXPECT_GT(flow.out[0].size(), 1500u);
  EXPECT_GT(flow.out[1].size(), 1500u);
}

TEST(Hash, IsTheSameForEqualValuesAndForAllTextTypes) {
  EXPECT_EQ(hash(std::string("ab")), hash("ab"));
  EXPECT_EQ(hash(std::pair(1, std::string("x"))), hash(std::pair(1, std::string("x"))));
  EXPECT_NE(hash(std::pair(1, 2)), hash(std::pair(2, 1)));
  EXPECT_NE(hash(std::tuple(1, 2, 3)), hash(std::tuple(1, 2, 4)));
  EXPECT_NE(hash(0), hash(1));
}

// --- empty batches

TEST(Exchange, EmptyBatchesBeforeFullOnesDoNotStopAnything) {
  for (std::size_t peers = 1; peers <= 2; ++peers) {
    World world(peers);
    std::vector<Probe<>> probes(peers);
    std::size_t records = 0;
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        to_stream(scope, Ints{1, 2, 3, 4, 5}) |
            unary<int>(pipeline, "empties",
                       [](auto, const OperatorInfo&) {
                         return [](auto& input, auto& output) {
                           input.for_each([&](auto& message) {
                             for (int x : message.records()) {
                               auto session = output.session(message);
                               Ints empty;
                               session.give_batch(empty);
                               Ints full{x};
                               session.give_batch(full);
                             }
                           });
                         };
                       }) |
            exchange([](int x) { return x; }) | inspect([&](int) { ++records; }) |
            probe(probes[index]);
      });
    }
    EXPECT_TRUE(world.ends());
    EXPECT_EQ(records, 5 * peers);
    for (const auto& probed : probes) EXPECT_TRUE(probed.done());
  }
}

// --- distributors

TEST(DistributeBy, GivesEachRecordToTheWorkerThatTheDistributorNames) {
  Flow flow(3, [](auto stream) {
    return std::move(stream) |
           unary<int>(distribute_by([turn = std::size_t{0}](Ints& batch, auto give) mutable {
                        for (const int x : batch) give(turn++ % 3, x);
                      }),
                      "deal", [](auto, const OperatorInfo&) {
                        return [](auto& input, auto& output) {
                          input.for_each([&](auto& message) {
                            output.session(message).give_batch(message.records());
                          });
                        };
                      });
  });
  flow.feed(30);
  for (const auto& out : flow.out) EXPECT_EQ(out.size(), 60u);
}

template <class Distributor>
std::string distribute(int& line, Distributor distributor) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      line = __LINE__ + 1;
      auto taking = sink(distribute_by(distributor), "takes", [](auto&) {});
      scope.input(inputs[index]) | map([](int x) { return x; }) | std::move(taking);
    });
  }
  inputs[0].send_batch({1, 2, 3});
  return usage_error([&] { world.steps(); });
}

TEST(DistributeBy, RefusesToDropAndToDuplicateAndWorkersThatAreNone) {
  int line = 0;
  auto said = distribute(line, [](Ints& batch, auto give) { give(0, batch.front()); });
  EXPECT_TRUE(says(said, {place("takes", line), "each of 3 records", "1 given"}));
  said = distribute(line, [](Ints& batch, auto give) {
    for (const int x : batch) {
      give(0, x);
      give(1, x);
    }
  });
  EXPECT_TRUE(says(said, {place("takes", line), "each of 3 records", "6 given"}));
  said = distribute(line, [](Ints& batch, auto give) {
    for (const int x : batch) give(2, x);
  });
  EXPECT_TRUE(says(said, {place("takes", line), "worker 2", "2 workers"}));
}

// --- what may travel

struct Stays {
  using leat_stays_on_its_worker = void;
};
template <class T>
struct Holder {
  using leat_stays_on_its_worker = void;
};
struct Counted : LocalCounted<Counted> {};

TEST(Sendable, FollowsWhatATypeHolds) {
  static_assert(Sendable<int>);
  static_assert(Sendable<std::string>);
  static_assert(Sendable<std::unique_ptr<int>>);
  static_assert(Sendable<std::shared_ptr<int>>);
  static_assert(!Sendable<LocalPtr<Counted>>);
  static_assert(!Sendable<const LocalPtr<Counted>>);
  static_assert(!Sendable<std::pair<int, LocalPtr<Counted>>>);
  static_assert(!Sendable<std::vector<std::pair<LocalPtr<Counted>, int>>>);
  static_assert(!Sendable<std::array<LocalPtr<Counted>, 2>>);
  static_assert(!Sendable<Stays>);
  static_assert(!Sendable<std::vector<Stays>>);
  static_assert(!Sendable<Holder<int>>);
}

TEST(Sendable, WhatBelongsToAWorkerStaysThere) {
  static_assert(!Sendable<Capability<Time>>);
  static_assert(!Sendable<CapabilitySet<Time>>);
  static_assert(!Sendable<Received<Time, Ints>>);
  static_assert(!Sendable<Input<int>>);
  static_assert(!Sendable<Probe<>>);
  static_assert(!Sendable<Activator>);
}

TEST(Copyable, AsksForTheElementsToo) {
  static_assert(Copyable<int>);
  static_assert(Copyable<std::vector<std::string>>);
  static_assert(Copyable<std::map<int, std::string>>);
  static_assert(!Copyable<std::unique_ptr<int>>);
  static_assert(!Copyable<std::vector<std::unique_ptr<int>>>);
  static_assert(!Copyable<std::vector<std::vector<std::unique_ptr<int>>>>);
  static_assert(!Copyable<std::pair<int, std::vector<std::unique_ptr<int>>>>);
  static_assert(std::is_copy_constructible_v<StreamOf<Time, int>>);
  static_assert(!std::is_copy_constructible_v<StreamOf<Time, std::unique_ptr<int>>>);
}

// --- broadcast

TEST(Broadcast, BringsEachRecordToEveryWorkerOnce) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    Flow flow(peers, [](auto stream) { return std::move(stream) | broadcast(); });
    flow.feed(10);
    for (auto& out : flow.out) {
      std::sort(out.begin(), out.end());
      Ints expected;
      for (int x = 0; x < 10; ++x) expected.insert(expected.end(), 2 * peers, x);
      EXPECT_EQ(out, expected);
    }
  }
}

// --- several streams into one

TEST(Concat, HasTheRecordsOfBothWithoutCopyingBatches) {
  World world;
  Input<int> left;
  Input<int> right;
  std::set<const int*> before;
  std::set<const int*> after;
  Ints out;
  world[0].dataflow([&](auto& scope) {
    const auto note = [&](std::set<const int*>& where) {
      return inspect_batch([&where](Time, const Ints& batch) { where.insert(batch.data()); });
    };
    auto other = scope.input(right) | note(before);
    scope.input(left) | note(before) | concat(other) | note(after) |
        inspect([&](int x) { out.push_back(x); });
  });
  left.send_batch({1, 2});
  right.send_batch({3});
  left.close();
  right.close();
  EXPECT_TRUE(world.ends());
  std::sort(out.begin(), out.end());
  EXPECT_EQ(out, (Ints{1, 2, 3}));
  EXPECT_EQ(before, after);
}

TEST(Concatenate, HasTheRecordsOfAnyNumberOfStreams) {
  for (const int n : {0, 1, 7}) {
    World world;
    Ints out;
    Probe<> probed;
    world[0].dataflow([&](auto& scope) {
      std::vector<StreamOf<Time, int>> streams;
      for (int i = 0; i < n; ++i) streams.push_back(to_stream(scope, Ints{i}));
      concatenate(scope, std::move(streams)) | inspect([&](int x) { out.push_back(x); }) |
          probe(probed);
    });
    EXPECT_TRUE(world.ends());
    EXPECT_TRUE(probed.done());
    std::sort(out.begin(), out.end());
    Ints expected(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] = i;
    EXPECT_EQ(out, expected);
  }
}

TEST(Concat, TakesRecordsThatCannotBeCopied) {
  World world;
  int sum = 0;
  world[0].dataflow([&](auto& scope) {
    const auto owned = [&](int x) {
      std::vector<std::unique_ptr<int>> records;
      records.push_back(std::make_unique<int>(x));
      return to_stream(scope, std::move(records));
    };
    owned(1) | concat(owned(2)) | inspect([&](const auto& x) { sum += *x; });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(sum, 3);
}

// --- one stream into several

TEST(Branch, SplitsByTimeAndRecord) {
  World world;
  Input<int> input;
  Ints yes;
  Ints no;
  world[0].dataflow([&](auto& scope) {
    auto [if_false, if_true] =
        scope.input(input) | branch([](Time time, int x) { return static_cast<Time>(x) > time; });
    if_false | inspect([&](int x) { no.push_back(x); });
    if_true | inspect([&](int x) { yes.push_back(x); });
  });
  input.advance_to(2);
  input.send_batch({1, 2, 3, 4});
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(yes, (Ints{3, 4}));
  EXPECT_EQ(no, (Ints{1, 2}));
}

TEST(BranchWhen, SplitsWholeBatchesByTime) {
  World world;
  Input<int> input;
  std::vector<Ints> early;
  std::vector<Ints> late;
  world[0].dataflow([&](auto& scope) {
    auto [if_false, if_true] =
        scope.input(input) | branch_when([](Time time) { return time >= 1; });
    if_false | inspect_batch([&](Time, const Ints& batch) { early.push_back(batch); });
    if_true | inspect_batch([&](Time, const Ints& batch) { late.push_back(batch); });
  });
  input.send_batch({1, 2});
  input.advance_to(1);
  input.send_batch({3});
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(early, (std::vector<Ints>{{1, 2}}));
  EXPECT_EQ(late, (std::vector<Ints>{{3}}));
}

TEST(OkErr, SplitsByWhatTheFunctionMakesOfARecord) {
  World world;
  std::vector<std::unique_ptr<int>> even;
  std::vector<std::string> odd;
  world[0].dataflow([&](auto& scope) {
    auto [ok, err] = to_stream(scope, Ints{1, 2, 3}) |
                     ok_err([](int x) -> std::variant<std::unique_ptr<int>, std::string> {
                       if (x % 2 == 0) return std::make_unique<int>(x);
                       return std::to_string(x);
                     });
    std::move(ok) | inspect([&](const auto& x) { even.push_back(std::make_unique<int>(*x)); });
    err | inspect([&](const std::string& x) { odd.push_back(x); });
  });
  EXPECT_TRUE(world.ends());
  ASSERT_EQ(even.size(), 1u);
  EXPECT_EQ(*even[0], 2);
  EXPECT_EQ(odd, (std::vector<std::string>{"1", "3"}));
}

TEST(OkErr, MaySplitIntoTheSameTypeTwice) {
  World world;
  Ints left;
  Ints right;
  world[0].dataflow([&](auto& scope) {
    auto [ok, err] = to_stream(scope, Ints{1, 2, 3}) | ok_err([](int x) {
                       return x < 3 ? std::variant<int, int>(std::in_place_index<0>, x)
                                    : std::variant<int, int>(std::in_place_index<1>, x);
                     });
    ok | inspect([&](int x) { left.push_back(x); });
    err | inspect([&](int x) { right.push_back(x); });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(left, (Ints{1, 2}));
  EXPECT_EQ(right, Ints{3});
}

TEST(Partition, SplitsIntoAsManyStreamsAsAskedFor) {
  World world;
  std::map<std::size_t, std::vector<std::string>> parts;
  world[0].dataflow([&](auto& scope) {
    auto streams = to_stream(scope, Ints{0, 1, 2, 3, 4, 5, 6}) |
                   partition(3, [](int x) { return std::pair(x % 3, std::to_string(x)); });
    ASSERT_EQ(streams.size(), 3u);
    for (std::size_t part = 0; part < streams.size(); ++part) {
      streams[part] | inspect([&, part](const std::string& x) { parts[part].push_back(x); });
    }
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(parts[0], (std::vector<std::string>{"0", "3", "6"}));
  EXPECT_EQ(parts[1], (std::vector<std::string>{"1", "4"}));
  EXPECT_EQ(parts[2], (std::vector<std::string>{"2", "5"}));
}

TEST(Partition, RefusesAPartThatIsNotThere) {
  for (const int part : {3, -1}) {
    World world;
    int line = 0;
    world[0].dataflow([&](auto& scope) {
      line = __LINE__ + 1;
      auto split = partition(3, [part](int x) { return std::pair(part, x); });
      to_stream(scope, Ints{0}) | std::move(split);
    });
    EXPECT_TRUE(says(usage_error([&] { world.steps(); }),
                     {place("partition", line), "part " + std::to_string(part), "3 parts"}));
  }
}

// --- records that cannot be copied

using Owned = std::unique_ptr<int>;

TEST(Owned, PassesEveryOperatorThatMovesRecords) {
  World world(2);
  std::vector<Input<Owned>> inputs(2);
  std::vector<Probe<>> probes(2);
  std::multiset<int> out;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto stream = scope.input(inputs[index]) | filter([](const Owned& x) { return *x != 0; }) |
                    map_in_place([](Owned& x) { *x += 100; }) |
                    exchange([](const Owned& x) { return *x; }) | probe(probes[index]);
      auto looped = scope.iterative("loop", [&](auto& inner) {
        auto [handle, loop] = loop_variable<Owned>(inner, 1);
        auto [again, done] = std::move(stream) | enter(inner) | concat(std::move(loop)) |
                             branch([](const auto& time, const Owned&) { return time.inner == 3; });
        std::move(again) | connect_loop(std::move(handle));
        return std::move(done) | leave(scope);
      });
      auto [early, late] = std::move(looped) | branch_when([](Time time) { return time > 0; });
      auto parts = std::move(early) | concat(std::move(late)) |
                   partition(2, [](Owned x) { return std::pair(*x % 2, std::move(x)); });
      std::move(parts[0]) | concat(std::move(parts[1])) |
          map([](Owned x) { return std::pair(*x, std::move(x)); }) |
          aggregate<std::vector<Owned>>(
              [](int, Owned x, std::vector<Owned>& all) { all.push_back(std::move(x)); },
              [](int key, std::vector<Owned> all) {
                return std::pair(key, std::make_unique<std::size_t>(all.size()));
              }) |
          state_machine<int, Owned>([](int key, std::unique_ptr<std::size_t> n, int&) {
            Transition<Owned> transition;
            transition.emit.push_back(std::make_unique<int>(key + static_cast<int>(*n)));
            return transition;
          }) |
          inspect([&](const Owned& x) { out.insert(*x); });
    });
  }
  for (int x = 0; x < 5; ++x) {
    inputs[0].send(std::make_unique<int>(x));
    inputs[1].send(std::make_unique<int>(x));
  }
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, (std::multiset<int>{103, 104, 105, 106}));
  EXPECT_TRUE(probes[0].done());
}

// --- several consumers

TEST(Stream, GivesEachOfItsConsumersEverything) {
  World world(2);
  std::vector<Ints> out(3);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto numbers = to_stream(scope, Ints{1, 2, 3});
      numbers | map_in_place([](int& x) { x = 0; }) | inspect([&](int x) { out[0].push_back(x); });
      numbers | exchange([](int x) { return x; }) | inspect([&](int x) { out[1].push_back(x); });
      numbers | inspect([&](int x) { out[2].push_back(x); });
    });
  }
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out[0], Ints(6, 0));
  std::sort(out[1].begin(), out[1].end());
  EXPECT_EQ(out[1], (Ints{1, 1, 2, 2, 3, 3}));
  std::sort(out[2].begin(), out[2].end());
  EXPECT_EQ(out[2], (Ints{1, 1, 2, 2, 3, 3}));
}

TEST(Stream, MayHaveNoConsumer) {
  World world(2);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      to_stream(scope, Ints{1, 2, 3}) | exchange(hash);
      to_stream(scope, Ints{1}) | map([](int x) { return x; });
    });
  }
  EXPECT_TRUE(world.ends());
}

}  // namespace
}  // namespace leat::dataflow
