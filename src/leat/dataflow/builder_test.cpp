// How operators are made: the builder, and the authored operators of one input or two.
#include <leat/dataflow/builder.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
using Links = std::vector<LinkTo<Time>>;

// --- the builder

TEST(OperatorBuilder, MakesOperatorsOfAnyNumberOfInputsAndOutputs) {
  World world;
  std::vector<Input<int>> inputs(3);
  std::vector<Ints> out(2);
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "three by two");
    std::vector<InputPort<Time, Ints>> ins;
    for (auto& input : inputs) ins.push_back(builder.new_input(scope.input(input), pipeline));
    std::vector<OutputPort<Time, Ints>> ports;
    for (auto& to : out) {
      auto [port, stream] = builder.template new_output<Ints>();
      ports.push_back(std::move(port));
      stream | inspect([&to](int x) { to.push_back(x); });
    }
    builder.build([&](std::vector<Capability<Time>> capabilities) {
      EXPECT_EQ(capabilities.size(), 2u);
      EXPECT_EQ(capabilities[1].time(), 0u);
      return [ins = std::move(ins), ports = std::move(ports)]() mutable {
        for (auto& in : ins) {
          in.for_each([&](auto& message) {
            for (const int x : message.records()) {
              ports[static_cast<std::size_t>(x % 2)].session(message).give(x);
            }
          });
        }
      };
    });
  });
  for (int x = 0; x < 6; ++x) inputs[static_cast<std::size_t>(x % 3)].send(x);
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out[0].size(), 3u);
  EXPECT_EQ(out[1].size(), 3u);
}

TEST(OperatorBuilder, RunsEveryOperatorAtLeastOnce) {
  World world;
  int runs = 0;
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "once");
    builder.build([&](auto capabilities) {
      EXPECT_TRUE(capabilities.empty());
      return [&] { ++runs; };
    });
  });
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(runs, 1);
}

TEST(OperatorBuilder, AnOperatorThatKeepsItsFirstCapabilityHoldsUpAllBehindIt) {
  World world;
  Probe<> probed;
  std::optional<Capability<Time>> kept;
  world[0].dataflow([&](auto& scope) {
    source<int>(scope, "keeps", [&](Capability<Time> capability, const OperatorInfo&) {
      kept.emplace(std::move(capability));
      return [](auto&) {};
    }) | probe(probed);
  });
  world.steps();
  EXPECT_TRUE(probed.less_equal(0));
  kept.reset();
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(probed.done());
}

TEST(OperatorBuilder, AnIncompleteOperatorKeepsItsDataflow) {
  World world;
  bool incomplete = true;
  std::optional<Activator> again;
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "incomplete");
    again = builder.info().activation;
    builder.build([&](auto) { return [&] { return incomplete; }; });
  });
  world.steps();
  EXPECT_TRUE(world[0].has_dataflows());
  incomplete = false;
  world.steps();
  EXPECT_TRUE(world[0].has_dataflows());  // nobody had it run
  again->activate();
  EXPECT_TRUE(world.ends());
}

TEST(OperatorBuilder, DestroysAnOperatorWhenNothingCanReachItAnyMore) {
  World world;
  Input<int> first;
  Input<int> second;
  auto state = std::make_shared<int>(0);
  world[0].dataflow([&](auto& scope) {
    scope.input(first) | inspect([state](int) {});
    scope.input(second) | inspect([](int) {});
  });
  first.send(1);
  world.steps();
  EXPECT_EQ(state.use_count(), 2);
  first.close();
  world.steps();
  EXPECT_EQ(state.use_count(), 1);
  EXPECT_TRUE(world[0].has_dataflows());
  second.close();
  EXPECT_TRUE(world.ends());
}

// An operator of one input and two outputs, the second of which `links` say the input leads to.
template <class Build>
void linked(World& world, Input<int>& input, Probe<>& probed, Build build) {
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "linked");
    auto [input_port, stream] = build(builder, scope.input(input));
    builder.build([&](auto) {
      return [in = std::move(input_port)]() mutable { in.for_each([](auto&) {}); };
    });
    stream | probe(probed);
  });
  world.steps();
}

TEST(OperatorBuilder, AnOutputWithoutLinksDoesNotWaitForTheInput) {
  World world;
  Input<int> input;
  Probe<> probed;
  linked(world, input, probed, [](auto& builder, auto stream) {
    auto in = builder.new_input(stream, pipeline);
    auto output = builder.template new_output<Ints>(Links{});
    return std::pair(std::move(in), std::move(output.stream));
  });
  EXPECT_TRUE(probed.done());
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(OperatorBuilder, ALinkAdvancesWhatCanComeByItsSummary) {
  World world;
  Input<int> input;
  Probe<> probed;
  linked(world, input, probed, [](auto& builder, auto stream) {
    auto in = builder.new_input(stream, pipeline);
    auto output = builder.template new_output<Ints>(Links{{0, 5}});
    return std::pair(std::move(in), std::move(output.stream));
  });
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{5});
  input.advance_to(2);
  world.steps();
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{7});
}

TEST(OperatorBuilder, LinksMayNameOutputsThatComeLater) {
  World world;
  Input<int> input;
  Probe<> probed;
  linked(world, input, probed, [](auto& builder, auto stream) {
    auto in = builder.new_input(stream, pipeline, Links{{1, 3}});
    (void)builder.template new_output<Ints>();  // leads nowhere: the input's links say so
    auto output = builder.template new_output<Ints>(Links{});
    return std::pair(std::move(in), std::move(output.stream));
  });
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{3});
}

TEST(OperatorBuilder, RefusesPortsThatTheOperatorHasNot) {
  World world;
  Input<int> input;
  std::string name;
  const auto said = usage_error([&] {
    world[0].dataflow([&](auto& scope) {
      name = place("builds", __LINE__ + 1);
      OperatorBuilder<Time> builder(scope.state(), "builds");
      EXPECT_TRUE(says(usage_error([&] { (void)builder.template new_output<Ints>(Links{{0, 1}}); }),
                       {name, "a link of input 0", "0 inputs"}));
      const auto never = progress::FrontierInterest::never;
      EXPECT_TRUE(says(usage_error([&] { builder.set_interest(2, never); }),
                       {name, "an interest of input 2", "0 inputs"}));
      auto in = builder.new_input(scope.input(input), pipeline, Links{{7, 0}});
      builder.build([](auto) { return [] {}; });
    });
  });
  EXPECT_TRUE(says(said, {name, "a link to output 7", "1 outputs"}));
}

TEST(OperatorBuilder, RefusesAStreamThatWasMovedFrom) {
  World world;
  world[0].dataflow([&](auto& scope) {
    auto numbers = to_stream(scope, Ints{1});
    const auto taken = std::move(numbers);
    const int line = __LINE__ + 1;
    auto looks = inspect([](int) {});
    EXPECT_TRUE(says(usage_error([&] { std::move(numbers) | std::move(looks); }),
                     {place("inspect", line), "a stream that was moved from"}));
  });
}

TEST(OperatorInfo, SaysWhereAnOperatorIsTheSameOnAllWorkers) {
  World world(2);
  std::vector<std::vector<std::vector<std::uint32_t>>> addresses(2);
  std::set<std::uint64_t> ids;
  for (std::size_t index = 0; index < 2; ++index) {
    const auto note = [&, index](Capability<Time>, const OperatorInfo& info) {
      addresses[index].push_back(info.address);
      EXPECT_EQ(info.address.back(), info.node);
      if (index == 0) {
        EXPECT_TRUE(ids.insert(info.id).second);
      }
      return [](auto&) {};
    };
    world[index].dataflow([&](auto& scope) { (void)source<int>(scope, "zero", note); });
    world[index].dataflow([&](auto& scope) {
      (void)source<int>(scope, "one", note);
      scope.region("inner", [&](auto& inner) { (void)source<int>(inner, "two", note); });
    });
  }
  EXPECT_EQ(addresses[0], addresses[1]);
  EXPECT_EQ(addresses[0], (std::vector<std::vector<std::uint32_t>>{{0, 1}, {1, 1}, {1, 2, 1}}));
  EXPECT_EQ(ids.size(), 3u);
}

// --- interest

// How often an operator with such an interest runs while its input moves on `n` times.
int runs_while_moving(progress::FrontierInterest interest, bool holds_a_capability, int n) {
  World world;
  Input<int> input;
  int runs = 0;
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "counts");
    auto in = builder.new_input(scope.input(input), pipeline);
    auto output = builder.template new_output<Ints>();
    builder.set_interest(0, interest);
    builder.build([&](std::vector<Capability<Time>> capabilities) {
      if (!holds_a_capability) capabilities.clear();
      return [&runs, in = std::move(in), capabilities = std::move(capabilities)]() mutable {
        in.for_each([](auto&) {});
        ++runs;
      };
    });
  });
  world.steps();
  runs = 0;
  for (int i = 0; i < n; ++i) {
    input.advance_to(static_cast<Time>(i) + 1);
    world.steps();
  }
  return runs;
}

TEST(FrontierInterest, DecidesWhetherAMovingFrontierRunsAnOperator) {
  using progress::FrontierInterest;
  EXPECT_EQ(runs_while_moving(FrontierInterest::never, true, 5), 0);
  EXPECT_EQ(runs_while_moving(FrontierInterest::always, false, 5), 5);
  EXPECT_EQ(runs_while_moving(FrontierInterest::if_capability, false, 5), 0);
  EXPECT_EQ(runs_while_moving(FrontierInterest::if_capability, true, 5), 5);
}

// --- operators of one input or two

TEST(Unary, RunsForRecordsAndItsFrontierFormAlsoForTimes) {
  World world;
  Input<int> input;
  int plain = 0;
  int frontier = 0;
  std::vector<std::vector<Time>> frontiers;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | unary<int>(pipeline, "plain", [&](auto, const OperatorInfo&) {
      return [&](auto& in, auto& out) {
        ++plain;
        in.for_each([&](auto& message) { out.session(message).give_batch(message.records()); });
      };
    }) | unary_frontier<int>(pipeline, "frontier", [&](auto, const OperatorInfo&) {
      return [&](auto& in, auto& out) {
        ++frontier;
        in.for_each([&](auto& message) { out.session(message).give_batch(message.records()); });
        frontiers.push_back(listed(in.frontier()));
      };
    });
  });
  world.steps();
  EXPECT_EQ(frontiers, (std::vector<std::vector<Time>>{{0}}));  // never empty at first
  plain = 0;
  for (Time time = 1; time < 5; ++time) {
    input.advance_to(time);
    world.steps();
  }
  EXPECT_EQ(plain, 0);
  EXPECT_EQ(frontiers.back(), std::vector<Time>{4});
  EXPECT_EQ(frontiers.size(), 5u);
  input.send(1);
  input.flush();
  world.steps();
  EXPECT_EQ(plain, 1);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(frontiers.back(), std::vector<Time>{});
}

TEST(Unary, NotifyDeliversWhatItWasAskedFor) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    World world(peers);
    std::vector<Input<int>> inputs(peers);
    std::vector<std::pair<Time, int>> sums;
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        scope.input(inputs[index]) |
            unary_notify<int>(exchange_by([](int) { return 0; }), "sums",
                              [](auto, const OperatorInfo&) {
                                return [sums = std::map<Time, int>()](auto& in, auto& out,
                                                                      auto& notificator) mutable {
                                  in.for_each([&](auto& message) {
                                    if (!sums.contains(message.time())) {
                                      notificator.notify_at(message.retain());
                                    }
                                    for (const int x : message.records()) sums[message.time()] += x;
                                  });
                                  while (auto done = notificator.next(in.frontier())) {
                                    out.session(done->capability).give(sums[done->time()]);
                                  }
                                };
                              }) |
            inspect_time([&](Time time, int sum) { sums.emplace_back(time, sum); });
      });
    }
    for (Time time = 0; time < 4; ++time) {
      for (auto& input : inputs) {
        input.send(1 + static_cast<int>(time));
        input.advance_to(time + 1);
      }
    }
    inputs.clear();
    EXPECT_TRUE(world.ends());
    const int n = static_cast<int>(peers);
    EXPECT_EQ(sums,
              (std::vector<std::pair<Time, int>>{{0, n}, {1, 2 * n}, {2, 3 * n}, {3, 4 * n}}));
  }
}

TEST(Binary, JoinsTwoStreams) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    World world(peers);
    std::vector<Input<std::pair<int, int>>> lefts(peers);
    std::vector<Input<std::pair<int, int>>> rights(peers);
    std::multiset<std::pair<int, int>> joined;
    const auto by_key = exchange_by([](const std::pair<int, int>& x) { return x.first; });
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        auto right = scope.input(rights[index]);
        using Out = std::pair<int, int>;
        scope.input(lefts[index]) |
            binary<Out>(
                right, by_key, by_key, "join",
                [](auto, const OperatorInfo&) {
                  using Table = std::multimap<int, int>;
                  return [mine = Table(), theirs = Table()](auto& a, auto& b, auto& out) mutable {
                    const auto match = [&](auto& in, Table& own, Table& other, bool swap) {
                      in.for_each([&](auto& message) {
                        auto session = out.session(message);
                        for (const auto& [key, value] : message.records()) {
                          own.emplace(key, value);
                          auto [at, end] = other.equal_range(key);
                          for (; at != end; ++at) {
                            session.give(swap ? Out(at->second, value) : Out(value, at->second));
                          }
                        }
                      });
                    };
                    match(a, mine, theirs, false);
                    match(b, theirs, mine, true);
                  };
                }) |
            inspect([&](const Out& x) { joined.insert(x); });
      });
    }
    for (int key = 0; key < 10; ++key) {
      lefts[0].send({key, key});
      rights.back().send({key, 100 + key});
      rights.back().send({key, 200 + key});
    }
    lefts.clear();
    rights.clear();
    EXPECT_TRUE(world.ends());
    EXPECT_EQ(joined.size(), 20u);
    EXPECT_EQ(joined.count({3, 103}), 1u);
    EXPECT_EQ(joined.count({3, 203}), 1u);
  }
}

TEST(Binary, ItsFrontierFormRunsForEitherInputAndNotifyWaitsForBoth) {
  World world;
  Input<int> left;
  Input<int> right;
  int runs = 0;
  std::vector<Time> notified;
  world[0].dataflow([&](auto& scope) {
    auto other = scope.input(right);
    auto mine = scope.input(left);
    mine | binary_frontier<int>(other, pipeline, pipeline, "runs", [&](auto, const OperatorInfo&) {
      return [&](auto& a, auto& b, auto&) {
        a.for_each([](auto&) {});
        b.for_each([](auto&) {});
        ++runs;
      };
    });
    mine | binary_notify<int>(other, pipeline, pipeline, "notified",
                              [&](Capability<Time> capability, const OperatorInfo&) {
                                return [&, first = std::move(capability)](
                                           auto& a, auto& b, auto&, auto& notificator) mutable {
                                  if (first) notificator.notify_at(std::move(first));
                                  a.for_each([](auto&) {});
                                  b.for_each([](auto&) {});
                                  while (auto done = notificator.next(a.frontier(), b.frontier())) {
                                    notified.push_back(done->time());
                                  }
                                };
                              });
  });
  world.steps();
  runs = 0;
  left.advance_to(1);
  world.steps();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(notified, std::vector<Time>{});
  right.advance_to(1);
  world.steps();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(notified, std::vector<Time>{0});
  left.close();
  right.close();
  EXPECT_TRUE(world.ends());
}

TEST(Sink, TakesRecordsAndSeesTimes) {
  World world;
  Input<int> input;
  Ints got;
  bool ended = false;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | sink(pipeline, "sink", [&](auto& in) {
      in.for_each([&](auto& message) {
        got.insert(got.end(), message.records().begin(), message.records().end());
      });
      ended = in.frontier().size() == 0;
    });
  });
  input.send_batch({1, 2});
  world.steps();
  EXPECT_EQ(got, (Ints{1, 2}));
  EXPECT_FALSE(ended);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(ended);
}

TEST(Source, RunsAgainWhenItIsActivatedAndEndsWithItsCapability) {
  World world;
  std::vector<std::pair<Time, int>> out;
  world[0].dataflow([&](auto& scope) {
    source<int>(scope, "counts", [](Capability<Time> capability, const OperatorInfo& info) {
      return
          [capability = std::move(capability), activation = info.activation](auto& output) mutable {
            if (!capability) return;
            const Time time = capability.time();
            output.session(capability).give(static_cast<int>(time));
            if (time == 3) {
              capability.release();
            } else {
              capability.downgrade(time + 1);
              activation.activate();
            }
          };
    }) | inspect_time([&](Time time, int x) { out.emplace_back(time, x); });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(out, (std::vector<std::pair<Time, int>>{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
}

TEST(Empty, EndsAtOnce) {
  World world(2);
  std::vector<Probe<>> probes(2);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      empty<int>(scope) | inspect([](int) { ADD_FAILURE(); }) | probe(probes[index]);
    });
  }
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(probes[0].done());
}

}  // namespace
}  // namespace leat::dataflow
