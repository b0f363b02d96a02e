// Input, unordered input and probe: the ends of a dataflow that a program holds.
#include <leat/dataflow/input.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
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
using Records = std::vector<std::pair<Time, int>>;  // with their times

// The sizes of the batches that pass, and their records.
struct Seen {
  Sizes sizes;
  Records records;
  auto op() {
    return inspect_batch([this](Time time, const std::vector<int>& batch) {
      sizes.push_back(batch.size());
      for (const int record : batch) records.emplace_back(time, record);
    });
  }
};

// --- batches of an input

TEST(Input, KeepsRecordsInABatchUntilItIsFlushed) {
  World world;
  Input<int> input;
  Seen seen;
  world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op(); });
  input.send(1);
  input.send(2);
  world.steps();
  EXPECT_EQ(seen.sizes, Sizes{});
  input.flush();
  world.steps();
  EXPECT_EQ(seen.sizes, Sizes{2});
  EXPECT_EQ(seen.records, (Records{{0, 1}, {0, 2}}));
}

TEST(Input, SendsAFullBatchByItself) {
  World world;
  Input<int> input;
  Seen seen;
  world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op(); });
  for (std::size_t i = 0; i <= kBatchRecords<int>; ++i) input.send(0);
  world.steps();
  EXPECT_EQ(seen.sizes, Sizes{kBatchRecords<int>});
}

TEST(Input, AdvancingClosesTheBatchAndMovesTheTime) {
  World world;
  Input<int> input;
  Probe<> probed;
  Seen seen;
  world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op() | probe(probed); });
  EXPECT_EQ(input.time(), 0u);
  input.send(1);
  input.advance_to(4);
  EXPECT_EQ(input.time(), 4u);
  input.send(2);
  input.advance_to(4);  // the same time: closes the batch alone
  world.steps();
  EXPECT_EQ(seen.records, (Records{{0, 1}, {4, 2}}));
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{4});
  input.close();
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(probed.done());
}

TEST(Input, SendBatchArrivesAsExactlyOneBatchWithWhatWaited) {
  World world;
  Input<int> input;
  Seen seen;
  world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op(); });
  input.send(1);
  input.send(2);
  std::vector<int> batch{3, 4, 5};
  input.send_batch(batch);
  EXPECT_TRUE(batch.empty());
  input.send_batch({6});
  input.send_batch(batch);  // empty: nothing
  world.steps();
  EXPECT_EQ(seen.sizes, (Sizes{5, 1}));
  EXPECT_EQ(seen.records.front(), (std::pair<Time, int>{0, 1}));
  EXPECT_EQ(seen.records[4], (std::pair<Time, int>{0, 5}));
}

TEST(Input, SendBatchStaysOneHoweverLargeItIs) {
  World world;
  Input<int> input;
  Seen seen;
  world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op(); });
  input.send(1);
  input.send_batch(std::vector<int>(3 * kBatchRecords<int>, 7));
  world.steps();
  EXPECT_EQ(seen.sizes, Sizes{3 * kBatchRecords<int> + 1});
}

// Two workers whose records all go to worker 1.
struct ToOther {
  World world{2};
  std::vector<Input<int>> inputs{2};
  Seen seen;
  ToOther() {
    for (std::size_t index = 0; index < 2; ++index) {
      world[index].dataflow([&](auto& scope) {
        auto routed = scope.input(inputs[index]) | exchange([](int) { return 1; });
        if (index == 1) {
          routed | seen.op();
        } else {
          routed | inspect_batch([](Time, const auto&) { ADD_FAILURE() << "the wrong worker"; });
        }
      });
    }
    world.steps();
  }
};

TEST(Input, FlushBringsRecordsToAnotherWorkerWithinTheirEpoch) {
  ToOther to;
  to.inputs[0].send(1);
  to.world[1].step();
  EXPECT_EQ(to.seen.records, Records{});
  to.inputs[0].flush();
  // The sender does not step, and its time does not move.
  to.world[1].step();
  EXPECT_EQ(to.seen.records, (Records{{0, 1}}));
}

TEST(Input, SendBatchBringsRecordsToAnotherWorkerWithoutAFlush) {
  ToOther to;
  to.inputs[0].send(1);
  to.inputs[0].send_batch({2, 3});
  to.world[1].step();
  EXPECT_EQ(to.seen.records, (Records{{0, 1}, {0, 2}, {0, 3}}));
  EXPECT_EQ(to.seen.sizes, Sizes{3});
}

TEST(Input, FlushBringsAlsoWhatFilledABatchExactly) {
  ToOther to;
  for (std::size_t i = 0; i < kBatchRecords<int> / 2; ++i) to.inputs[0].send(0);
  to.inputs[0].flush();
  for (std::size_t i = 0; i < kBatchRecords<int> / 2; ++i) to.inputs[0].send(0);
  to.inputs[0].flush();
  to.world[1].step();
  EXPECT_EQ(to.seen.records.size(), kBatchRecords<int>);
}

TEST(Input, AnEmptyFlushMakesNoNoticeAndNoWake) {
  ToOther to;
  to.inputs[0].send(1);
  to.inputs[0].flush();
  const auto before = to.world[0].counters();
  EXPECT_EQ(before.notices, 1u);
  for (int i = 0; i < 10; ++i) to.inputs[0].flush();
  to.inputs[0].advance_to(0);
  to.world[0].step();
  const auto after = to.world[0].counters();
  EXPECT_EQ(after.notices, before.notices);
  EXPECT_EQ(after.wakes_sent, before.wakes_sent);
}

TEST(Input, RecordsForTheSameWorkerMakeNoNoticeAndNoWake) {
  ToOther to;
  to.inputs[1].send(1);
  to.inputs[1].flush();
  to.world[1].step();
  EXPECT_EQ(to.seen.records, (Records{{0, 1}}));
  EXPECT_EQ(to.world[1].counters().notices, 0u);
  EXPECT_EQ(to.world[1].counters().wakes_sent, 0u);
}

TEST(Input, SeveralBatchesForASleeperMakeOneNotice) {
  ToOther to;
  for (int i = 0; i < 10; ++i) {
    to.inputs[0].send(i);
    to.inputs[0].flush();
  }
  EXPECT_EQ(to.world[0].counters().notices, 1u);
  to.world[1].step();
  EXPECT_EQ(to.seen.records.size(), 10u);
}

// --- misuse of an input

TEST(Input, RefusesToMoveBackwards) {
  World world;
  Input<int> input;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    scope.input(input) | probe(Probe<>());
  });
  input.advance_to(5);
  EXPECT_TRUE(says(usage_error([&] { input.advance_to(3); }),
                   {place("input", line), "to time 3", "a current time of 5"}));
  EXPECT_EQ(input.time(), 5u);
  input.advance_to(6);
}

TEST(Input, RefusesEverythingAfterItWasClosed) {
  World world;
  Input<int> input;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    scope.input(input) | probe(Probe<>());
  });
  input.close();
  const auto name = place("input", line);
  std::vector<int> batch{1};
  EXPECT_TRUE(says(usage_error([&] { input.send(1); }), {name, "a record", "was closed"}));
  EXPECT_TRUE(says(usage_error([&] { input.send_batch(batch); }), {name, "a batch", "was closed"}));
  EXPECT_TRUE(says(usage_error([&] { input.advance_to(9); }), {name, "was closed"}));
  EXPECT_TRUE(says(usage_error([&] { world[0].dataflow([&](auto& s) { (void)s.input(input); }); }),
                   {name, "a dataflow to be fed", "was closed"}));
}

TEST(Input, RefusesToSendOnAnotherThread) {
  World world;
  Input<int> input;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    scope.input(input) | inspect([](int) {});
  });
  std::string said;
  std::thread([&] {
    said = usage_error([&] {
      input.send(1);
      input.flush();
    });
  }).join();
  EXPECT_TRUE(says(said, {place("input", line), "another thread"}));
}

// --- one input and several dataflows

TEST(Input, FeedsAllDataflowsItIsGivenTo) {
  World world;
  Input<int> input;
  Seen first;
  Seen second;
  input.advance_to(2);  // before anybody listens
  world[0].dataflow([&](auto& scope) { scope.input(input) | first.op(); });
  input.send(1);
  input.advance_to(3);
  world[0].dataflow([&](auto& scope) { scope.input(input) | second.op(); });
  input.send(2);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(first.records, (Records{{2, 1}, {3, 2}}));
  EXPECT_EQ(second.records, (Records{{3, 2}}));
}

TEST(Input, MayBeSentToWithoutADataflow) {
  Input<int> input;
  input.send(1);
  input.flush();
  input.advance_to(7);
  input.close();
}

TEST(Input, OutlivesADataflowThatWasDropped) {
  World world(2);
  std::vector<Input<int>> inputs(2);
  Seen seen;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto stream = scope.input(inputs[index]);
      stream | inspect([](int) {});
      stream | exchange(hash) | inspect([](int) {});
    });
    world[index].dataflow([&](auto& scope) { scope.input(inputs[index]) | seen.op(); });
  }
  inputs[0].send(1);
  inputs[0].flush();
  for (std::size_t index = 0; index < 2; ++index) world[index].drop_dataflow(0);
  inputs[0].send(2);
  inputs[0].advance_to(1);
  inputs[0].send_batch({3});
  inputs.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.records, (Records{{0, 1}, {0, 2}, {1, 3}}));
}

TEST(Input, OutlivesItsWorker) {
  Input<int> input;
  {
    World world;
    world[0].dataflow([&](auto& scope) { scope.input(input) | inspect([](int) {}); });
  }
  input.send(1);
  input.flush();
  input.advance_to(2);
}

// --- its life

TEST(Input, EndsWithItsHandle) {
  World world;
  Seen seen;
  {
    Input<int> input;
    world[0].dataflow([&](auto& scope) { scope.input(input) | seen.op(); });
    input.send(1);
  }
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.records, (Records{{0, 1}}));
}

TEST(Input, ThatAnExceptionLeavesGivesUpWhatWaited) {
  ToOther to;
  try {
    const auto input = std::move(to.inputs[0]);
    throw std::runtime_error("given up");
  } catch (const std::runtime_error&) {
  }
  to.inputs.clear();
  EXPECT_TRUE(to.world.ends());
}

TEST(Input, ThatAnExceptionLeavesStillBringsWhatWasShipped) {
  ToOther to;
  try {
    auto input = std::move(to.inputs[0]);
    for (std::size_t i = 0; i <= kBatchRecords<int>; ++i) input.send(1);
    throw std::runtime_error("given up");
  } catch (const std::runtime_error&) {
  }
  to.inputs.clear();
  EXPECT_TRUE(to.world.ends());
  EXPECT_EQ(to.seen.records.size(), kBatchRecords<int>);
}

TEST(Input, MovesWithWhatWaitsInIt) {
  ToOther to;
  for (std::size_t i = 0; i < kBatchRecords<int>; ++i)
    to.inputs[0].send(1);  // shipped, not flushed
  to.inputs[0].send(2);
  Input<int> other;
  other = std::move(to.inputs[0]);
  other.close();
  to.world[1].step();
  EXPECT_EQ(to.seen.records.size(), kBatchRecords<int> + 1);
  to.inputs.clear();
  EXPECT_TRUE(to.world.ends());
}

TEST(Input, AssignmentEndsTheOneThatWasThere) {
  World world;
  Probe<> probed;
  Input<int> input;
  world[0].dataflow([&](auto& scope) { scope.input(input) | probe(probed); });
  input = Input<int>();
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(probed.done());
}

TEST(Input, TakesRecordsThatCannotBeCopied) {
  using Owned = std::unique_ptr<int>;
  World world;
  Input<Owned> input;
  int sum = 0;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | inspect([&](const Owned& record) { sum += *record; });
  });
  input.send(std::make_unique<int>(1));
  std::vector<Owned> batch;
  batch.push_back(std::make_unique<int>(2));
  input.send_batch(batch);
  int line = 0;
  const auto said = usage_error([&] {
    world[0].dataflow([&](auto& scope) {
      line = __LINE__ + 1;
      (void)scope.input(input);
    });
  });
  EXPECT_TRUE(says(said, {place("input", line), "cannot be copied"}));
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(sum, 3);
}

// --- probe

TEST(Probe, IsConservativeInEveryRoundAndDoneSoonAfterTheEnd) {
  for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
    World world(1, mode);
    std::optional<Input<int>> input(std::in_place);
    Probe<> probed;
    world[0].dataflow(
        [&](auto& scope) { scope.input(*input) | map([](int x) { return x; }) | probe(probed); });
    for (Time round = 0; round < 10; ++round) {
      EXPECT_FALSE(probed.done());
      EXPECT_TRUE(probed.less_equal(round));
      EXPECT_TRUE(probed.less_than(round + 1));
      input->advance_to(round + 1);
      world[0].step();
    }
    input.reset();
    for (int step = 0; step < 4 && !probed.done(); ++step) world[0].step();
    EXPECT_TRUE(probed.done());
    EXPECT_FALSE(probed.less_equal(1'000'000));
  }
}

TEST(Probe, StandsAtTheLeastTimeUntilItsOperatorRan) {
  World world;
  Probe<> probed;
  world[0].dataflow([&](auto& scope) { empty<int>(scope) | probe(probed); });
  EXPECT_TRUE(probed.less_equal(0));
  EXPECT_FALSE(probed.done());
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(probed.done());
}

TEST(Probe, OnNoStreamIsDone) {
  const Probe<> probed;
  EXPECT_TRUE(probed.done());
  EXPECT_FALSE(probed.less_equal(0));
}

TEST(Probe, OnSeveralStreamsShowsAllTheirTimes) {
  World world;
  Input<int> first;
  Input<int> second;
  Probe<> both;
  const Probe<> copy = both;
  world[0].dataflow([&](auto& scope) {
    scope.input(first) | probe(both);
    scope.input(second) | probe(both);
  });
  first.advance_to(5);
  world.steps();
  EXPECT_EQ(listed(copy.frontier()), std::vector<Time>{0});
  second.advance_to(3);
  world.steps();
  EXPECT_EQ(listed(copy.frontier()), std::vector<Time>{3});
  second.close();
  world.steps();
  EXPECT_EQ(listed(copy.frontier()), std::vector<Time>{5});
  EXPECT_TRUE(copy.less_than(6));
  EXPECT_FALSE(copy.less_than(5));
  first.close();
  world.steps();
  EXPECT_TRUE(copy.done());
}

TEST(Probe, IsDoneWhenItsDataflowIsDropped) {
  World world;
  Input<int> input;
  Probe<> probed;
  world[0].dataflow([&](auto& scope) { scope.input(input) | probe(probed); });
  world.steps();
  EXPECT_FALSE(probed.done());
  world[0].drop_dataflow(0);
  EXPECT_TRUE(probed.done());
}

TEST(Probe, OfSeveralWorkersWaitsForTheSlowest) {
  World world(3);
  std::vector<Input<int>> inputs(3);
  std::vector<Probe<>> probes(3);
  for (std::size_t index = 0; index < 3; ++index) {
    world[index].dataflow(
        [&](auto& scope) { scope.input(inputs[index]) | exchange(hash) | probe(probes[index]); });
  }
  for (Time round = 1; round < 10; ++round) {
    inputs[0].advance_to(round);
    inputs[1].advance_to(round);
    world.steps();
    for (const auto& probed : probes) EXPECT_TRUE(probed.less_than(round));
    inputs[2].advance_to(round);
    world.steps();
    for (const auto& probed : probes)
      EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{round});
  }
  inputs.clear();
  EXPECT_TRUE(world.ends());
}

// --- unordered input

TEST(UnorderedInput, BringsRecordsAtTimesInAnyOrder) {
  World world;
  Records seen;
  Probe<> probed;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    auto input = unordered_input<int>(scope);
    input.stream | inspect_time([&](Time time, int x) { seen.emplace_back(time, x); }) |
        probe(probed);
    return std::pair(std::move(input.handle), std::move(input.capability));
  });
  auto early = capability.delayed(2);
  auto late = capability.delayed(9);
  capability.release();
  handle.session(late).give(90);
  world.steps();
  EXPECT_EQ(seen, (Records{{9, 90}}));
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{2});
  handle.session(early.delayed(5)).give(50);
  early.release();
  world.steps();
  EXPECT_EQ(seen, (Records{{9, 90}, {5, 50}}));
  EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{9});
  late.release();
  EXPECT_TRUE(world.ends());
}

TEST(UnorderedInput, BringsEveryRecordWithinItsStep) {
  World world;
  std::vector<std::vector<int>> seen;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    auto input = unordered_input<int>(scope);
    input.stream |
        inspect_batch([&](Time, const std::vector<int>& batch) { seen.push_back(batch); });
    return std::pair(std::move(input.handle), std::move(input.capability));
  });
  world.steps();
  for (int round = 0; round < 10; ++round) {
    handle.session(capability).give(round);
    capability.downgrade(static_cast<Time>(round) + 1);
    world[0].step();
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(round) + 1);
    EXPECT_EQ(seen.back(), std::vector<int>{round});
  }
}

TEST(UnorderedInput, HasTimesThatAreNotTotallyOrdered) {
  World world(2);
  std::vector<std::pair<Pair, int>> seen;
  std::vector<UnorderedHandle<Pair, int>> handles;
  std::vector<Capability<Pair>> capabilities;
  std::vector<Probe<Pair>> probes(2);
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow<Pair>([&](auto& scope) {
      auto input = unordered_input<int>(scope);
      handles.push_back(std::move(input.handle));
      capabilities.push_back(std::move(input.capability));
      input.stream | exchange([](int) { return 0; }) |
          inspect_time([&](const Pair& time, int x) { seen.emplace_back(time, x); }) |
          probe(probes[index]);
    });
  }
  capabilities[0].downgrade({0, 4});
  capabilities[1].downgrade({4, 0});
  handles[1].session(capabilities[1]).give(40);
  handles[0].session(capabilities[0]).give(4);
  world.steps();
  auto frontier = listed(probes[0].frontier());
  std::sort(frontier.begin(), frontier.end());
  EXPECT_EQ(frontier, (std::vector<Pair>{{0, 4}, {4, 0}}));
  capabilities.clear();
  EXPECT_TRUE(world.ends());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::pair<Pair, int>>{{{0, 4}, 4}, {{4, 0}, 40}}));
}

TEST(UnorderedInput, RefusesACapabilityThatIsNotItsOwn) {
  World world;
  int line = 0;
  world[0].dataflow([&](auto& scope) {
    line = __LINE__ + 1;
    auto mine = unordered_input<int>(scope);
    auto other = unordered_input<int>(scope);
    const auto name = place("unordered_input", line);
    EXPECT_TRUE(says(usage_error([&] { mine.handle.session(other.capability).give(1); }),
                     {name, "not of this input"}));
    const auto taken = std::move(mine.capability);
    // NOLINTNEXTLINE(bugprone-use-after-move): what is tested
    EXPECT_TRUE(says(usage_error([&] { mine.handle.session(mine.capability).give(1); }), {name}));
  });
}

TEST(UnorderedInput, ASessionHoldsItsTimeItself) {
  World world;
  Records seen;
  Probe<> probed;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    auto input = unordered_input<int>(scope);
    input.stream | inspect_time([&](Time time, int x) { seen.emplace_back(time, x); }) |
        probe(probed);
    return std::pair(std::move(input.handle), std::move(input.capability));
  });
  {
    auto session = handle.session(capability);
    capability.release();
    world.steps();
    EXPECT_EQ(listed(probed.frontier()), std::vector<Time>{0});
    session.give(1);
  }
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen, (Records{{0, 1}}));
}

TEST(UnorderedInput, BringsAlsoWhatFilledABatchExactly) {
  World world(2);
  std::size_t seen = 0;
  std::vector<UnorderedHandle<Time, int>> handles;
  std::vector<Capability<Time>> capabilities;
  for (std::size_t index = 0; index < 2; ++index) {
    world[index].dataflow([&](auto& scope) {
      auto input = unordered_input<int>(scope);
      handles.push_back(std::move(input.handle));
      capabilities.push_back(std::move(input.capability));
      input.stream | exchange([](int x) { return x; }) | inspect([&](int) { ++seen; });
    });
  }
  {
    auto session = handles[0].session(capabilities[0]);
    for (std::size_t i = 0; i < kBatchRecords<int>; ++i) session.give(static_cast<int>(i % 2));
  }
  capabilities.clear();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen, kBatchRecords<int>);
}

TEST(UnorderedInput, OutlivesItsDataflow) {
  World world;
  auto [handle, capability] = world[0].dataflow([&](auto& scope) {
    auto input = unordered_input<int>(scope);
    input.stream | exchange(hash) | inspect([](int) {});
    return std::pair(std::move(input.handle), std::move(input.capability));
  });
  world[0].drop_dataflow(0);
  auto session = handle.session(capability);
  for (std::size_t i = 0; i < kBatchRecords<int> + 1; ++i) session.give(1);
}

}  // namespace
}  // namespace leat::dataflow
