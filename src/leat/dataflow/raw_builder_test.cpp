// Operators that do their own accounts.
#include <leat/dataflow/raw_builder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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
using RawMessage = Message<Time, Ints>;

/// The stream through a raw operator of one input and one output and logic `make(in, out)`.
template <class Make>
StreamOf<Time, int> raw_unary(const StreamOf<Time, int>& stream, const char* name, Make make,
                              std::vector<LinkTo<Time>> links = {{0, 0}}) {
  RawOperatorBuilder<Time> builder(stream.scope_state(), name);
  auto in = builder.new_input(stream, pipeline, links);
  auto [out_port, produced] = builder.template new_output<Ints>(std::vector<LinkTo<Time>>{});
  builder.build(make(std::move(in), std::move(out_port)));
  return std::move(produced);
}

TEST(RawOperatorBuilder, AnOperatorThatKeepsItsAccountsIsLikeAnyOther) {
  for (std::size_t peers = 1; peers <= 2; ++peers) {
    World world(peers);
    std::vector<Input<int>> inputs(peers);
    std::vector<Probe<>> probes(peers);
    Records seen;
    for (std::size_t index = 0; index < peers; ++index) {
      world[index].dataflow([&](auto& scope) {
        raw_unary(scope.input(inputs[index]) | exchange([](int x) { return x; }), "passes",
                  [](auto in, auto out) {
                    return [in = std::move(in), out = std::move(out), message = RawMessage{},
                            begun = false](Accounts<Time>& accounts) mutable {
                      if (!std::exchange(begun, true)) accounts.capability(0, 0, -1);
                      while (in.pull(message)) {
                        accounts.consumed(0, message.stamp, message.batch.size());
                        out.push(message);
                      }
                    };
                  }) |
            inspect_time([&](Time time, int x) { seen.emplace_back(time, x); }) |
            probe(probes[index]);
      });
    }
    for (Time time = 0; time < 3; ++time) {
      for (auto& input : inputs) {
        input.send(static_cast<int>(time));
        input.advance_to(time + 1);
      }
      world.steps();
      EXPECT_EQ(seen.size(), (time + 1) * peers);
      EXPECT_FALSE(probes[0].less_than(time + 1));
    }
    inputs.clear();
    EXPECT_TRUE(world.ends());
  }
}

TEST(RawOperatorBuilder, ACapabilityThatIsNotGivenBackHoldsUpAllBehindIt) {
  World world;
  Input<int> input;
  Probe<> probed;
  bool holds = true;
  std::optional<Activator> again;
  world[0].dataflow([&](auto& scope) {
    RawOperatorBuilder<Time> builder(scope.state(), "holds");
    auto in = builder.new_input(scope.input(input), pipeline);
    auto [out_port, produced] = builder.template new_output<Ints>();
    again = builder.info().activation;
    builder.build([&holds, in = std::move(in), out = std::move(out_port), message = RawMessage{},
                   at = Time{0}](Accounts<Time>& accounts) mutable {
      while (in.pull(message)) accounts.consumed(0, message.stamp, message.batch.size());
      if (at == 0) {
        accounts.capability(0, at = 5, +1);
        accounts.capability(0, 0, -1);
      }
      if (!holds && at == 5) {
        message = {Stamp<Time>(7), {1, 2}};  // later than what it holds
        out.push(message);
        accounts.capability(0, std::exchange(at, 6), -1);
      }
    });
    produced | probe(probed);
  });
  input.close();
  world.steps();
  EXPECT_TRUE(probed.less_equal(5));
  EXPECT_FALSE(probed.less_than(5));
  EXPECT_TRUE(world[0].has_dataflows());
  holds = false;
  again->activate();
  EXPECT_TRUE(world.ends());
}

TEST(RawOperatorBuilder, WhatWasNotAccountedForKeepsItsTimeOpen) {
  World world;
  Input<int> input;
  Probe<> probed;
  std::vector<RawMessage> kept;
  bool accounts_now = false;
  std::optional<Activator> again;
  world[0].dataflow([&](auto& scope) {
    RawOperatorBuilder<Time> builder(scope.state(), "keeps");
    auto in = builder.new_input(scope.input(input), pipeline);
    auto [out_port, produced] = builder.template new_output<Ints>();
    again = builder.info().activation;
    builder.build([&, in = std::move(in), out = std::move(out_port),
                   begun = false](Accounts<Time>& accounts) mutable {
      if (!std::exchange(begun, true)) accounts.capability(0, 0, -1);
      for (RawMessage message; in.pull(message);) kept.push_back(std::move(message));
      if (!accounts_now) return;
      for (auto& message : std::exchange(kept, {})) {
        accounts.consumed(0, message.stamp, message.batch.size());
        out.push(message);
      }
    });
    produced | probe(probed);
  });
  input.advance_to(3);
  input.send(1);
  input.advance_to(9);
  world.steps();
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_TRUE(probed.less_equal(3));
  accounts_now = true;
  again->activate();
  world.steps();
  EXPECT_FALSE(probed.less_than(9));
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(RawOperatorBuilder, IsLinkedOnlyAsItIsTold) {
  World world;
  Input<int> input;
  std::vector<Probe<>> probes(3);
  world[0].dataflow([&](auto& scope) {
    RawOperatorBuilder<Time> builder(scope.state(), "sparse");
    // The input leads to output 0 two later, to output 1 not at all, and to output 2 at once.
    auto in = builder.new_input(scope.input(input), pipeline, {{0, 2}});
    auto [port0, stream0] = builder.template new_output<Ints>(std::vector<LinkTo<Time>>{});
    auto [port1, stream1] = builder.template new_output<Ints>(std::vector<LinkTo<Time>>{});
    auto [port2, stream2] = builder.template new_output<Ints>({{0, 0}});
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([in = std::move(in), out0 = std::move(port0), out1 = std::move(port1),
                   out2 = std::move(port2), message = RawMessage{},
                   begun = false](Accounts<Time>& accounts) mutable {
      if (!std::exchange(begun, true)) {
        for (std::uint32_t output = 0; output < 3; ++output) accounts.capability(output, 0, -1);
      }
      while (in.pull(message)) accounts.consumed(0, message.stamp, message.batch.size());
    });
    stream0 | probe(probes[0]);
    stream1 | probe(probes[1]);
    stream2 | probe(probes[2]);
  });
  input.advance_to(4);
  world.steps();
  EXPECT_FALSE(probes[0].less_than(6));
  EXPECT_TRUE(probes[0].less_equal(6));
  EXPECT_TRUE(probes[1].done());
  EXPECT_FALSE(probes[2].less_than(4));
  EXPECT_TRUE(probes[2].less_equal(4));
  input.close();
  EXPECT_TRUE(world.ends());
}

TEST(RawOperatorBuilder, AClaimThatNothingJustifiesIsFoundByTheValidation) {
  comm::Fabric fabric(1);
  core::Config config;
  config.validate_progress = true;
  Worker worker(fabric.seat(0), config, nullptr);
  Input<int> input;
  worker.dataflow([&](auto& scope) {
    raw_unary(scope.input(input), "conjures", [](auto in, auto out) {
      return [in = std::move(in), out = std::move(out), message = RawMessage{},
              begun = false](Accounts<Time>& accounts) mutable {
        if (!std::exchange(begun, true)) accounts.capability(0, 0, -1);
        while (in.pull(message)) {
          accounts.consumed(0, message.stamp, message.batch.size());
          accounts.capability(0, 3, +1);  // before the message's time
        }
      };
    });
  });
  const auto steps = [&] {
    for (int i = 0; i < 10; ++i) worker.step();
  };
  steps();
  input.advance_to(5);
  input.send(1);
  input.flush();
  const std::string said = usage_error(steps);
  EXPECT_TRUE(says(said, {"\"conjures\"", "a capability at 3"}));
}

TEST(RawOperatorBuilder, RefusesAccountsOfPortsThatTheOperatorHasNot) {
  for (const bool of_input : {true, false}) {
    World world;
    Input<int> input;
    world[0].dataflow([&](auto& scope) {
      raw_unary(scope.input(input), "astray", [of_input](auto in, auto out) {
        return [of_input, in = std::move(in), out = std::move(out)](Accounts<Time>& accounts) {
          if (of_input) accounts.consumed(1, Stamp<Time>(0), 1);
          if (!of_input) accounts.capability(1, 0, -1);
        };
      });
    });
    EXPECT_TRUE(says(usage_error([&] { world.steps(); }),
                     {"\"astray\"", of_input ? "input 1" : "output 1"}));
  }
}

}  // namespace
}  // namespace leat::dataflow
