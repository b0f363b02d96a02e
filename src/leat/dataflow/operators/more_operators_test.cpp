// Chains of steps in one operator, streams of results, batches moved in time, sources that wait for a
// probe, messages by their time, and notifications that are asked for from the beginning.
#include <leat/dataflow/operators/chain.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/result.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::says;
using test::usage_error;
using test::World;

using Time = std::uint64_t;
using Ints = std::vector<int>;
using Records = std::vector<std::pair<Time, int>>;

/// What comes out of `op`, given `records` in one batch.
template <class R, class In, class Op>
std::vector<R> through(std::vector<In> records, Op op) {
  World world;
  Input<In> input;
  std::vector<R> out;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | std::move(op) | inspect([&](const R& record) { out.push_back(record); });
  });
  input.send_batch(records);
  input.close();
  EXPECT_TRUE(world.ends());
  return out;
}

// --- chains

TEST(Chain, EqualsItsStepsOneAfterTheOtherInOneOperator) {
  const auto half = [](int x) { return x / 2; };
  const auto odd = [](int x) { return x % 2 == 1; };
  const auto times = [](int x) { return Ints(static_cast<std::size_t>(x), x); };
  const auto text = [](int x) { return std::to_string(x); };
  Ints numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);

  std::vector<std::string> fused;
  std::vector<std::string> apart;
  World world;
  Input<int> input;
  world[0].dataflow([&](auto& scope) {
    const auto stream = scope.input(input);
    stream | chain().map(half).filter(odd).flat_map(times).map(text) |
        inspect([&](const std::string& x) { fused.push_back(x); });
    stream | map(half) | filter(odd) | flat_map(times) | map(text) |
        inspect([&](const std::string& x) { apart.push_back(x); });
  });
  EXPECT_EQ(world[0].sketch(0).nodes.size(), 1u + 1u + 2u + 5u);
  input.send_batch(numbers);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(fused, apart);
  EXPECT_GT(fused.size(), 100u);
}

TEST(Chain, OwnsAndMovesItsRecords) {
  const auto out =
      through<int>(Ints{3, 1, 2}, chain()
                                      .map([](int x) { return std::make_unique<int>(x); })
                                      .filter([](const std::unique_ptr<int>& x) { return *x != 1; })
                                      .flat_map([](std::unique_ptr<int> x) {
                                        std::vector<std::unique_ptr<int>> twice;
                                        twice.push_back(std::make_unique<int>(*x));
                                        twice.push_back(std::move(x));
                                        return twice;
                                      })
                                      .map([](std::unique_ptr<int> x) { return *x; })
                                      .named("owned"));
  EXPECT_EQ(out, (Ints{3, 3, 2, 2}));
}

TEST(Chain, StopsBetweenRecordsWhenItHasPutOutItsShare) {
  constexpr std::size_t kShare = kRecordsPerActivation<int>;
  World world;
  Input<int> input;
  std::size_t seen = 0;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | chain().flat_map([](int x) { return Ints(kShare / 2 + 1, x); }) |
        inspect_batch([&](Time, const Ints& batch) { seen += batch.size(); });
  });
  input.send_batch({0, 1, 2, 3, 4});
  std::size_t most = 0;
  while (seen < 5 * (kShare / 2 + 1)) {
    const std::size_t before = seen;
    world[0].step();
    most = std::max(most, seen - before);
  }
  EXPECT_LE(most, 2 * (kShare / 2 + 1));
  input.close();
  EXPECT_TRUE(world.ends());
}

// --- results

using Parsed = Result<int>;

std::vector<Parsed> parsed() { return {Parsed(1), Parsed(Error{"two"}), Parsed(3)}; }

TEST(Results, OkAndErrAreTheParts) {
  EXPECT_EQ((through<int>(parsed(), ok())), (Ints{1, 3}));
  EXPECT_EQ((through<Error>(parsed(), err())), (std::vector<Error>{{"two"}}));
}

TEST(Results, MapOkChangesValuesAndMapErrErrors) {
  const auto length = through<Result<std::string>>(
      parsed(), map_ok([](int x) { return std::string(static_cast<std::size_t>(x), 'x'); }));
  ASSERT_EQ(length.size(), 3u);
  EXPECT_EQ(length[0].value(), "x");
  EXPECT_EQ(length[1].error().message, "two");
  EXPECT_EQ(length[2].value(), "xxx");

  const auto loud =
      through<Parsed>(parsed(), map_err([](Error error) { return Error{error.message + "!"}; }));
  EXPECT_EQ(loud[0].value(), 1);
  EXPECT_EQ(loud[1].error().message, "two!");
}

TEST(Results, AndThenMayMakeErrorsOfValues) {
  const auto small = through<Parsed>(
      parsed(), and_then([](int x) { return x < 2 ? Parsed(10 * x) : Parsed(Error{"large"}); }));
  EXPECT_EQ(small[0].value(), 10);
  EXPECT_EQ(small[1].error().message, "two");
  EXPECT_EQ(small[2].error().message, "large");
}

TEST(Results, UnwrapOrElseMakesValuesOfErrors) {
  EXPECT_EQ((through<int>(parsed(), unwrap_or_else([](const Error& error) {
                            return static_cast<int>(error.message.size());
                          }))),
            (Ints{1, 3, 3}));
}

TEST(Results, MayBeVariantsWithErrorsOfAnyType) {
  using Either = std::variant<int, std::string>;
  const std::vector<Either> eithers{1, "two", 3};
  EXPECT_EQ((through<int>(eithers, ok())), (Ints{1, 3}));
  EXPECT_EQ((through<std::string>(eithers, err())), (std::vector<std::string>{"two"}));
  using Counts = std::variant<int, std::size_t>;
  EXPECT_EQ((through<Counts>(eithers, map_err([](const std::string& e) { return e.size(); }))),
            (std::vector<Counts>{1, std::size_t{3}, 3}));
  using Halves = std::variant<double, std::string>;
  EXPECT_EQ((through<Halves>(eithers, map_ok([](int x) { return x / 2.0; }))),
            (std::vector<Halves>{0.5, "two", 1.5}));
  EXPECT_EQ((through<Either>(eithers, and_then([](int x) {
                               return x == 1 ? Either(x) : Either(std::to_string(x));
                             }))),
            (std::vector<Either>{1, "two", "3"}));
  EXPECT_EQ((through<int>(eithers, unwrap_or_else([](const std::string&) { return 2; }))),
            (Ints{1, 2, 3}));
}

// --- batches moved in time

TEST(DelayBatch, MovesBatchesAsTheyAreAndReleasesThemWhenTheirTimeIsComplete) {
  World world;
  Input<int> input;
  std::vector<std::pair<Time, Ints>> seen;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | delay_batch([](Time time) { return time / 10 * 10 + 10; }) |
        inspect_batch([&](Time time, const Ints& batch) { seen.emplace_back(time, batch); });
  });
  input.send_batch({1, 2});
  input.advance_to(9);
  input.send_batch({3});
  input.advance_to(10);
  input.send_batch({4});
  world.steps();
  EXPECT_TRUE(seen.empty());
  input.advance_to(11);
  world.steps();
  EXPECT_EQ(seen, (std::vector<std::pair<Time, Ints>>{{10, {1, 2}}, {10, {3}}}));
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.back(), (std::pair<Time, Ints>{20, {4}}));
}

TEST(DelayBatch, RefusesAnEarlierTime) {
  World world;
  Input<int> input;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | delay_batch([](Time) { return Time{1}; }).named("back");
  });
  input.advance_to(2);
  input.send(1);
  input.flush();
  EXPECT_TRUE(says(usage_error([&] { world.steps(); }), {"\"back\"", "time 2", "to 1"}));
}

TEST(DelayTotal, MovesEachRecordToItsTime) {
  World world;
  Input<int> input;
  Records seen;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | delay_total([](int x, Time time) { return time + static_cast<Time>(x); }) |
        inspect_time([&](Time time, int x) { seen.emplace_back(time, x); });
  });
  input.send_batch({5, 0, 2});
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen, (Records{{0, 0}, {2, 2}, {5, 5}}));
}

// --- sources that wait for a probe

TEST(FlowControlled, AsksForMoreOnlyWhenWhatItGaveHasComeThrough) {
  World world;
  Probe<> probed;
  int asked = 0;
  Time current = 0;
  std::size_t under_way = 0;
  std::size_t most = 0;
  std::size_t seen = 0;
  std::optional<Capability<Time>> held;
  std::optional<Activator> holder;
  world[0].dataflow([&](auto& scope) {
    flow_controlled<int>(
        scope, "portions",
        [&](const Time& time) -> std::optional<Portion<int>> {
          EXPECT_EQ(time, current);
          if (++asked > 20) return std::nullopt;
          under_way += 10;
          most = std::max(most, under_way);
          return Portion<int>{.records = {{current, Ints(10, asked)}},
                              .lower_bound = current + 1,
                              .target = ++current};
        },
        probed) |
        unary<int>(pipeline, "holds",
                   [&](Capability<Time>, const OperatorInfo& info) {
                     holder = info.activation;
                     return [&](auto& in, auto& out) {
                       in.for_each([&](auto& message) {
                         if (message.time() == 5) held.emplace(message.retain());
                         out.session(message).give_batch(message.records());
                       });
                     };
                   }) |
        inspect([&](int) {
          --under_way;
          ++seen;
        }) |
        probe(probed);
  });
  world.steps(100);
  EXPECT_EQ(asked, 6);  // time 5 is held, so the target 6 is not reached
  EXPECT_EQ(seen, 60u);
  held.reset();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(asked, 21);
  EXPECT_EQ(seen, 200u);
  EXPECT_EQ(most, 10u);
}

TEST(FlowControlled, DoesNotRunWhileItWaits) {
  World world;
  Probe<> probed;
  Input<int> elsewhere;
  int asked = 0;
  world[0].dataflow([&](auto& scope) {
    scope.input(elsewhere) | probe(probed);
    (void)flow_controlled<int>(
        scope, "waits",
        [&](const Time&) -> std::optional<Portion<int>> {
          if (++asked == 2) return std::nullopt;
          return Portion<int>{{}, 0, 1};
        },
        probed);
  });
  world.steps();
  EXPECT_EQ(asked, 1);
  const auto steps = world[0].counters();
  world.steps();
  EXPECT_EQ(world[0].counters().batches, steps.batches);
  elsewhere.advance_to(1);
  world.steps();
  EXPECT_EQ(asked, 2);
}

TEST(FlowControlled, RefusesToGoBack) {
  World world;
  world[0].dataflow([](auto& scope) {
    (void)flow_controlled<int>(
        scope, "back",
        [](const Time& time) -> std::optional<Portion<int>> {
          return Portion<int>{{}, time == 0 ? Time{3} : Time{2}, 0};
        },
        Probe<>());
  });
  EXPECT_TRUE(says(usage_error([&] { world.steps(); }), {"\"back\"", "time 2", "time 3"}));
}

// --- messages by their time

TEST(ForEachTime, GroupsMessagesByTimeInAscendingOrder) {
  World world;
  std::vector<std::pair<Time, Ints>> groups;
  Records out;
  auto made = world[0].dataflow([&](auto& scope) {
    auto from = unordered_input<int>(scope);
    from.stream | unary<int>(pipeline, "by time", [&](auto, const OperatorInfo&) {
      return [&](auto& in, auto& output) {
        for_each_time(in, [&](auto messages) {
          auto session = output.session(messages.front());
          Ints all;
          for (auto& message : messages) {
            EXPECT_EQ(message.time(), messages.front().time());
            for (const int x : message.records()) all.push_back(x);
          }
          groups.emplace_back(messages.front().time(), all);
          session.give(std::accumulate(all.begin(), all.end(), 0));
        });
      };
    }) | inspect_time([&](Time time, int x) { out.emplace_back(time, x); });
    return std::pair(std::move(from.handle), std::move(from.capability));
  });
  for (const auto& [time, x] : Records{{3, 1}, {1, 2}, {3, 3}, {2, 4}, {1, 5}}) {
    made.first.session(made.second.delayed(time)).give(x);
  }
  made.second.release();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(groups, (std::vector<std::pair<Time, Ints>>{{1, {2, 5}}, {2, {4}}, {3, {1, 3}}}));
  EXPECT_EQ(out, (Records{{1, 7}, {2, 4}, {3, 4}}));
}

// --- notifications from the beginning

TEST(Notify, MayBeAskedForBeforeThereIsAnyRecord) {
  World world;
  Input<int> left;
  Input<int> right;
  std::vector<Time> one;
  std::vector<Time> two;
  world[0].dataflow([&](auto& scope) {
    const auto stream = scope.input(left);
    stream | unary_notify<int>(pipeline, "one", std::vector<Time>{4, 0, 2},
                               [&](auto, const OperatorInfo&) {
                                 return [&](auto& in, auto&, auto& notificator) {
                                   in.for_each([](auto&) {});
                                   while (auto done = notificator.next(in.frontier())) {
                                     one.push_back(done->time());
                                   }
                                 };
                               });
    stream |
        binary_notify<int>(scope.input(right), pipeline, pipeline, "two", std::vector<Time>{1, 3},
                           [&](auto, const OperatorInfo&) {
                             return [&](auto& a, auto& b, auto&, auto& notificator) {
                               a.for_each([](auto&) {});
                               b.for_each([](auto&) {});
                               while (auto done = notificator.next(a.frontier(), b.frontier())) {
                                 two.push_back(done->time());
                               }
                             };
                           });
  });
  left.advance_to(3);
  world.steps();
  EXPECT_EQ(one, (std::vector<Time>{0, 2}));
  EXPECT_TRUE(two.empty());
  right.advance_to(2);
  world.steps();
  EXPECT_EQ(two, (std::vector<Time>{1}));
  left.close();
  right.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(one, (std::vector<Time>{0, 2, 4}));
  EXPECT_EQ(two, (std::vector<Time>{1, 3}));
}

// --- names

TEST(Named, ConcatHasTheNameItIsGiven) {
  World world;
  Input<int> input;
  world[0].dataflow([&](auto& scope) {
    const auto stream = scope.input(input);
    stream | concat(stream) | concat(stream).named("all of them");
  });
  const auto sketch = world[0].sketch(0);
  ASSERT_EQ(sketch.nodes.size(), 4u);
  EXPECT_EQ(sketch.nodes[2].name, "concat");
  EXPECT_EQ(sketch.nodes[3].name, "all of them");
}

TEST(Named, InputsStreamsOfRangesAndLoopsHaveTheNamesTheyAreGiven) {
  World world;
  Input<int> input;
  world[0].dataflow([&](auto& scope) {
    auto [loop, again] = feedback<int>(scope, 1, "once more");
    const auto stream = scope.input(input, "orders");
    stream | concat(to_stream(scope, Ints{1, 2}, "prices")) | concat(again) |
        filter([](int) { return false; }) | connect_loop(std::move(loop));
  });
  const auto sketch = world[0].sketch(0);
  ASSERT_GE(sketch.nodes.size(), 4u);
  EXPECT_EQ(sketch.nodes[1].name, "once more");
  EXPECT_EQ(sketch.nodes[2].name, "orders");
  EXPECT_EQ(sketch.nodes[3].name, "prices");
}

}  // namespace
}  // namespace leat::dataflow
