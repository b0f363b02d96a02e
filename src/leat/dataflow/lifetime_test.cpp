// How dataflows end before their time: cancelled on all workers, or because code of theirs threw.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/rng.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::says;
using test::usage_error;
using test::World;
using Ints = std::vector<int>;
using Time = std::uint64_t;

// Counts how many there are.
struct Counted {
  int* count;
  explicit Counted(int& c) : count(&c) { ++*count; }
  Counted(const Counted& other) : count(other.count) { ++*count; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*count; }
};

// What a flow of `Flows` said on all workers.
struct Output {
  std::vector<std::pair<Time, int>> records;         // as they came
  std::vector<std::pair<Time, std::size_t>> counts;  // per time and worker, when it was complete
};

// A loop that passes each record on three times, over all workers, and counts per time at its end.
struct Flow {
  std::vector<Input<int>> inputs;
  std::vector<Probe<>> probes;
  Output output;
  std::vector<int> alive;  // parts of operators, by worker

  explicit Flow(std::size_t peers) : inputs(peers), probes(peers), alive(peers, 0) {}

  void build(Worker& worker) {
    worker.dataflow([&](auto& scope) {
      auto [handle, cycle] = feedback<int>(scope, 1);
      auto hop =
          map([held = std::make_unique<Counted>(alive[worker.index()])](int x) { return x + 1; });
      auto all = scope.input(inputs[worker.index()]) | concat(cycle) |
                 exchange([](int x) { return x; }) | std::move(hop);
      all | filter([](int x) { return x % 4 != 0; }) | connect_loop(std::move(handle));
      all | inspect_time([this](Time time, int x) { output.records.emplace_back(time, x); }) |
          count() |
          inspect_time([this](Time time, std::size_t n) { output.counts.emplace_back(time, n); }) |
          probe(probes[worker.index()]);
    });
  }
};

// Feeds `flow` a record of each worker, at its time; as worker `index` is told to.
void feed(Flow& flow, std::size_t index, Time time, int record) {
  flow.inputs[index].send(4 * record);
  flow.inputs[index].advance_to(time + 1);
}

// What a flow says of `times` times, each fed one record by each of `peers` workers.
Output all_of(std::size_t peers, Time times) {
  Output all;
  World world(peers);
  Flow flow(peers);
  for (std::size_t i = 0; i < peers; ++i) flow.build(world[i]);
  for (Time time = 0; time < times; ++time) {
    for (std::size_t i = 0; i < peers; ++i) feed(flow, i, time, static_cast<int>(time + i));
  }
  for (auto& input : flow.inputs) input.close();
  EXPECT_TRUE(world.ends());
  std::sort(flow.output.records.begin(), flow.output.records.end());
  std::sort(flow.output.counts.begin(), flow.output.counts.end());
  return flow.output;
}

// Whether `part`, sorted, is in `whole` with each of its elements as often.
template <class T>
bool is_within(std::vector<T> part, const std::vector<T>& whole) {
  std::sort(part.begin(), part.end());
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

TEST(Cancel, AtAnyPointEndsTheDataflowEverywhereAndNoOther) {
  constexpr Time kTimes = 6;
  std::vector<Output> expected(5);
  for (std::size_t peers = 1; peers <= 4; ++peers) expected[peers] = all_of(peers, kTimes);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::size_t peers = 1 + rng.below(4);
    const auto mode = rng.below(2) == 0 ? core::ProgressMode::eager : core::ProgressMode::demand;
    World world(peers, mode);
    Flow doomed(peers);
    Flow kept(peers);
    const std::uint64_t point = rng.below(60);  // of time, in steps of some worker
    const std::size_t who = rng.below(peers);
    const bool twice = rng.below(3) == 0;  // by another worker as well, at the same moment
    std::vector<bool> built(peers, false);
    std::vector<Time> fed(peers, 0);
    bool asked = false;
    std::size_t said_when_agreed = 0;
    bool agreed = false;
    std::uint64_t steps = 0;
    for (;; ++steps) {
      ASSERT_LT(steps, 20'000u);
      const std::size_t index = rng.below(peers);
      if (!built[index]) {
        doomed.build(world[index]);
        kept.build(world[index]);
        built[index] = true;
      }
      if (steps >= point && built[who] && !asked) {
        asked = true;
        world[who].cancel(0);
        EXPECT_EQ(doomed.alive[who], 0);
        if (const std::size_t other = (who + 1) % peers; twice && built[other]) {
          world[other].cancel(0);
          EXPECT_EQ(doomed.alive[other], 0);
        }
      }
      if (const Time time = fed[index]; time < kTimes && rng.below(3) == 0) {
        feed(doomed, index, time, static_cast<int>(time + index));
        feed(kept, index, time, static_cast<int>(time + index));
        if (++fed[index] == kTimes) {
          doomed.inputs[index].close();
          kept.inputs[index].close();
        }
      }
      world[index].step();
      if (asked && world[who].state(0) != DataflowState::cancelling) {
        if (!agreed) said_when_agreed = doomed.output.records.size() + doomed.output.counts.size();
        agreed = true;
      }
      bool running = !asked || !agreed;
      for (std::size_t i = 0; i < peers; ++i) {
        running = running || !built[i] || fed[i] < kTimes || world[i].has_dataflows();
      }
      if (!running) break;
    }
    // Other dataflows are untouched.
    std::sort(kept.output.records.begin(), kept.output.records.end());
    std::sort(kept.output.counts.begin(), kept.output.counts.end());
    EXPECT_EQ(kept.output.records, expected[peers].records);
    EXPECT_EQ(kept.output.counts, expected[peers].counts);
    // Nothing came out after the agreed point, and what did was right; a count of a time that was
    // not complete would be another.
    if (world[who].state(0) == DataflowState::cancelled) {
      EXPECT_EQ(doomed.output.records.size() + doomed.output.counts.size(), said_when_agreed);
    }
    EXPECT_TRUE(is_within(doomed.output.records, expected[peers].records));
    EXPECT_TRUE(is_within(doomed.output.counts, expected[peers].counts));
    for (std::size_t i = 0; i < peers; ++i) {
      EXPECT_EQ(doomed.alive[i], 0);
      EXPECT_NE(world[i].state(0), DataflowState::running);
      EXPECT_EQ(world[i].state(1), DataflowState::ended);
    }
  }
}

TEST(Cancel, WhatIsLeftOutsideHasNoEffect) {
  World world(2);
  Flow flow(2);
  std::optional<Capability<Time>> held;
  UnorderedHandle<Time, int>* handle = nullptr;
  std::vector<UnorderedInput<Time, int>> unordered;
  for (std::size_t i = 0; i < 2; ++i) {
    world[i].dataflow([&](auto& scope) {
      unordered.push_back(unordered_input<int>(scope));
      unordered.back().stream | concat(scope.input(flow.inputs[i])) |
          exchange([](int x) { return x; }) | probe(flow.probes[i]);
    });
  }
  handle = &unordered[0].handle;
  held = unordered[0].capability.clone();
  feed(flow, 0, 0, 7);
  world.steps(2);
  EXPECT_FALSE(flow.probes[0].cut_short());
  EXPECT_TRUE(flow.probes[0].less_equal(5));
  world[0].cancel(0);
  EXPECT_EQ(world[0].state(0), DataflowState::cancelling);
  EXPECT_EQ(world[1].state(0), DataflowState::running);
  EXPECT_TRUE(flow.probes[0].done());
  EXPECT_TRUE(flow.probes[0].cut_short());
  EXPECT_FALSE(flow.probes[1].done());
  world.steps(2);
  EXPECT_TRUE(flow.probes[1].cut_short());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(world[i].state(0), DataflowState::cancelled);
    EXPECT_FALSE(world[i].has_dataflows());
    flow.inputs[i].send(1);
    flow.inputs[i].send_batch({1, 2, 3});
    flow.inputs[i].advance_to(9);
    EXPECT_EQ(flow.inputs[i].time(), 9u);
    flow.inputs[i].close();
  }
  handle->session(*held).give(5);
  EXPECT_EQ(held->delayed(3).time(), 3u);
  held.reset();
  world[0].cancel(0);  // it is over already
  world.steps();
  EXPECT_EQ(world[0].state(0), DataflowState::cancelled);
  EXPECT_TRUE(says(usage_error([&] { world[0].cancel(5); }), {"to cancel dataflow 5"}));
  EXPECT_TRUE(says(usage_error([&] { (void)world[0].state(5); }), {"the state of dataflow 5"}));
}

TEST(Cancel, FromWithinAnOperatorComesWhenItsRunIsOver) {
  World world(2);
  int alive = 0;
  std::vector<Input<int>> inputs(2);
  Ints seen;
  for (std::size_t i = 0; i < 2; ++i) {
    world[i].dataflow([&, i](auto& scope) {
      scope.input(inputs[i]) | inspect([&, i, held = std::make_shared<Counted>(alive)](int x) {
        seen.push_back(x);
        if (x == 2) {
          world[i].cancel(0);
          EXPECT_EQ(world[i].state(0), DataflowState::running);
        }
      });
    });
  }
  inputs[0].send_batch({1, 2, 3});
  world.steps(3);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(seen, (Ints{1, 2, 3}));
  inputs[0].send_batch({4});
  world.steps(3);
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(world[0].state(0), DataflowState::cancelled);
  EXPECT_EQ(world[1].state(0), DataflowState::cancelled);
}

TEST(Cancel, OfADataflowThatAPeerHasNotBuiltYetIsRemembered) {
  World world(3);
  Flow flow(3);
  flow.build(world[0]);
  feed(flow, 0, 0, 1);
  world.steps(3);
  world[0].cancel(0);
  world.steps(3);
  EXPECT_EQ(world[0].state(0), DataflowState::cancelled);
  for (std::size_t i = 1; i < 3; ++i) {
    flow.build(world[i]);
    EXPECT_EQ(flow.alive[i], 0);
    EXPECT_FALSE(world[i].has_dataflows());
    EXPECT_EQ(world[i].state(0), DataflowState::cancelled);
  }
  world.steps(3);
  EXPECT_TRUE(flow.output.records.empty());
}

TEST(Cancel, DoesNotWaitForAWorkerThatHasLeft) {
  comm::Fabric fabric(2);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < 2; ++i)
    workers.push_back(std::make_unique<Worker>(fabric.seat(i), core::Config(), nullptr));
  Flow flow(2);
  for (auto& worker : workers) flow.build(*worker);
  workers[0]->cancel(0);
  EXPECT_EQ(workers[0]->state(0), DataflowState::cancelling);
  workers.pop_back();
  workers[0]->step();
  EXPECT_EQ(workers[0]->state(0), DataflowState::cancelled);
}

// --- what user code throws

struct OutOfLuck {
  int number;
};

int number_of(const comm::Ending& ending) {
  try {
    if (ending.error) std::rethrow_exception(ending.error);
  } catch (const OutOfLuck& thrown) {
    return thrown.number;
  } catch (...) {
    return -1;
  }
  return 0;
}

core::Config workers(std::size_t count) {
  core::Config config;
  config.workers = count;
  return config;
}

enum class Then { returns, goes_on };

// One worker's function catches what its dataflow threw; the others wait for that dataflow.
template <class Fail>
void expect_all_end(std::size_t peers, Then then, std::string_view whose, const Fail& fail) {
  const auto outcome = execute(workers(peers), [&](Worker& worker) {
    Input<int> input;
    Probe<> probe;
    const bool is_victim = worker.index() == 0;
    const auto go_on = [&] { worker.step_or_park_while([&] { return !probe.done(); }); };
    if (!is_victim) {
      fail(worker, input, probe, false);
      input.advance_to(5);
      return go_on();
    }
    try {
      fail(worker, input, probe, true);
      input.advance_to(1);
      go_on();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const OutOfLuck&) {
      if (then == Then::returns) return;
    }
    while (worker.step_or_park() || peers > 1) {
    }
  });
  EXPECT_EQ(number_of(outcome.ending(0)), 3);
  EXPECT_FALSE(outcome.ending(0).stopped);
  EXPECT_TRUE(says(outcome.ending(0).where, {whose})) << outcome.ending(0).where;
  for (std::size_t i = 1; i < peers; ++i) EXPECT_TRUE(outcome.ending(i).stopped);
}

TEST(Failure, OfAnOperatorThatTheProgramCatchesIsItsWorkersEndingAllTheSame) {
  for (const auto then : {Then::returns, Then::goes_on}) {
    for (std::size_t peers = 1; peers <= 3; ++peers) {
      expect_all_end(peers, then, "\"inspect\"", [](auto& worker, auto& input, auto& p, bool bad) {
        worker.dataflow([&](auto& scope) {
          scope.input(input) | exchange([](int) { return 0; }) | probe(p) | inspect([bad](int x) {
            if (bad) throw OutOfLuck{x};
          });
        });
        input.send(3);
        input.flush();
      });
    }
  }
}

TEST(Failure, OfARouteWhileAnInputSendsEndsTheDataflowAndAllWorkers) {
  for (const auto then : {Then::returns, Then::goes_on}) {
    for (std::size_t peers = 1; peers <= 3; ++peers) {
      expect_all_end(peers, then, "\"input\"", [](auto& worker, auto& input, auto& p, bool bad) {
        worker.dataflow([&](auto& scope) {
          OperatorBuilder<Time> builder(scope.state(), "take");
          auto in = builder.new_input(scope.input(input),
                                      distribute_by([bad](std::vector<int>& batch, auto give) {
                                        if (bad) throw OutOfLuck{batch.front()};
                                        for (int x : batch) give(0, x);
                                      }));
          auto [port, out] = builder.template new_output<std::vector<int>>();
          builder.build([&](auto) { return [in = std::move(in)] {}; });
          out | probe(p);
        });
        input.send(3);
        input.flush();
      });
    }
  }
}

TEST(Failure, OfOneDataflowOfAnInputLetsTheOthersHaveTheirRecords) {
  World world;
  Input<int> input;
  Ints got;
  const auto fails = distribute_by([](std::vector<int>& batch, auto give) {
    for (int x : batch) x == 3 ? throw OutOfLuck{3} : give(0, x);
  });
  world[0].dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "take");
    auto in = builder.new_input(scope.input(input), fails);
    builder.build([&](auto) { return [in = std::move(in)] {}; });
  });
  world[0].dataflow(
      [&](auto& scope) { scope.input(input) | inspect([&](int x) { got.push_back(x); }); });
  input.send(2);
  input.send(3);
  EXPECT_THROW(input.flush(), OutOfLuck);
  EXPECT_EQ(world[0].state(0), DataflowState::ended);
  input.send(4);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(got, (Ints{2, 3, 4}));
}

TEST(Failure, ToBuildOnOneWorkerEndsThoseThatBuiltAlsoIfItIsCaught) {
  for (const auto then : {Then::returns, Then::goes_on}) {
    for (std::size_t round = 0; round < 20; ++round) {
      expect_all_end(2, then, "", [](auto& worker, auto& input, auto& p, bool bad) {
        worker.dataflow([&](auto& scope) {
          auto stream = scope.input(input) | exchange([](int) { return 0; });
          if (bad) throw OutOfLuck{3};
          stream | probe(p);
        });
      });
    }
  }
}

TEST(Failure, ToBuildOnEveryWorkerIsTheProgramsAffair) {
  const auto outcome = execute(workers(2), [&](Worker& worker) {
    EXPECT_THROW(worker.dataflow([&](auto&) { throw OutOfLuck{3}; }), OutOfLuck);
    Ints got;
    worker.dataflow([&](auto& scope) {
      to_stream(scope, Ints{1}) | inspect([&](int x) { got.push_back(x); });
    });
    while (worker.step_or_park()) {
    }
    return got;
  });
  EXPECT_TRUE(outcome.ok());
}

// --- what an operator cannot justify

// Runs one operator that writes into its scope's ledger by itself; what the error says, if any.
template <class Write>
std::string validated(bool on, Write write) {
  comm::Fabric fabric(1);
  core::Config config;
  config.validate_progress = on;
  Worker worker(fabric.seat(0), config, nullptr);
  worker.dataflow([&](auto& scope) {
    OperatorBuilder<Time> builder(scope.state(), "raw");
    auto in =
        builder.new_input(to_stream(scope, Ints{1}) | delay([](int, Time) { return 4; }), pipeline);
    auto [port, out] = builder.template new_output<std::vector<int>>();
    builder.build([&](std::vector<Capability<Time>> capabilities) {
      return [&write, context = builder.context(), in = std::move(in), done = false,
              initial = std::move(capabilities[0])]() mutable {
        initial.release();
        if (auto message = in.next(); message && !std::exchange(done, true)) {
          write(*context->ledger, context->outputs[0]->port);
        }
      };
    });
    out | inspect([](int) {});
  });
  return usage_error([&] {
    for (int i = 0; i < 10; ++i) worker.step();
  });
}

TEST(Validation, NamesTheOperatorWhoseCapabilityNothingJustifies) {
  const auto conjure = [](auto& ledger, auto port) { ledger.update(port, 3, +1); };
  EXPECT_TRUE(says(validated(true, conjure),
                   {"operator \"raw\"", "a capability at 3 for output 0", "no capability held"}));
  EXPECT_TRUE(says(validated(true, [&](auto& l, auto p) { l.update(p, 9, -1); }),
                   {"operator \"raw\"", "to drop a capability at 9 for output 0"}));
  EXPECT_EQ(validated(true, [](auto& l, auto p) { l.update(p, 4, +1); }), "nothing was thrown");
  EXPECT_EQ(validated(false, conjure), "nothing was thrown");
}

}  // namespace
}  // namespace leat::dataflow
