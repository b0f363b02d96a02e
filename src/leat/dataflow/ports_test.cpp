#include <leat/dataflow/ports.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
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
using Sizes = std::vector<std::size_t>;

// Notes the sizes of the batches that pass, and their records.
struct Seen {
  Sizes sizes;
  std::vector<int> records;
  auto op() {
    return inspect_batch([this](const auto&, const std::vector<int>& batch) {
      sizes.push_back(batch.size());
      records.insert(records.end(), batch.begin(), batch.end());
    });
  }
};

// A source that runs `body(output, capability)` once and then is over.
template <class Body>
auto once(Scope<Time>& scope, Body body) {
  return source<int>(scope, "once", [body](Capability<Time> capability, const OperatorInfo&) {
    return [body, capability = std::move(capability)](auto& output) mutable {
      if (!capability) return;
      body(output, capability);
      capability.release();
    };
  });
}

// --- sessions

TEST(Session, SendsWhatItWasGivenInOneBatchWhenItEnds) {
  World world;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      auto session = output.session(capability);
      session.give(1);
      session.give(2);
      session.give_all(std::vector<int>{3, 4});
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.sizes, Sizes{4});
  EXPECT_EQ(seen.records, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Session, SendsWhatItWasGivenSoFarWhenItIsFlushed) {
  World world;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      auto session = output.session(capability);
      session.give(1);
      session.give(2);
      session.flush();
      session.flush();  // nothing is left
      session.give(3);
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.sizes, (Sizes{2, 1}));
  EXPECT_EQ(seen.records, (std::vector<int>{1, 2, 3}));
}

TEST(Session, SendsFullBatchesBeforeItEnds) {
  World world;
  Seen seen;
  constexpr std::size_t kFull = kBatchRecords<int>;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      auto session = output.session(capability);
      for (std::size_t i = 0; i < 2 * kFull + 1; ++i) session.give(0);
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.sizes, (Sizes{kFull, kFull, 1}));
}

TEST(Session, SendsAWholeBatchAfterWhatWasGivenBeforeIt) {
  World world;
  Seen seen;
  std::vector<int> batch{2, 3};
  world[0].dataflow([&](auto& scope) {
    once(scope, [&](auto& output, auto& capability) {
      auto session = output.session(capability);
      session.give(1);
      session.give_batch(batch);
      session.give(4);
      session.give_batch(std::vector<int>{5});
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.sizes, (Sizes{1, 2, 1, 1}));
  EXPECT_EQ(seen.records, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(batch.empty());
}

TEST(Session, SendsNothingIfItWasGivenNothing) {
  World world;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      (void)output.session(capability);
      std::vector<int> empty;
      output.session(capability).give_batch(empty);
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.sizes, Sizes{});
}

TEST(Session, MayBeOpenOnEachOutputAtOnce) {
  World world;
  Seen left;
  Seen right;
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "both");
    auto [port_a, to_left] = builder.template new_output<std::vector<int>>();
    auto [port_b, to_right] = builder.template new_output<std::vector<int>>();
    builder.build([&](std::vector<Capability<Time>> capabilities) {
      EXPECT_EQ(capabilities.size(), 2u);
      return [a = std::move(port_a), b = std::move(port_b),
              capabilities = std::move(capabilities)]() mutable {
        if (capabilities.empty()) return;
        auto first = a.session(capabilities[0]);
        auto second = b.session(capabilities[1]);
        first.give(1);
        second.give(2);
        capabilities.clear();
      };
    });
    to_left | left.op();
    to_right | right.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(left.records, std::vector<int>{1});
  EXPECT_EQ(right.records, std::vector<int>{2});
}

TEST(Session, TwoOfOneOutputAtOnceAreRefused) {
  World world;
  Seen seen;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    source<int>(scope, "twice", [](Capability<Time> capability, const OperatorInfo&) {
      return [capability = std::move(capability)](auto& output) {
        auto first = output.session(capability);
        first.give(1);
        auto second = output.session(capability);
        second.give(2);
      };
    }) | seen.op();
  });
  EXPECT_TRUE(says(usage_error([&] { world.steps(); }),
                   {place("twice", line), "output 0", "a session that has not ended"}));
  EXPECT_EQ(seen.sizes, Sizes{});
}

TEST(Session, ThatAnExceptionLeavesSendsNothingMore) {
  World world;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      auto session = output.session(capability);
      session.give(1);
      throw std::runtime_error("half-way");
    }) | seen.op();
  });
  EXPECT_THROW(world.steps(), std::runtime_error);
  EXPECT_EQ(seen.sizes, Sizes{});
}

TEST(Session, MayBeLeftByAnExceptionThatTheOperatorCatches) {
  World world;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      try {
        auto session = output.session(capability);
        session.give(1);
        throw std::runtime_error("half-way");
      } catch (const std::runtime_error&) {
        output.session(capability).give(2);  // usable again, without what was given up
      }
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.records, std::vector<int>{2});
}

template <class F>
struct AtEnd {
  const F& act;
  ~AtEnd() { act(); }
};

TEST(Session, ThatIsOpenedWhileAnExceptionIsUnderWaySendsWhatItWasGiven) {
  World world;
  Seen seen;
  world[0].dataflow([&](auto& scope) {
    once(scope, [](auto& output, auto& capability) {
      const auto send = [&] { output.session(capability).give(1); };
      try {
        const AtEnd<decltype(send)> at_end{send};
        throw std::runtime_error("half-way");
      } catch (const std::runtime_error&) {
      }
    }) | seen.op();
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.records, std::vector<int>{1});
}

// --- capabilities and ports

// An operator with two outputs that opens `use(a, b, capabilities)`'s sessions.
template <class Use>
std::string two_outputs(int& line, Use use) {
  World world;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    OperatorBuilder<Time> builder(scope.state(), "two");
    auto [port_a, first] = builder.template new_output<std::vector<int>>();
    auto [port_b, second] = builder.template new_output<std::vector<int>>();
    builder.build([&](std::vector<Capability<Time>> capabilities) {
      return [a = std::move(port_a), b = std::move(port_b), capabilities = std::move(capabilities),
              use]() mutable { use(a, b, capabilities); };
    });
  });
  return usage_error([&] { world.steps(); });
}

TEST(OutputPort, RefusesACapabilityOfAnotherOutput) {
  int line = 0;
  const auto said = two_outputs(
      line, [](auto&, auto& b, auto& capabilities) { b.session(capabilities[0]).give(1); });
  const auto name = place("two", line);
  EXPECT_TRUE(says(said, {name + ", output 1: asked a session",
                          "found a capability of " + name + ", output 0"}));
}

TEST(OutputPort, RefusesAnEmptyCapability) {
  int line = 0;
  const auto said = two_outputs(line, [](auto& a, auto&, auto& capabilities) {
    const auto taken = std::move(capabilities[0]);
    a.session(capabilities[0]).give(1);
  });
  EXPECT_TRUE(says(said, {place("two", line), "an empty capability"}));
}

TEST(OutputPort, RefusesASetOfAnotherOutputAndAnEmptyOne) {
  int line = 0;
  auto said = two_outputs(line, [](auto&, auto& b, auto& capabilities) {
    CapabilitySet<Time> set;
    set.insert(capabilities[0].clone());
    b.session(set).give(1);
  });
  EXPECT_TRUE(says(said, {place("two", line), "output 1", "output 0"}));
  said = two_outputs(line, [](auto& a, auto&, auto&) { a.session(CapabilitySet<Time>()).give(1); });
  EXPECT_TRUE(says(said, {place("two", line), "an empty capability set"}));
}

TEST(OutputPort, RefusesACapabilityOfAnotherOperator) {
  World world;
  int mine = 0;
  int theirs = 0;
  world[0].dataflow([&](auto& scope) {
    auto kept = std::make_shared<Capability<Time>>();
    theirs = __LINE__ + 1;
    (void)source<int>(scope, "theirs", [=](Capability<Time> capability, const OperatorInfo&) {
      *kept = std::move(capability);
      return [](auto&) {};
    });
    mine = __LINE__ + 1;
    (void)source<int>(scope, "mine", [=](Capability<Time>, const OperatorInfo&) {
      return [=](auto& output) { output.session(*kept).give(1); };
    });
  });
  EXPECT_TRUE(says(usage_error([&] { world.steps(); }),
                   {place("mine", mine), "found a capability of " + place("theirs", theirs)}));
}

// --- messages

// Runs one message at time 5 through a unary operator that calls `use(message, output)`.
template <class Use>
std::string with_message(int& line, Use use) {
  World world;
  return usage_error([&] {
    Input<int> input;
    world[0].dataflow([&](auto& scope) {
      line = __LINE__ + 1;
      scope.input(input) | unary<int>(pipeline, "takes", [=](auto, const OperatorInfo&) {
        return [=](auto& in, auto& out) { in.for_each([&](auto& message) { use(message, out); }); };
      });
    });
    input.advance_to(5);
    input.send(1);
    input.close();
    world.steps();
  });
}

TEST(Received, GivesCapabilitiesAtItsTimeAndLater) {
  int line = 0;
  const auto said = with_message(line, [](auto& message, auto& output) {
    EXPECT_EQ(message.time(), 5u);
    EXPECT_TRUE(message.stamp().single());
    EXPECT_EQ(message.records(), std::vector<int>{1});
    EXPECT_EQ(message.retain().time(), 5u);
    EXPECT_EQ(message.retain(output).time(), 5u);
    EXPECT_EQ(message.delayed(8).time(), 8u);
    EXPECT_EQ(message.retain_all().members().size(), 1u);
    output.session(message.delayed(9)).give(1);
  });
  EXPECT_EQ(said, "nothing was thrown");
}

TEST(Received, RefusesACapabilityBeforeItsTime) {
  int line = 0;
  const auto said = with_message(line, [](auto& message, auto&) { (void)message.delayed(4); });
  EXPECT_TRUE(says(said, {place("takes", line), "a capability at 4", "a message at 5"}));
}

TEST(Received, RefusesAnOutputThatTheOperatorHasNot) {
  int line = 0;
  const auto said = with_message(line, [](auto& message, auto&) { (void)message.retain(1); });
  EXPECT_TRUE(says(said, {place("takes", line), "for output 1", "on input 0"}));
}

TEST(Received, KeepsItsTimePossibleForAsLongAsItIsKept) {
  World world;
  Input<int> input;
  Probe<> after;
  Seen seen;
  std::optional<Received<Time, std::vector<int>>> kept;
  std::optional<Activator> again;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) |
        unary<int>(pipeline, "keeps",
                   [&](auto, const OperatorInfo& info) {
                     again = info.activation;
                     return [&](auto& in, auto& out) {
                       if (kept) {
                         out.session(*kept).give_batch(kept->records());
                         kept.reset();
                       }
                       in.for_each([&](auto& message) { kept.emplace(std::move(message)); });
                     };
                   }) |
        seen.op() | probe(after);
  });
  input.send(7);
  input.close();
  world.steps();
  ASSERT_TRUE(kept);
  EXPECT_EQ(listed(after.frontier()), std::vector<Time>{0});
  EXPECT_EQ(seen.sizes, Sizes{});
  again->activate();
  world.steps();
  EXPECT_EQ(seen.records, std::vector<int>{7});
  EXPECT_TRUE(after.done());
  EXPECT_TRUE(world.ends());
}

TEST(Received, KeptBeyondItsDataflowIsHarmless) {
  World world;
  Input<int> input;
  std::optional<Received<Time, std::vector<int>>> kept;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | unary<int>(pipeline, "keeps", [&](auto, const OperatorInfo&) {
      return [&](auto& in, auto&) {
        in.for_each([&](auto& message) { kept.emplace(std::move(message)); });
      };
    });
  });
  input.send(7);
  input.close();
  world.steps();
  world[0].drop_dataflow(0);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->records(), std::vector<int>{7});
  const auto capability = kept->retain();
  EXPECT_EQ(capability.time(), 0u);
  kept.reset();
  EXPECT_FALSE(world[0].step());
}

// An operator whose input leads to output 0 one later, to output 1 at the same time, and not to output 2.
template <class Use>
std::string linked(int& line, Use use) {
  World world;
  return usage_error([&] {
    Input<int> input;
    world[0].dataflow([&](auto& scope) {
      auto stream = scope.input(input);
      line = __LINE__ + 1;
      OperatorBuilder<Time> builder(scope.state(), "links");
      auto in = builder.new_input(stream, pipeline, {LinkTo<Time>{0, 1}, LinkTo<Time>{1, 0}});
      using Links = std::vector<LinkTo<Time>>;
      auto [port_a, first] = builder.template new_output<std::vector<int>>(Links{});
      auto [port_b, second] = builder.template new_output<std::vector<int>>(Links{});
      auto [port_c, third] = builder.template new_output<std::vector<int>>(Links{});
      builder.build([&](auto) {
        return [in = std::move(in), a = std::move(port_a), b = std::move(port_b),
                c = std::move(port_c),
                use]() mutable { in.for_each([&](auto& message) { use(message, a, b, c); }); };
      });
    });
    input.send(1);
    input.close();
    world.steps();
  });
}

TEST(Received, OpensSessionsOnlyWhereTimesDoNotChange) {
  int line = 0;
  EXPECT_EQ(linked(line,
                   [](auto& message, auto& a, auto& b, auto&) {
                     b.session(message).give(1);
                     a.session(message.delayed(1, 0)).give(1);
                   }),
            "nothing was thrown");
  auto said =
      linked(line, [](auto& message, auto& a, auto&, auto&) { a.session(message).give(1); });
  EXPECT_TRUE(
      says(said, {place("links", line), "output 0", "does not lead to it at the same time"}));
  said = linked(line, [](auto& message, auto&, auto&, auto& c) { c.session(message).give(1); });
  EXPECT_TRUE(says(said, {place("links", line), "output 2", "does not lead to it"}));
}

TEST(Received, RetainFollowsTheLinks) {
  int line = 0;
  auto said = linked(line, [](auto& message, auto& a, auto&, auto&) { (void)message.retain(a); });
  EXPECT_TRUE(says(said, {place("links", line), "at 0 for output 0", "ask for a later time"}));
  said = linked(line, [](auto& message, auto&, auto&, auto& c) { (void)message.retain(c); });
  EXPECT_TRUE(says(said, {place("links", line), "for output 2", "connect the ports"}));
}

// --- messages at several times

TEST(Received, MayBeAtSeveralTimesThatAreNotComparable) {
  World world;
  std::vector<Pair> stamped;
  std::size_t messages = 0;
  Probe<Pair> after;
  world[0].dataflow<Pair>([&](auto& scope) {
    source<int>(scope, "two times", [](Capability<Pair> capability, const OperatorInfo&) {
      return [capability = std::move(capability)](auto& output) mutable {
        if (!capability) return;
        CapabilitySet<Pair> set;
        set.insert(capability.delayed({1, 0}));
        set.insert(capability.delayed({0, 1}));
        output.session(set).give(7);
        capability.release();
      };
    }) | unary<int>(pipeline, "looks", [&](auto, const OperatorInfo&) {
      return [&](auto& in, auto& out) {
        in.for_each([&](auto& message) {
          ++messages;
          stamped = listed(message.stamp().times());
          EXPECT_TRUE(says(usage_error([&] { (void)message.time(); }),
                           {"\"looks\"", "2 times", "retain_all"}));
          const auto set = message.retain_all();
          EXPECT_EQ(set.members().size(), 2u);
          out.session(set).give_batch(message.records());
        });
      };
    }) | map([](int x) {
      return x;
    }) | probe(after);
  });
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(after.done());
  EXPECT_EQ(messages, 1u);
  std::sort(stamped.begin(), stamped.end());
  EXPECT_EQ(stamped, (std::vector<Pair>{{0, 1}, {1, 0}}));
}

TEST(Received, AtSeveralTimesIsAccountedForOnOtherWorkers) {
  World world(2);
  std::vector<int> got;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow<Pair>([&](auto& scope) {
      source<int>(scope, "two times", [index](Capability<Pair> capability, const OperatorInfo&) {
        return [index, capability = std::move(capability)](auto& output) mutable {
          if (!capability) return;
          CapabilitySet<Pair> set;
          set.insert(capability.delayed({1, 0}));
          set.insert(capability.delayed({0, 1}));
          output.session(set).give(static_cast<int>(index));
          capability.release();
        };
      }) | exchange([](int x) {
        return 1 - x;
      }) | inspect([&](int x) { got.push_back(x); });
    });
  }
  EXPECT_TRUE(world.ends());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<int>{0, 1}));
}

// --- inputs

TEST(InputPort, TakesABoundedNumberOfMessagesPerActivation) {
  World world;
  Input<int> input;
  std::vector<std::size_t> taken;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | sink(pipeline, "counts", [&](auto& in) {
      std::size_t messages = 0;
      in.for_each([&](auto&) { ++messages; });
      if (messages > 0) taken.push_back(messages);
      EXPECT_FALSE(messages == kMessagesPerActivation && in.next().has_value());
    });
  });
  for (int i = 0; i < 150; ++i) {
    input.send(i);
    input.flush();
  }
  world[0].step();
  EXPECT_EQ(taken, Sizes{kMessagesPerActivation});
  world.steps();
  EXPECT_EQ(taken, (Sizes{kMessagesPerActivation, kMessagesPerActivation, 22}));
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(InputPort, GoesOnWithWhatWasLeftAlsoFromOtherWorkers) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  std::size_t most = 0;
  int got = 0;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      scope.input(inputs[index]) |
          sink(exchange_by([](int) { return 1; }), "counts", [&](auto& in) {
            std::size_t messages = 0;
            in.for_each([&](auto& message) {
              ++messages;
              got += static_cast<int>(message.records().size());
            });
            most = std::max(most, messages);
          });
    });
  }
  for (int i = 0; i < 200; ++i) {
    inputs[0].send(i);
    inputs[0].flush();
  }
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, 200);
  EXPECT_EQ(most, kMessagesPerActivation);
}

TEST(InputPort, ItsFrontierIsNeverPastAMessage) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  bool past = false;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      scope.input(inputs[index]) |
          sink(exchange_by([](int x) { return x; }), "looks", [&](auto& in) {
            const auto before = listed(in.frontier());
            in.for_each(
                [&](auto& message) { past = past || !in.frontier().less_equal(message.time()); });
            EXPECT_EQ(listed(in.frontier()), before);
          });
    });
  }
  for (Time t = 0; t < 50; ++t) {
    inputs[t % 2].send(static_cast<int>(t % 3));
    inputs[t % 2].advance_to(t + 1);
    world[(t / 2) % 2].step();
  }
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_FALSE(past);
}

}  // namespace
}  // namespace leat::dataflow
