// Who gets how much of a worker: fuel per activation, turns of dataflows, work in parts, and loops
// that end by their data.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/sanitizers.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace {
int wide_arrays = 0;
constexpr std::size_t kWide = 256;
}  // namespace

// Arrays of records that are aligned to kWide bytes, and nothing else, are counted.
#if !LEAT_TSAN  // whose own cannot be replaced: nothing is counted under it
void* operator new(std::size_t size, std::align_val_t align) {
  if (static_cast<std::size_t>(align) == kWide) ++wide_arrays;
  const auto to = static_cast<std::size_t>(align);
  void* const place = std::aligned_alloc(to, (size + to - 1) / to * to);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}
void operator delete(void* place, std::align_val_t align) noexcept {
  if (static_cast<std::size_t>(align) == kWide) --wide_arrays;
  std::free(place);
}
void operator delete(void* place, std::size_t, std::align_val_t align) noexcept {
  operator delete(place, align);
}
#endif

namespace leat::dataflow {
namespace {

using test::World;
using Ints = std::vector<int>;
using Time = std::uint64_t;

core::Config frugal(std::size_t per_activation, std::size_t per_turn = 1'000'000) {
  core::Config config;
  config.records_per_activation = per_activation;
  config.records_per_turn = per_turn;
  return config;
}

// How many records come out of `op` in each step that any come out in, when `records` go in.
template <class Op>
std::vector<std::size_t> per_step(const core::Config& config, const Ints& records, Op op) {
  comm::Fabric fabric(1);
  Worker worker(fabric.seat(0), config, nullptr);
  std::size_t now = 0;
  worker.dataflow([&](auto& scope) {
    to_stream(scope, records) | std::move(op) |
        inspect_batch([&](Time, const auto& batch) { now += batch.size(); });
  });
  std::vector<std::size_t> steps;
  bool running = true;
  while (running) {
    running = worker.step();
    if (now != 0) steps.push_back(std::exchange(now, 0));
  }
  return steps;
}

TEST(Fuel, IsWhatTheConfigSaysForEveryOperatorThatMakesManyOfFew) {
  const auto copies = [](int n) { return std::vector<int>(static_cast<std::size_t>(n), n); };
  EXPECT_EQ(per_step(frugal(100), {250}, flat_map(copies)),
            (std::vector<std::size_t>{100, 100, 50}));
  EXPECT_EQ(per_step(frugal(100), Ints(350, 1), map([](int x) { return x; })),
            (std::vector<std::size_t>{100, 100, 100, 50}));
}

TEST(Fuel, IsLookedAtBetweenRecordsByThePushFormOfFlatMap) {
  const auto push = flat_map<int>([](int n, auto& out) {
    for (int i = 0; i < n; ++i) out(n);
  });
  // Each record puts out 40; after 99 are spent the record at hand is the last.
  EXPECT_EQ(per_step(frugal(100), Ints(10, 40), push),
            (std::vector<std::size_t>{120, 120, 120, 40}));
}

TEST(Fuel, BoundsWhatABroadcastPutsOut) {
  constexpr std::size_t kPeers = 4;
  comm::Fabric fabric(kPeers);
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::size_t> now(kPeers, 0);
  std::size_t most = 0;
  std::size_t all = 0;
  for (std::size_t i = 0; i < kPeers; ++i) {
    workers.push_back(std::make_unique<Worker>(fabric.seat(i), frugal(100), nullptr));
    workers[i]->dataflow([&](auto& scope) {
      to_stream(scope, Ints(i == 0 ? 1000 : 0, 7)) | inspect_batch([&](Time, const auto&) {}) |
          broadcast() | inspect_batch([&, i](Time, const auto& batch) { now[i] += batch.size(); });
    });
  }
  for (bool running = true; running;) {
    running = false;
    for (std::size_t i = 0; i < kPeers; ++i) {
      running = workers[i]->step() || running;
      all += now[i];
      most = std::max(most, std::exchange(now[i], 0));
    }
  }
  EXPECT_EQ(all, kPeers * 1000);
  EXPECT_LE(most, 104u);
}

TEST(Fuel, LetsEachInputHaveAMessageHoweverLittleThereIs) {
  comm::Fabric fabric(1);
  Worker worker(fabric.seat(0), frugal(1), nullptr);
  Input<int> left;
  Input<int> right;
  std::map<int, int> got;
  worker.dataflow([&](auto& scope) {
    scope.input(left) |
        binary<int>(scope.input(right), pipeline, pipeline, "both", [&](auto, const OperatorInfo&) {
          return [&](auto& a, auto& b, auto&) {
            a.for_each([&](auto& message) { got[0] += message.records().front(); });
            b.for_each([&](auto& message) { got[1] += message.records().front(); });
          };
        });
  });
  for (int i = 0; i < 10; ++i) {
    left.send_batch({1, 0, 0, 0});
    right.send_batch({1});
  }
  for (int i = 0; i < 4; ++i) worker.step();
  EXPECT_EQ(got[0], got[1]);
  EXPECT_EQ(got[0], 4);
}

TEST(Activator, SaysWhenTheActivationHasDoneItsShare) {
  comm::Fabric fabric(1);
  Worker worker(fabric.seat(0), frugal(10), nullptr);
  std::vector<int> runs;
  Activator outside;
  worker.dataflow([&](auto& scope) {
    std::ignore = source<int>(scope, "numbers", [&](auto capability, const OperatorInfo& info) {
      outside = info.activation;
      return [&, self = info.activation, capability = std::move(capability),
              next = 0](auto& output) mutable {
        if (!capability) return;
        int made = 0;
        while (next < 25 && !self.should_yield()) {
          output.session(capability).give(next++);
          ++made;
        }
        runs.push_back(made);
        next < 25 ? self.activate() : capability.release();
      };
    });
  });
  while (worker.step()) {
  }
  EXPECT_EQ(runs, (Ints{10, 10, 5}));
  EXPECT_TRUE(outside.should_yield());  // its operator has ended
  EXPECT_EQ(outside.fuel_left(), 0);
}

// --- work in parts

// One record against all of the other side, from `next` on.
struct Pairs {
  std::shared_ptr<const Ints> others;
  std::size_t next = 0;
  template <class Session>
  bool operator()(Session& session) {
    session.give((*others)[next]);
    return ++next < others->size();
  }
};

TEST(Backlog, AJoinThatExplodesPutsOutBoundedBatchesAndOthersRunBetween) {
  constexpr int kSide = 300;  // 90 000 pairs of one key
  comm::Fabric fabric(1);
  Worker worker(fabric.seat(0), frugal(1000), nullptr);
  Input<int> left;
  Input<int> right;
  std::size_t pairs = 0;
  std::size_t most = 0;
  std::size_t now = 0;
  int neighbour_runs = 0;
  worker.dataflow([&](auto& scope) {
    scope.input(left) |
        binary<int>(scope.input(right), pipeline, pipeline, "join",
                    [&](auto, const OperatorInfo& info) {
                      return [backlog = Backlog<Time, Pairs>(info.activation), a = Ints(),
                              b = Ints()](auto& l, auto& r, auto& output) mutable {
                        l.for_each([&](auto& message) {
                          for (int x : message.records()) {
                            a.push_back(x);
                            if (!b.empty())
                              backlog.add(message.retain(), {std::make_shared<const Ints>(b), 0});
                          }
                        });
                        r.for_each([&](auto& message) {
                          const auto others = std::make_shared<const Ints>(a);
                          for (int x : message.records()) {
                            b.push_back(x);
                            if (!others->empty()) backlog.add(message.retain(), {others, 0});
                          }
                        });
                        backlog.run(output);
                      };
                    }) |
        inspect_batch([&](Time, const auto& batch) { now += batch.size(); });
    std::ignore = source<int>(scope, "neighbour", [&](auto capability, const OperatorInfo& info) {
      return [&, self = info.activation, capability = std::move(capability)](auto&) mutable {
        if (pairs == std::size_t{kSide * kSide}) return capability.release();
        ++neighbour_runs;
        self.activate();
      };
    });
  });
  left.send_batch(Ints(kSide, 1));
  right.send_batch(Ints(kSide, 2));
  left.close();
  right.close();
  while (worker.step()) {
    most = std::max(most, now);
    pairs += std::exchange(now, 0);
  }
  EXPECT_EQ(pairs, std::size_t{kSide * kSide});
  EXPECT_LE(most, 1000 + kBatchRecords<int>);
  EXPECT_GE(neighbour_runs, 20);
}

// --- dataflows

// A dataflow that always has something to do, and counts what it did.
void build_busy(Worker& worker, DataflowOptions options, std::uint64_t& done, bool& stop) {
  worker.dataflow(std::move(options), [&](auto& scope) {
    auto numbers = source<int>(scope, "busy", [&](auto capability, const OperatorInfo& info) {
      return [&, self = info.activation, capability = std::move(capability)](auto& output) mutable {
        if (stop) return capability.release();
        auto session = output.session(capability);
        for (int i = 0; i < 50; ++i) session.give(i);
        self.activate();
      };
    });
    for (int i = 0; i < 20; ++i) numbers = numbers | map([](int x) { return x + 1; });
    numbers | inspect_batch([&](Time, const auto& batch) { done += batch.size(); });
  });
}

TEST(Weights, ShareAWorkerAmongDataflowsThatAlwaysHaveSomethingToDo) {
  comm::Fabric fabric(1);
  Worker worker(fabric.seat(0), frugal(1000, 300), nullptr);
  std::vector<std::uint64_t> done(3, 0);
  bool stop = false;
  build_busy(worker, {.name = "one"}, done[0], stop);
  build_busy(worker, {.name = "four", .weight = 4}, done[1], stop);
  build_busy(worker, {.name = "one more"}, done[2], stop);
  for (int i = 0; i < 4000; ++i) worker.step();
  EXPECT_NEAR(static_cast<double>(done[1]), 4.0 * static_cast<double>(done[0]),
              0.1 * static_cast<double>(done[1]));
  EXPECT_NEAR(static_cast<double>(done[2]), static_cast<double>(done[0]),
              0.1 * static_cast<double>(done[0]));
  stop = true;
  while (worker.step()) {
  }
}

TEST(Weights, AHeavyDataflowDoesNotKeepASmallOneWaiting) {
  comm::Fabric fabric(1);
  Worker worker(fabric.seat(0), frugal(10'000, 100), nullptr);
  std::uint64_t heavy = 0;
  bool stop = false;
  build_busy(worker, {.name = "heavy"}, heavy, stop);
  Input<int> input;
  Probe<> watch;
  worker.dataflow(
      [&](auto& scope) { scope.input(input) | map([](int x) { return x; }) | probe(watch); });
  for (int i = 0; i < 100; ++i) worker.step();
  for (Time round = 0; round < 50; ++round) {
    input.send(1);
    input.advance_to(round + 1);
    const std::uint64_t before = heavy;
    int steps = 0;
    for (; watch.less_than(round + 1); ++steps) worker.step();
    EXPECT_LE(steps, 3);
    EXPECT_LE(heavy - before, 200u);  // of the thousands that it has under way
  }
  stop = true;
  input.close();
  while (worker.step()) {
  }
  EXPECT_GT(heavy, 0u);
}

// --- memory

struct alignas(kWide) Wide {
  int number = 0;
};

TEST(Spares, AnIdleOperatorHoldsNoBuffersOfRecords) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    World world(peers);
    std::vector<Input<Wide>> inputs(peers);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < peers; ++i) {
      world[i].dataflow([&, i](auto& scope) {
        auto stream = scope.input(inputs[i]) | exchange([](const Wide& x) { return x.number; }) |
                      map([](Wide x) { return x; });
        auto out = scope.region("inside", [&](auto& inner) {
          return stream | enter(inner) | filter([](const Wide&) { return true; }) | leave(scope);
        });
        concatenate(scope, std::vector{stream, out}) | broadcast() |
            inspect([&](const Wide&) { ++seen; });
      });
    }
    for (Time time = 1; time < 5; ++time) {
      for (std::size_t i = 0; i < peers; ++i) {
        for (int number = 0; number < 200; ++number) inputs[i].send({number});
        inputs[i].advance_to(time);
      }
      world.steps(20);
    }
    EXPECT_EQ(seen, peers * peers * 4 * 200 * 2);
    if (wide_arrays == 0) GTEST_SKIP() << "a tool has put its own allocator in place of this one";
    EXPECT_GT(wide_arrays, static_cast<int>(peers));
    world.steps(600);
    EXPECT_LE(wide_arrays, static_cast<int>(peers));  // the handles' own
    inputs.clear();
    EXPECT_TRUE(world.ends());
  }
  EXPECT_EQ(wide_arrays, 0);
}

// --- loops

// Collatz: halves or triples until the worst of all workers is down to 1.
TEST(IterateWhile, GoesOnUntilTheSumOverAllWorkersSaysNo) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    World world(peers);
    std::vector<Input<int>> inputs(peers);
    std::map<Time, Ints> results;
    for (std::size_t i = 0; i < peers; ++i) {
      world[i].dataflow([&, i](auto& scope) {
        scope.input(inputs[i]) |
            iterate_while(
                [](auto&, auto stream) {
                  return stream | exchange([](int x) { return x; }) | map([](int x) {
                           return x == 1 ? 1 : x % 2 == 0 ? x / 2 : 3 * x + 1;
                         });
                },
                [](int x) { return x == 1 ? 0 : 1; },
                [](int above_one, std::uint64_t) { return above_one > 0; }) |
            inspect_time([&](Time time, int x) { results[time].push_back(x); });
      });
    }
    for (Time time = 0; time < 3; ++time) {
      for (std::size_t i = 0; i < peers; ++i) {
        inputs[i].send(static_cast<int>(6 + time + i));
        inputs[i].advance_to(time + 1);
      }
    }
    for (auto& input : inputs) input.close();
    EXPECT_TRUE(world.ends());
    for (Time time = 0; time < 3; ++time) EXPECT_EQ(results[time], Ints(peers, 1)) << time;
  }
}

TEST(IterateWhile, RunsItsBodyOnceAtLeastAndCountsItsRounds) {
  World world;
  std::vector<std::pair<int, std::uint64_t>> asked;
  Ints out;
  world[0].dataflow([&](auto& scope) {
    to_stream(scope, Ints{1, 10}) |
        iterate_while([](auto&, auto stream) { return stream | map([](int x) { return x + 1; }); },
                      [](int x) { return x; },
                      [&](int sum, std::uint64_t round) {
                        asked.emplace_back(sum, round);
                        return round < 2;
                      }) |
        inspect([&](int x) { out.push_back(x); });
  });
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(asked, (std::vector<std::pair<int, std::uint64_t>>{{13, 0}, {15, 1}, {17, 2}}));
  EXPECT_EQ(out, (Ints{4, 13}));
}

}  // namespace
}  // namespace leat::dataflow
