#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leat::dataflow {
namespace {

using test::place;
using test::says;
using test::World;
using Time = std::uint64_t;

/// An operator that takes everything and lets go of nothing: what is wrong with it is up to `keep`.
template <class Keep>
int keeper(Worker& worker, Input<Time>& input, Keep keep) {
  int line = 0;
  worker.dataflow_named("numbers", [&](auto& scope) {
    line = __LINE__ + 1;
    scope.input(input) | unary_frontier<Time>(pipeline, "keeper", [&](auto capability, auto) {
      return [keep, held = std::move(capability)](auto& port, auto& output) mutable {
        keep(held, port, output);
      };
    });
  });
  return line;
}

/// Takes what comes, and sends nothing.
constexpr auto kProper = [](auto& capability, auto& port, auto&) {
  capability.release();
  port.for_each([](auto&) {});
};

TEST(WhereIsItStuck, SaysThatNothingHoldsADataflowThatIsAboutToEndAndThatItEnded) {
  World world;
  Input<Time> input;
  keeper(world[0], input, kProper);
  world.steps();
  input.close();
  ASSERT_TRUE(world.ends());
  EXPECT_EQ(world[0].where_is_it_stuck(0), "dataflow 0 \"numbers\" has ended\n");
  EXPECT_TRUE(world[0].holdings(0).empty());
  EXPECT_THROW(static_cast<void>(world[0].where_is_it_stuck(7)), UsageError);
}

TEST(WhereIsItStuck, SaysThatNothingHoldsAnIncompleteOperatorBack) {
  World world;
  bool incomplete = true;
  world[0].dataflow_named("idle", [&](auto& scope) {
    static_cast<void>(source<Time>(scope, "waits", [&](auto capability, auto) {
      capability.release();
      return [&](auto&) { return incomplete; };
    }));
  });
  world.steps();
  EXPECT_EQ(world[0].where_is_it_stuck(0),
            "dataflow 0 \"idle\", as worker 0 sees it: nothing holds it back\n");
  incomplete = false;
}

TEST(WhereIsItStuck, NamesAnInputThatIsNotAdvanced) {
  World world;
  Input<Time> input;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    scope.input(input) | inspect([](Time) {});
  });
  input.advance_to(4);
  world.steps();
  const std::string text = world[0].where_is_it_stuck(0);
  EXPECT_TRUE(says(text, {"at 4: ", place("input", line), "[0, 1] holds 1 capability for output 0",
                          "input handle; on worker 0: advance the input handle, or close it"}));
  EXPECT_EQ(world[0].holdings(0).size(), 1U) << text;
}

TEST(WhereIsItStuck, NamesAForgottenCapability) {
  World world;
  Input<Time> input;
  const int line = keeper(world[0], input, [](auto& capability, auto& port, auto&) {
    if (capability && capability.time() < 2) capability.downgrade(2);
    port.for_each([](auto&) {});
  });
  input.advance_to(9);
  world.steps();
  const std::string text = world[0].where_is_it_stuck(0);
  EXPECT_TRUE(says(text, {"at 2: ", place("keeper", line), "holds 1 capability for output 0",
                          "on worker 0: release the capability, or downgrade it"}));
  input.close();
  world.steps();
  EXPECT_EQ(world[0].holdings(0).size(), 1U);
}

TEST(WhereIsItStuck, NamesAnUnorderedInputWhoseCapabilityIsHeld) {
  World world;
  int line = 0;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    auto made = unordered_input<Time>(scope);
    return std::pair(std::move(made.handle), std::move(made.capability));
  });
  capability.downgrade(6);
  world.steps();
  EXPECT_TRUE(says(world[0].where_is_it_stuck(0),
                   {"at 6: ", place("unordered_input", line),
                    "in its program's capability; on worker 0: release the program's capability"}));
}

TEST(WhereIsItStuck, NamesWhoLeavesMessagesInItsInputAndWhoKeepsOneThatItTook) {
  World world;
  Input<Time> input;
  int line = keeper(world[0], input, [](auto& capability, auto&, auto&) { capability.release(); });
  input.advance_to(3);
  input.send(1);
  input.send(2);
  input.close();
  world.steps();
  EXPECT_TRUE(says(world[0].where_is_it_stuck(0),
                   {"at 3: ", place("keeper", line), "has not consumed 2 records of input 0",
                    "on worker 0: messages wait to be taken here"}));

  Input<Time> kept_input;
  line = keeper(world[0], kept_input,
                [kept = std::make_shared<std::vector<Received<Time, std::vector<Time>>>>()](
                    auto& capability, auto& port, auto&) {
                  capability.release();
                  while (auto message = port.next()) kept->push_back(std::move(*message));
                });
  kept_input.send(1);
  kept_input.close();
  world.steps();
  EXPECT_TRUE(says(world[0].where_is_it_stuck(1),
                   {"at 0: ", place("keeper", line), "has not consumed 1 record of input 0",
                    "on worker 0: it keeps 1 message that it took here"}));
}

TEST(WhereIsItStuck, TellsWhatHoldsFromWhatStandsBehindIt) {
  World world;
  Input<Time> input;
  keeper(world[0], input, [](auto& capability, auto& port, auto&) {
    if (capability && capability.time() < 5) capability.downgrade(5);
    port.for_each([](auto&) {});
  });
  input.advance_to(1);
  world.steps();
  const std::string text = world[0].where_is_it_stuck(0);
  EXPECT_TRUE(says(text, {"at 1: operator \"input\"", "1 more stands behind these"}));
  EXPECT_EQ(text.find("keeper"), std::string::npos) << text;
}

TEST(WhereIsItStuck, FindsWhatIsHeldInsideAScope) {
  World world;
  Input<Time> input;
  world[0].dataflow([&](auto& scope) {
    auto stream = scope.input(input);
    scope.iterative("loop", [&](auto& inner) {
      std::move(stream) | enter(inner) |
          unary_frontier<Time>(pipeline, "inside", [](auto capability, auto) {
            return [held = std::move(capability)](auto& port, auto&) {
              port.for_each([](auto&) {});
              static_cast<void>(held);
            };
          });
    });
  });
  input.close();
  world.steps();
  EXPECT_TRUE(says(world[0].where_is_it_stuck(0),
                   {"at (0, 0): operator \"inside\"", "[0, 2, 1]", "holds 1 capability"}));
}

TEST(WhereIsItStuck, SaysThatAnOperatorHasYetToRun) {
  World world;
  Input<Time> input;
  keeper(world[0], input, kProper);
  EXPECT_TRUE(says(world[0].where_is_it_stuck(0), {"it is about to run here: step the worker"}));
}

TEST(WhereIsItStuck, NamesTheOtherWorkerOfTwo) {
  World world(2);
  std::vector<Input<Time>> inputs(2);
  for (std::size_t worker = 0; worker < 2; ++worker) keeper(world[worker], inputs[worker], kProper);
  inputs[0].close();
  world.steps();
  EXPECT_TRUE(says(world[0].where_is_it_stuck(0),
                   {"at 0: operator \"input\"", "1 capability", "on worker 1, not here"}));
  EXPECT_TRUE(says(world[1].where_is_it_stuck(0), {"at 0: operator \"input\"", "on worker 1:"}));
}

TEST(WhereIsItStuck, DoesNotGuessWhatAnOperatorHoldsThatKeepsItsOwnAccounts) {
  World world(2);
  for (std::size_t worker = 0; worker < 2; ++worker) {
    world[worker].dataflow([](auto& scope) {
      RawOperatorBuilder<Time> builder(scope.state(), "raw");
      static_cast<void>(builder.new_output<std::vector<Time>>());
      builder.build([](auto&) {});
    });
  }
  world.steps();
  EXPECT_TRUE(says(world[0].where_is_it_stuck(0),
                   {"at 0: operator \"raw\"", "2 capabilities for output 0; on some worker:"}));
}

TEST(WhereIsItStuck, NamesTheWorkerAmongManyIfTheyKeepBook) {
  core::Config config;
  config.workers = 3;
  config.name_holders = true;
  comm::Fabric fabric(3);
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Input<Time>> inputs(3);
  for (std::size_t i = 0; i < 3; ++i) {
    workers.push_back(std::make_unique<Worker>(fabric.seat(i), config, nullptr));
    workers[i]->dataflow([&](auto& scope) {
      scope.input(inputs[i]) | exchange([](Time number) { return number; }) |
          unary_frontier<Time>(pipeline, "keeper", [i](auto capability, auto) {
            return [i, held = std::move(capability)](auto& port, auto&) mutable {
              if (i != 2) held.release();
              if (i != 1) port.for_each([](auto&) {});
            };
          });
    });
  }
  inputs[0].advance_to(3);
  inputs[0].send(1);
  inputs[0].send(4);
  for (auto& input : inputs) input.close();
  for (int round = 0; round < 20; ++round) {
    for (auto& worker : workers) worker->step();
  }
  const auto holdings = workers[0]->holdings(0);
  ASSERT_EQ(holdings.size(), 2U);
  EXPECT_TRUE(says(workers[0]->where_is_it_stuck(0),
                   {"at 0: operator \"keeper\"", "1 capability for output 0; on worker 2:",
                    "at 3: operator \"keeper\"", "2 records of input 0; on worker 1 (2):"}));
}

TEST(WhereIsItStuck, NamesTheSenderOfRecordsWhoseReceiverItCannotKnow) {
  progress::Holding held;
  held.address = {0, 2};
  held.who = "operator \"count\" (flow.cpp:7)";
  held.kind = progress::Holding::Kind::records;
  held.pact = "exchange";
  held.time = "5";
  held.count = 3;
  held.blocks = true;
  held.by_worker = {0, 3, 0};
  held.unread = progress::Unread{};
  EXPECT_EQ(progress::where_is_it_stuck("dataflow 0", {held}, 0, 3),
            "dataflow 0, as worker 0 sees it: what its frontiers wait for\n"
            "  at 5: operator \"count\" (flow.cpp:7) [0, 2] has not consumed 3 records of input 0; "
            "on another worker, not here, sent by worker 1 (3): take them, and let go of the "
            "messages\n");
  held.unread.reset();
  EXPECT_TRUE(says(progress::where_is_it_stuck("dataflow 0", {held}, 0, 3),
                   {"on some worker, sent by worker 1 (3)"}));
  held.count = -3;
  EXPECT_EQ(progress::where_is_it_stuck("dataflow 0", {held}, 0, 3),
            "dataflow 0, as worker 0 sees it: what its frontiers wait for\n"
            "  reports of peers are under way: look again\n");
}

}  // namespace
}  // namespace leat::dataflow
