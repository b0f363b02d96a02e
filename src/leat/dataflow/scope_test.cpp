// Scopes within scopes, loops, and times of all kinds.
#include <leat/dataflow/scope.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
using Pair = progress::Product<std::uint64_t, std::uint64_t>;
using Ints = std::vector<int>;
using Records = std::vector<std::pair<Time, int>>;

// --- regions

TEST(Scope, ARegionHasTheTimesOfItsParent) {
  World world;
  Input<int> input;
  Records out;
  Probe<> inside;
  Probe<> after;
  world[0].dataflow([&](auto& scope) {
    EXPECT_EQ(scope.name(), "dataflow");
    EXPECT_EQ(scope.index(), 0u);
    EXPECT_EQ(scope.peers(), 1u);
    auto stream = scope.input(input);
    auto left = scope.region("inner", [&](auto& inner) {
      EXPECT_EQ(inner.name(), "inner");
      return stream | enter(inner) | map([](int x) { return 2 * x; }) | probe(inside) |
             leave(scope);
    });
    left | inspect_time([&](Time time, int x) { out.emplace_back(time, x); }) | probe(after);
  });
  for (Time time = 0; time < 3; ++time) {
    input.send(static_cast<int>(time));
    input.advance_to(time + 1);
    world.steps();
    EXPECT_EQ(listed(inside.frontier()), std::vector<Time>{time + 1});
    EXPECT_EQ(listed(after.frontier()), std::vector<Time>{time + 1});
  }
  EXPECT_EQ(out, (Records{{0, 0}, {1, 2}, {2, 4}}));
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(Scope, RegionsWithoutOperatorsDoNotHang) {
  core::Config config;
  config.workers = 3;
  auto outcome = execute(config, [](Worker& worker) {
    Input<int> input;
    Probe<> probed;
    std::size_t got = 0;
    worker.dataflow([&](auto& scope) {
      auto stream = scope.input(input);
      auto left = scope.region("outer", [&](auto& outer) {
        auto entered = stream | enter(outer);
        return outer.region("inner", [&](auto& inner) {
          return entered | enter(inner) | leave(outer);
        }) | leave(scope);
      });
      left | exchange(hash) | inspect([&](int) { ++got; }) | probe(probed);
    });
    for (int round = 0; round < 10; ++round) {
      input.send(round);
      input.advance_to(static_cast<Time>(round) + 1);
      worker.step_or_park_while([&] { return probed.less_than(input.time()); });
    }
    input.close();
    worker.step_or_park_while([&] { return worker.has_dataflows(); });
    return got;
  });
  ASSERT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.value(0) + outcome.value(1) + outcome.value(2), 30u);
}

TEST(Scope, RegionsWithoutOperatorsPassTimesOn) {
  for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
    World world(2, mode);
    std::vector<Input<int>> inputs(2);
    std::vector<Probe<>> probes(2);
    for (std::size_t index = 0; index < 2; ++index) {
      world[index].dataflow([&](auto& scope) {
        auto stream = scope.input(inputs[index]);
        scope.region("nothing", [](auto&) {});
        scope.region("dead end", [&](auto& inner) { stream | enter(inner); });
        auto left = scope.region("pass", [&](auto& inner) {
          auto entered = stream | enter(inner);
          return std::pair(entered | leave(scope), entered | leave(scope));
        });
        left.first | concat(left.second) | probe(probes[index]);
      });
    }
    for (Time time = 1; time < 4; ++time) {
      for (auto& input : inputs) {
        input.send(1);
        input.advance_to(time);
      }
      world.steps(40);
      EXPECT_EQ(listed(probes[0].frontier()), std::vector<Time>{time});
      EXPECT_EQ(listed(probes[1].frontier()), std::vector<Time>{time});
    }
    inputs.clear();
    EXPECT_TRUE(world.ends());
  }
}

TEST(Scope, WhatLeavesAScopeMayEnterAnother) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  std::size_t got = 0;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto first = scope.iterative("first", [&, stream = scope.input(inputs[index])](auto& inner) {
        return stream | enter(inner) | exchange([](int x) { return x; }) | leave(scope);
      });
      auto second = scope.region("second", [&](auto& inner) {
        return first | enter(inner) | exchange([](int x) { return x + 1; }) | leave(scope);
      });
      second | inspect([&](int) { ++got; });
    });
  }
  for (int x = 0; x < 20; ++x) inputs[0].send(x);
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, 20u);
}

// --- loops

// Halving evens and tripling odds leads to 1.
int next_of(int x) { return x % 2 == 0 ? x / 2 : 3 * x + 1; }
int rounds_of(int x) {
  int rounds = 0;
  for (; x != 1; x = next_of(x)) ++rounds;
  return rounds;
}

TEST(Feedback, MovesRecordsOnByItsSummary) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
      World world(peers, mode);
      std::vector<Input<int>> inputs(peers);
      std::vector<std::pair<Time, Time>> ended;  // when it came, in which round it ended
      for (std::size_t index = 0; index < peers; ++index) {
        world[index].dataflow([&](auto& scope) {
          auto stream = scope.input(inputs[index]);
          scope.iterative("loop", [&](auto& inner) {
            auto [handle, loop] = loop_variable<int>(inner, 1);
            auto [one, others] = stream | enter(inner) | concat(loop) |
                                 exchange([](int x) { return x; }) |
                                 branch([](const Pair&, int x) { return x != 1; });
            others | map(next_of) | connect_loop(std::move(handle));
            one | inspect_time(
                      [&](const Pair& time, int) { ended.emplace_back(time.outer, time.inner); });
          });
        });
      }
      std::vector<std::pair<Time, Time>> expected;
      for (int x = 1; x < 30; ++x) {
        const auto time = static_cast<Time>(x / 10);
        for (auto& input : inputs) input.advance_to(time);
        inputs[static_cast<std::size_t>(x) % peers].send(x);
        expected.emplace_back(time, static_cast<Time>(rounds_of(x)));
      }
      inputs.clear();
      EXPECT_TRUE(world.ends(100'000));
      std::sort(ended.begin(), ended.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(ended, expected);
    }
  }
}

TEST(Feedback, MayBeInTheOutermostScope) {
  World world;
  Records out;
  world[0].dataflow([&](auto& scope) {
    auto [handle, loop] = feedback<int>(scope, 3);
    auto all = to_stream(scope, Ints{4}) | concat(loop) |
               inspect_time([&](Time time, int x) { out.emplace_back(time, x); });
    all | map([](int x) { return x - 1; }) | filter([](int x) { return x > 0; }) |
        connect_loop(std::move(handle));
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, (Records{{0, 4}, {3, 3}, {6, 2}, {9, 1}}));
}

TEST(Feedback, IsBoundedByBranchWhen) {
  World world;
  std::size_t rounds = 0;
  world[0].dataflow([&](auto& scope) {
    scope.iterative("loop", [&](auto& inner) {
      auto [handle, loop] = loop_variable<int>(inner, 1);
      auto entered = to_stream(scope, Ints{7}) | enter(inner);
      auto all = entered | concat(loop) | inspect([&](int) { ++rounds; });
      auto bounded = all | branch_when([](const Pair& time) { return time.inner >= 99; });
      bounded.if_false | connect_loop(std::move(handle));
    });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(rounds, 100u);
}

TEST(Feedback, LosesWhatCannotBeAdvancedAnyMore) {
  World world;
  std::vector<std::uint8_t> rounds;
  Probe<> after;
  world[0].dataflow([&](auto& scope) {
    scope.template iterative<std::uint8_t>("loop", [&](auto& inner) {
      auto [handle, loop] = loop_variable<int>(inner, std::uint8_t{100});
      auto entered = to_stream(scope, Ints{7}) | enter(inner);
      auto all = entered | concat(loop) |
                 inspect_time([&](const auto& time, int) { rounds.push_back(time.inner); });
      all | connect_loop(std::move(handle));
      return all | leave(scope);
    }) | probe(after);
  });
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(after.done());
  EXPECT_EQ(rounds, (std::vector<std::uint8_t>{0, 100, 200}));
}

TEST(Feedback, LoopsMayBeNestedInLoops) {
  for (std::size_t peers = 1; peers <= 2; ++peers) {
    World world(peers);
    std::size_t passes = 0;
    std::size_t out = 0;
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        auto start = to_stream(scope, Ints{0});
        auto left = scope.iterative("outer", [&](auto& outer) {
          auto [outer_handle, outer_loop] = loop_variable<int>(outer, 1);
          auto into = start | enter(outer) | concat(outer_loop);
          auto from = outer.iterative("inner", [&](auto& inner) {
            using Deep = progress::Product<Pair, std::uint64_t>;
            auto [inner_handle, inner_loop] = loop_variable<int>(inner, 1);
            auto [again, done] =
                into | enter(inner) | concat(inner_loop) | exchange([](int x) { return x; }) |
                map([](int x) { return x + 1; }) | inspect([&](int) { ++passes; }) |
                branch([](const Deep& time, int) { return time.inner == 4; });
            again | connect_loop(std::move(inner_handle));
            return done | leave(outer);
          });
          auto [again, done] = from | branch([](const Pair& time, int) { return time.inner == 2; });
          again | connect_loop(std::move(outer_handle));
          return done | leave(scope);
        });
        left | inspect([&](int x) {
          ++out;
          EXPECT_EQ(x, 15);
        });
      });
    }
    EXPECT_TRUE(world.ends(100'000));
    EXPECT_EQ(out, peers);
    EXPECT_EQ(passes, 15 * peers);
  }
}

// --- misuse of loops

TEST(Feedback, ThatIsNotConnectedIsRefused) {
  World world;
  int line = 0;
  const auto said = usage_error([&] {
    world[0].dataflow([&](auto& scope) {
      line = __LINE__ + 1;
      auto loop = feedback<int>(scope, 1);
      loop.stream | inspect([](int) {});
    });
  });
  EXPECT_TRUE(says(said, {place("feedback", line), "without a connection", "connect_loop"}));
}

TEST(Feedback, ThatIsNotConnectedInAnInnerScopeIsRefused) {
  World world;
  int line = 0;
  const auto said = usage_error([&] {
    world[0].dataflow([&](auto& scope) {
      scope.iterative("loop", [&](auto& inner) {
        line = __LINE__ + 1;
        (void)loop_variable<int>(inner, 1);
      });
    });
  });
  EXPECT_TRUE(says(said, {place("feedback", line), "without a connection"}));
}

TEST(Feedback, ThatDoesNotAdvanceTimeIsRefused) {
  World world;
  int line = 0;
  const auto said = usage_error([&] {
    world[0].dataflow([&](auto& scope) {
      line = __LINE__ + 1;
      auto loop = feedback<int>(scope, 0);
      auto again = to_stream(scope, Ints{1}) | concat(loop.stream) |
                   map([](int x) { return x; }).named("again");
      again | connect_loop(std::move(loop.handle));
    });
  });
  EXPECT_TRUE(says(said, {"(scope_test.cpp:", "a loop that advances time", "\"again\"",
                          "\"feedback\"", "\"concat\"", "a summary"}));
}

TEST(Feedback, ThatDoesNotAdvanceTimeThroughAnInnerScopeIsRefused) {
  World world;
  const auto said = usage_error([&] {
    world[0].dataflow([&](auto& scope) {
      auto loop = feedback<int>(scope, 0);
      auto left = scope.iterative("rounds", [&](auto& inner) {
        auto round = loop_variable<int>(inner, 1);
        auto entered = loop.stream | enter(inner) | concat(round.stream);
        entered | connect_loop(std::move(round.handle));
        return entered | leave(scope);
      });
      left | connect_loop(std::move(loop.handle));
    });
  });
  EXPECT_TRUE(says(said, {"a loop that advances time", "\"rounds\"", "\"feedback\""}));
}

// --- misuse of scopes and streams

TEST(Stream, OfAnotherScopeIsRefused) {
  World world;
  int line = 0;
  const auto said = usage_error([&] {
    world[0].dataflow_named("mine", [&](auto& scope) {
      auto numbers = to_stream(scope, Ints{1});
      scope.region("inner", [&](auto& inner) {
        auto mine = to_stream(inner, Ints{2});
        line = __LINE__ + 1;
        (void)concatenate(inner, std::vector<StreamOf<Time, int>>{mine, numbers});
      });
    });
  });
  EXPECT_TRUE(says(said, {place("concatenate", line), "a stream of scope \"inner\"",
                          "a stream of scope \"mine\"", "enter"}));
}

TEST(Stream, IsRefusedAfterItsScopeWasBuilt) {
  World world;
  std::optional<StreamOf<Time, int>> kept;
  std::optional<StreamOf<Time, int>> inner_kept;
  world[0].dataflow([&](auto& scope) {
    kept = to_stream(scope, Ints{1});
    scope.region("inner", [&](auto& inner) { inner_kept = to_stream(inner, Ints{1}); });
    const int line = __LINE__ + 1;
    auto looks = inspect([](int) {});
    EXPECT_TRUE(says(usage_error([&] { *inner_kept | std::move(looks); }),
                     {place("inspect", line), "scope \"inner\"", "is built already"}));
    EXPECT_TRUE(
        says(usage_error([&] { *inner_kept | leave(scope); }), {"\"leave\"", "is built already"}));
  });
  const int line = __LINE__ + 1;
  auto looks = inspect([](int) {});
  EXPECT_TRUE(says(usage_error([&] { *kept | std::move(looks); }),
                   {place("inspect", line), "scope \"dataflow\"", "is built already"}));
  EXPECT_TRUE(world.ends());
}

TEST(Stream, IsRefusedAfterItsScopeFailedToBuild) {
  World world;
  std::optional<StreamOf<Time, int>> kept;
  std::optional<StreamOf<Time, int>> inner_kept;
  Input<int> input;
  EXPECT_THROW(world[0].dataflow([&](auto& scope) {
    kept = scope.input(input);
    scope.region("inner", [&](auto& inner) {
      inner_kept = *kept | enter(inner);
      throw std::runtime_error("not today");
    });
  }),
               std::runtime_error);
  EXPECT_TRUE(says(usage_error([&] { *kept | inspect([](int) {}); }), {"is built already"}));
  EXPECT_TRUE(says(usage_error([&] { *inner_kept | inspect([](int) {}); }), {"is built already"}));
  input.send(1);
  input.advance_to(3);
  EXPECT_FALSE(world[0].has_dataflows());
  Records out;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | inspect_time([&](Time time, int x) { out.emplace_back(time, x); });
  });
  input.send(2);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, (Records{{3, 2}}));
}

TEST(Enter, IntoAScopeThatIsNotAChildIsRefused) {
  World world;
  const auto said = usage_error([&] {
    world[0].dataflow_named("root", [&](auto& scope) {
      auto numbers = to_stream(scope, Ints{1});
      scope.region("child", [&](auto& child) {
        child.region("grandchild", [&](auto& grandchild) { numbers | enter(grandchild); });
      });
    });
  });
  EXPECT_TRUE(says(
      said, {"\"enter\"", "\"root\"", "\"grandchild\"", "not its child", "one scope at a time"}));
}

TEST(Leave, IntoAScopeThatIsNotTheParentIsRefused) {
  World world;
  const auto said = usage_error([&] {
    world[0].dataflow_named("root", [&](auto& scope) {
      scope.region("child", [&](auto& child) {
        child.region("grandchild",
                     [&](auto& grandchild) { to_stream(grandchild, Ints{1}) | leave(scope); });
      });
    });
  });
  EXPECT_TRUE(says(said, {"\"leave\"", "\"root\"", "\"grandchild\"", "not its child"}));
}

// --- times

TEST(Times, MayBeDurations) {
  using namespace std::chrono_literals;
  using Millis = std::chrono::milliseconds;
  World world;
  Input<int, Millis> input;
  Probe<Millis> probed;
  std::vector<std::pair<Millis, int>> out;
  world[0].dataflow<Millis>([&](auto& scope) {
    scope.input(input) | delay([](int, Millis time) { return time + 5ms; }) |
        inspect_time([&](Millis time, int x) { out.emplace_back(time, x); }) | probe(probed);
  });
  EXPECT_EQ(input.time(), 0ms);
  input.send(1);
  input.advance_to(10ms);
  world.steps();
  EXPECT_EQ(out, (std::vector<std::pair<Millis, int>>{{5ms, 1}}));
  EXPECT_TRUE(probed.less_equal(10ms));
  EXPECT_FALSE(probed.less_than(10ms));
  EXPECT_TRUE(says(usage_error([&] { input.advance_to(9ms); }), {"to time 9", "time of 10"}));
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(Times, MayBePairsAndSignedNumbers) {
  using Version = std::pair<std::int32_t, std::uint16_t>;
  World world(2);
  std::vector<Input<int, Version>> inputs(2);
  std::vector<std::pair<Version, int>> out;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow<Version>([&](auto& scope) {
      scope.input(inputs[index]) | exchange([](int) { return 0; }) | count() |
          inspect_time([&](const Version& time, std::size_t n) {
            out.emplace_back(time, static_cast<int>(n));
          });
    });
  }
  for (const Version& time : {Version{-1, 7}, Version{0, 0}, Version{0, 1}}) {
    for (auto& input : inputs) {
      input.advance_to(time);
      input.send(1);
    }
  }
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, (std::vector<std::pair<Version, int>>{{{-1, 7}, 2}, {{0, 0}, 2}, {{0, 1}, 2}}));
}

TEST(Times, MayBeNoneAtAll) {
  using progress::Unit;
  World world;
  Input<int, Unit> input;
  Probe<Unit> probed;
  Ints out;
  world[0].dataflow<Unit>([&](auto& scope) {
    auto counted = scope.input(input) | count();
    scope.template scoped<Time>("times", [&, stream = counted](auto& inner) {
      stream | enter(inner) | inspect_time([&](Time time, std::size_t n) {
        EXPECT_EQ(time, 0u);
        out.push_back(static_cast<int>(n));
      });
    });
    counted | probe(probed);
  });
  input.send_batch({1, 2, 3});
  world.steps();
  EXPECT_TRUE(out.empty());
  EXPECT_FALSE(probed.done());
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, Ints{3});
}

TEST(Times, ARoundMayBePartOfAPair) {
  using Ordered = std::pair<Time, std::uint32_t>;
  World world(2);
  std::vector<Input<int>> inputs(2);
  std::vector<Ordered> rounds;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto stream = scope.input(inputs[index]);
      scope.template scoped<Ordered>("loop", [&](auto& inner) {
        auto [handle, loop] = feedback<int>(inner, Ordered{0, 1});
        auto all = stream | enter(inner) | concat(loop) | exchange([](int x) { return x; });
        all | map([](int x) { return x - 1; }) | filter([](int x) { return x >= 0; }) |
            connect_loop(std::move(handle));
        all | inspect_time([&](const Ordered& time, int) { rounds.push_back(time); });
      });
    });
  }
  inputs[0].send(2);
  inputs[0].advance_to(1);
  inputs[0].send(1);
  inputs.clear();
  EXPECT_TRUE(world.ends());
  std::sort(rounds.begin(), rounds.end());
  EXPECT_EQ(rounds, (std::vector<Ordered>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}}));
}

TEST(Times, AMessageAtSeveralTimesMayLeaveItsScope) {
  World world(2);
  std::size_t got = 0;
  std::vector<Probe<>> probes(2);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto left = scope.iterative("inner", [&](auto& inner) {
        return source<int>(inner, "two times",
                           [](Capability<Pair> capability, const OperatorInfo&) {
                             return [capability = std::move(capability)](auto& output) mutable {
                               if (!capability) return;
                               CapabilitySet<Pair> set;
                               set.insert(capability.delayed({1, 0}));
                               set.insert(capability.delayed({0, 1}));
                               output.session(set).give(7);
                               capability.release();
                             };
                           }) |
               leave(scope);
      });
      left | sink(exchange_by([](int) { return 0; }), "takes", [&](auto& in) {
        in.for_each([&](auto& message) { got += message.records().size(); });
      });
      left | probe(probes[index]);
    });
  }
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, 2u);
  EXPECT_TRUE(probes[0].done());
}

// --- batches of one's own

// Numbers, and their sum kept along.
struct Summed {
  using value_type = int;
  Ints numbers;
  long sum = 0;
  [[nodiscard]] std::size_t size() const { return numbers.size(); }
  void clear() {
    numbers.clear();
    sum = 0;
  }
  void push_back(int x) {
    numbers.push_back(x);
    sum += x;
  }
  auto begin() { return numbers.begin(); }
  auto end() { return numbers.end(); }
};

TEST(Container, MayBeAnAuthorsOwn) {
  for (std::size_t peers = 1; peers <= 2; ++peers) {
    World world(peers);
    long sum = 0;
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        OperatorBuilder<Time> builder(scope.state(), "makes");
        auto [port, stream] = builder.template new_output<Summed>();
        builder.build([&](std::vector<Capability<Time>> capabilities) {
          return [output = std::move(port), capabilities = std::move(capabilities)]() mutable {
            if (capabilities.empty()) return;
            {
              auto session = output.session(capabilities[0]);
              for (int x = 0; x < 10; ++x) session.give(x);
            }
            capabilities.clear();
          };
        });
        stream | sink(exchange_by([](int x) { return x; }), "takes", [&](auto& in) {
          in.for_each([&](auto& message) { sum += message.records().sum; });
        });
      });
    }
    EXPECT_TRUE(world.ends());
    EXPECT_EQ(sum, 45 * static_cast<long>(peers));
  }
}

TEST(Stream, OfBatchesThatCannotBeCopiedHasOneConsumer) {
  World world;
  Ints out;
  world[0].dataflow([&](auto& scope) {
    std::vector<std::unique_ptr<int>> owned;
    owned.push_back(std::make_unique<int>(5));
    auto stream = to_stream(scope, std::move(owned));
    std::move(stream) | inspect([&](const auto& x) { out.push_back(*x); });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, Ints{5});
}

// --- many ports

TEST(Scaling, AnOperatorWithManyPortsPairwiseLinked) {
  static constexpr std::uint32_t kPorts = 5'000;
  World world;
  std::size_t got = 0;
  Probe<> probed;
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "wide");
    std::vector<InputPort<Time, Ints>> ins;
    std::vector<OutputPort<Time, Ints>> outs;
    std::vector<StreamOf<Time, int>> streams;
    auto numbers = to_stream(scope, Ints{1});
    for (std::uint32_t port = 0; port < kPorts; ++port) {
      ins.push_back(builder.new_input(numbers, pipeline, {LinkTo<Time>{port, 0}}));
    }
    for (std::uint32_t port = 0; port < kPorts; ++port) {
      auto [out, stream] = builder.template new_output<Ints>(std::vector<LinkTo<Time>>{});
      outs.push_back(std::move(out));
      streams.push_back(std::move(stream));
    }
    builder.build([&](auto) {
      return [ins = std::move(ins), outs = std::move(outs)]() mutable {
        for (std::size_t port = 0; port < kPorts; ++port) {
          ins[port].for_each(
              [&](auto& message) { outs[port].session(message).give_batch(message.records()); });
        }
      };
    });
    concatenate(scope, std::move(streams)) | inspect([&](int) { ++got; }) | probe(probed);
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, kPorts);
  EXPECT_TRUE(probed.done());
}

TEST(Scaling, ARegionWithManyEdgesThatPassThrough) {
  constexpr std::size_t kEdges = 2'000;
  World world;
  std::size_t got = 0;
  world[0].dataflow([&](auto& scope) {
    auto numbers = to_stream(scope, Ints{1});
    auto left = scope.region("wide", [&](auto& inner) {
      std::vector<StreamOf<Time, int>> streams;
      for (std::size_t edge = 0; edge < kEdges; ++edge) {
        streams.push_back(numbers | enter(inner) | leave(scope));
      }
      return streams;
    });
    concatenate(scope, std::move(left)) | inspect([&](int) { ++got; });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, kEdges);
}

TEST(Scaling, AChainOfManyOperators) {
  World world;
  int got = 0;
  world[0].dataflow([&](auto& scope) {
    auto stream = to_stream(scope, Ints{0});
    for (int i = 0; i < 2'000; ++i) stream = stream | map([](int x) { return x + 1; });
    stream | inspect([&](int x) { got = x; });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, 2'000);
}

}  // namespace
}  // namespace leat::dataflow
