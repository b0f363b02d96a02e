#include <leat/progress/subgraph.hpp>

#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leat::progress {
namespace {

using Time = std::uint64_t;
using Times = std::vector<Time>;

/// What a test knows of an operator, also when that is gone.
struct Life {
  int runs = 0;
  bool incomplete = false;
  bool alive = true;
  std::function<void()> run = [] {};
};

class Operator final : public Operate<Time> {
 public:
  explicit Operator(Life& life, std::vector<std::string>* ends = nullptr, std::string name = "")
      : life_(life), ends_(ends), name_(std::move(name)) {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  ~Operator() override {
    life_.alive = false;
    if (ends_ != nullptr) ends_->push_back(name_);
  }
  bool schedule() override {
    ++life_.runs;
    life_.run();
    return life_.incomplete;
  }

 private:
  Life& life_;
  std::vector<std::string>* ends_;
  std::string name_;
};

/// One worker's scope: a line of operators, `source -> middle -> sink`.
struct Line {
  explicit Line(comm::Seat& seat, core::ProgressMode mode = core::ProgressMode::demand)
      : plane(seat, mode),
        scope(std::make_unique<Subgraph<Time>>(plane, 0, NodeName{"scope", {}},
                                               core::Activation(active, 0))) {
    source_out = scope->add_port(add(source, "source"), PortKind::source);
    const NodeIndex middle_node = add(middle, "middle");
    middle_in = scope->add_port(middle_node, PortKind::target);
    middle_out = scope->add_port(middle_node, PortKind::source);
    scope->add_link(middle_in, middle_out, 0);
    sink_in = scope->add_port(add(sink, "sink"), PortKind::target);
    scope->add_edge(source_out, middle_in);
    scope->add_edge(middle_out, sink_in);
  }
  void start() {
    scope->seal(nullptr);
    scope->initialize();
  }
  NodeIndex add(Life& life, const std::string& name) {
    const NodeIndex node = scope->add_node({name, std::source_location::current()});
    scope->install(node, std::make_unique<Operator>(life), true);
    return node;
  }

  /// What a worker's loop does. Returns: whether the scope goes on.
  bool step() {
    plane.poll();
    if (!active.is_set(0)) return true;
    active.clear(0);
    return scope->schedule();
  }
  [[nodiscard]] Times frontier(PortIndex port) const {
    const auto times = scope->frontier(port);
    return {times.begin(), times.end()};
  }
  void write(PortIndex port, Time time, std::int64_t delta) {
    scope->ledger()->update(port, time, delta);
  }

  ProgressPlane plane;
  core::ActivationSet active;
  Life source;
  Life middle;
  Life sink;
  PortIndex source_out = 0;
  PortIndex middle_in = 0;
  PortIndex middle_out = 0;
  PortIndex sink_in = 0;
  std::unique_ptr<Subgraph<Time>> scope;
};

/// A line alone.
struct One {
  comm::Fabric fabric{1};
  Line line{fabric.seat(0)};
};

// -- Running --------------------------------------------------------------------------------------

TEST(Subgraph, RunsEveryChildOnceAtTheBeginningInOrder) {
  One one;
  std::vector<int> order;
  one.line.source.run = [&] { order.push_back(1); };
  one.line.middle.run = [&] { order.push_back(2); };
  one.line.sink.run = [&] { order.push_back(3); };
  one.line.start();
  EXPECT_TRUE(one.line.step());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(one.line.step());
  EXPECT_EQ(order.size(), 3U);
}

TEST(Subgraph, TheFirstRunSeesTheLeastTimeAndNotAnEmptyFrontier) {
  One one;
  Times at_sink;
  one.line.sink.run = [&] { at_sink = one.line.frontier(one.line.sink_in); };
  one.line.start();
  one.line.step();
  EXPECT_EQ(at_sink, (Times{0}));
}

TEST(Subgraph, ChildrenThatAreActivatedWhileItRunsRunInThisRunIfTheyComeLater) {
  One one;
  one.line.start();
  one.line.step();
  one.line.middle.run = [&] {
    one.line.scope->activation_of(3).activate();
    one.line.scope->activation_of(1).put_off();
  };
  one.line.scope->activation_of(2).activate();
  one.line.step();
  EXPECT_EQ(one.line.sink.runs, 2);
  EXPECT_EQ(one.line.source.runs, 1);
  EXPECT_TRUE(one.line.active.is_set(0));  // it asks to be run again
  one.line.step();
  EXPECT_EQ(one.line.source.runs, 2);
  EXPECT_EQ(one.line.middle.runs, 2);
}

TEST(Subgraph, AloneItGoesRoundAgainForEarlierChildrenThatOthersActivated) {
  One one;
  one.line.start();
  one.line.step();
  one.line.middle.run = [&] { one.line.scope->activation_of(1).activate(); };
  one.line.scope->activation_of(2).activate();
  one.line.step();
  EXPECT_EQ(one.line.source.runs, 2);
  EXPECT_EQ(one.line.middle.runs, 2);
  EXPECT_FALSE(one.line.active.is_set(0));
}

TEST(Subgraph, AloneItGoesRoundAFewTimesAndNotForEver) {
  One one;
  one.line.start();
  one.line.step();
  one.line.source.run = [&] { one.line.scope->activation_of(2).activate(); };
  one.line.middle.run = [&] { one.line.scope->activation_of(1).activate(); };
  one.line.scope->activation_of(1).activate();
  one.line.step();
  EXPECT_GT(one.line.source.runs, 2);
  EXPECT_LT(one.line.source.runs, 100);
  EXPECT_TRUE(one.line.active.is_set(0));  // it asks to be run again
}

TEST(Subgraph, WithPeersItGoesRoundOnceSinceTheyMayHaveSaidSomething) {
  comm::Fabric fabric(2);
  Line line{fabric.seat(0)};
  line.start();
  line.step();
  line.middle.run = [&] { line.scope->activation_of(1).activate(); };
  line.scope->activation_of(2).activate();
  line.step();
  EXPECT_EQ(line.source.runs, 1);
  EXPECT_TRUE(line.active.is_set(0));
}

TEST(Subgraph, AFrontierIsConstantWhileOperatorsRunAndMovesBetweenRounds) {
  One one;
  one.line.start();
  one.line.step();
  one.line.source.run = [&] {
    one.line.write(one.line.source_out, 5, +1);
    one.line.write(one.line.source_out, 0, -1);
  };
  std::vector<Times> seen;
  one.line.middle.run = [&] { seen.push_back(one.line.frontier(one.line.middle_in)); };
  one.line.scope->activation_of(1).activate();
  one.line.scope->activation_of(2).activate();
  one.line.step();
  EXPECT_EQ(seen, (std::vector<Times>{{0}, {5}}));  // the new frontier is a reason to run
  EXPECT_EQ(one.line.source.runs, 2);
}

TEST(Subgraph, AWriteFromOutsideIsTakenInTheNextRun) {
  One one;
  one.line.start();
  one.line.step();
  EXPECT_FALSE(one.line.active.is_set(0));
  one.line.write(one.line.source_out, 3, +1);
  one.line.write(one.line.source_out, 0, -1);
  EXPECT_TRUE(one.line.active.is_set(0));
  one.line.step();
  EXPECT_EQ(one.line.frontier(one.line.middle_in), (Times{3}));
}

TEST(Subgraph, AFrontierWakesOnlyWhoIsInterested) {
  One one;
  one.line.scope->set_interest(one.line.middle_in, FrontierInterest::never);
  one.line.scope->set_interest(one.line.sink_in, FrontierInterest::always);
  one.line.start();
  one.line.step();
  one.line.write(one.line.middle_out, 0, -1);  // its own, so that time can pass
  one.line.write(one.line.source_out, 3, +1);
  one.line.write(one.line.source_out, 0, -1);
  one.line.step();
  one.line.step();
  EXPECT_EQ(one.line.frontier(one.line.sink_in), (Times{3}));
  EXPECT_EQ(one.line.middle.runs, 1);
  EXPECT_EQ(one.line.sink.runs, 2);
}

TEST(Subgraph, AFrontierWakesAHolderOfACapabilityAsLongAsItHoldsOne) {
  One one;
  one.line.scope->set_interest(one.line.middle_in, FrontierInterest::if_capability);
  one.line.start();
  one.line.step();
  const auto advance = [&](Time from, Time to) {
    one.line.write(one.line.source_out, to, +1);
    one.line.write(one.line.source_out, from, -1);
    one.line.step();
    one.line.step();
  };
  advance(0, 1);
  EXPECT_EQ(one.line.middle.runs, 2);
  one.line.write(one.line.middle_out, 0, -1);
  one.line.step();
  advance(1, 2);
  EXPECT_EQ(one.line.middle.runs, 2);
}

// -- The end --------------------------------------------------------------------------------------

TEST(Subgraph, ChildrenEndWhenNothingCanReachThemAndTheScopeWithThem) {
  One one;
  one.line.start();
  one.line.step();
  one.line.write(one.line.middle_out, 0, -1);
  one.line.step();
  EXPECT_TRUE(one.line.middle.alive);  // its input is open
  one.line.write(one.line.source_out, 0, -1);
  bool goes_on = true;
  for (int steps = 0; goes_on && steps < 10; ++steps) goes_on = one.line.step();
  EXPECT_FALSE(goes_on);
  EXPECT_FALSE(one.line.source.alive);
  EXPECT_FALSE(one.line.middle.alive);
  EXPECT_FALSE(one.line.sink.alive);
}

TEST(Subgraph, AChildThatIsIncompleteIsKept) {
  One one;
  one.line.sink.incomplete = true;
  one.line.start();
  one.line.step();
  one.line.write(one.line.middle_out, 0, -1);
  one.line.write(one.line.source_out, 0, -1);
  for (int steps = 0; steps < 10; ++steps) EXPECT_TRUE(one.line.step());
  EXPECT_FALSE(one.line.middle.alive);
  EXPECT_TRUE(one.line.sink.alive);
  one.line.sink.incomplete = false;
  one.line.scope->activation_of(3).activate();
  EXPECT_FALSE(one.line.step());
}

TEST(Subgraph, ARecordUnderWayKeepsItsConsumer) {
  One one;
  one.line.start();
  one.line.step();
  one.line.write(one.line.sink_in, 0, +2);
  one.line.write(one.line.middle_out, 0, -1);
  one.line.write(one.line.source_out, 0, -1);
  for (int steps = 0; steps < 5; ++steps) EXPECT_TRUE(one.line.step());
  EXPECT_TRUE(one.line.sink.alive);
  one.line.sink.run = [&] {
    one.line.write(one.line.sink_in, 0, -2);
    one.line.sink.run = [] {};
  };
  one.line.scope->activation_of(3).activate();
  bool goes_on = true;
  for (int steps = 0; goes_on && steps < 10; ++steps) goes_on = one.line.step();
  EXPECT_FALSE(goes_on);
}

TEST(Subgraph, ChildrenAreDestroyedInTheReverseOfTheirConstruction) {
  comm::Fabric fabric(1);
  ProgressPlane plane(fabric.seat(0), core::ProgressMode::demand);
  std::array<Life, 3> lives;
  std::vector<std::string> ends;
  {
    Subgraph<Time> scope(plane, 0, {"scope", {}}, {});
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string name = "child " + std::to_string(i);
      scope.install(scope.add_node({name, {}}), std::make_unique<Operator>(lives[i], &ends, name),
                    true);
    }
  }
  EXPECT_EQ(ends, (std::vector<std::string>{"child 2", "child 1", "child 0"}));
}

TEST(Subgraph, WhatIsWrittenAfterItsEndHasNoEffect) {
  One one;
  one.line.start();
  one.line.step();
  const auto ledger = one.line.scope->ledger();
  one.line.scope.reset();
  EXPECT_TRUE(ledger->closed());
  ledger->update(one.line.source_out, 0, -1);
  EXPECT_FALSE(one.line.active.is_set(0));
}

TEST(Subgraph, AnExceptionLeavesWithTheNameOfItsOperator) {
  One one;
  one.line.start();
  one.line.middle.run = [] { throw std::out_of_range("record 17"); };
  EXPECT_THROW(one.line.step(), std::out_of_range);
  EXPECT_EQ(one.line.plane.thrower().substr(0, 37), "operator \"middle\" (subgraph_test.cpp:");
}

// -- Building -------------------------------------------------------------------------------------

std::string refusal(Subgraph<Time>& scope) {
  try {
    scope.seal(nullptr);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

TEST(Subgraph, RefusesAPlaceThatWasReservedAndNeverFilled) {
  comm::Fabric fabric(1);
  ProgressPlane plane(fabric.seat(0), core::ProgressMode::demand);
  Subgraph<Time> scope(plane, 0, {"scope", {}}, {});
  const NodeIndex node = scope.add_node({"feedback", std::source_location::current()});
  EXPECT_FALSE(scope.installed(node));
  const std::string words = refusal(scope);
  EXPECT_EQ(words.find("operator \"feedback\" (subgraph_test.cpp:"), 0U) << words;
  EXPECT_NE(words.find("connect_loop"), std::string::npos) << words;
}

TEST(Subgraph, RefusesACycleThatNeedNotAdvanceAndNamesWhoIsOnIt) {
  Life loop;  // outlives its operator
  One one;
  const NodeIndex node = one.line.add(loop, "loop");
  const PortIndex in = one.line.scope->add_port(node, PortKind::target);
  const PortIndex out = one.line.scope->add_port(node, PortKind::source);
  const PortIndex again = one.line.scope->add_port(2, PortKind::target);
  one.line.scope->add_link(in, out, 0);
  one.line.scope->add_link(again, one.line.middle_out, 0);
  one.line.scope->add_edge(one.line.middle_out, in);
  one.line.scope->add_edge(out, again);
  const std::string words = refusal(*one.line.scope);
  EXPECT_NE(words.find("\"middle\""), std::string::npos) << words;
  EXPECT_NE(words.find("\"loop\""), std::string::npos) << words;
  EXPECT_EQ(words.find("\"source\""), std::string::npos) << words;
  EXPECT_NE(words.find("advance"), std::string::npos) << words;
}

TEST(SubgraphDeathTest, AChildIsInstalledOnce) {
  One one;
  Life life;
  EXPECT_DEATH(one.line.scope->install(1, std::make_unique<Operator>(life), true),
               "a child is installed once");
}

// -- Peers ----------------------------------------------------------------------------------------

/// Two workers with a line each, stepped by hand.
struct Two {
  explicit Two(core::ProgressMode mode)
      : lines{Line(fabric.seat(0), mode), Line(fabric.seat(1), mode)} {
    for (auto& line : lines) {
      line.start();
      line.step();
    }
  }
  std::uint64_t published(std::size_t worker) { return fabric.seat(worker).log().entries(); }

  comm::Fabric fabric{2};
  std::array<Line, 2> lines;
};

TEST(Subgraph, AWorkerWithoutPeersWritesNoLog) {
  One one;
  one.line.start();
  one.line.step();
  one.line.write(one.line.source_out, 3, +1);
  one.line.write(one.line.source_out, 0, -1);
  one.line.step();
  EXPECT_EQ(one.fabric.seat(0).log().entries(), 0U);
  EXPECT_EQ(one.fabric.seat(0).counters().batches, 1U);
}

TEST(Subgraph, AFrontierWaitsForEveryWorkersCapability) {
  for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
    Two two(mode);
    for (auto& line : two.lines) {
      EXPECT_EQ(line.frontier(line.middle_in), (Times{0}));
    }
    auto& [first, second] = two.lines;
    first.write(first.source_out, 4, +1);
    first.write(first.source_out, 0, -1);
    first.step();
    second.step();
    EXPECT_EQ(first.frontier(first.middle_in), (Times{0}));  // the second one holds 0
    second.write(second.source_out, 7, +1);
    second.write(second.source_out, 0, -1);
    second.step();
    EXPECT_EQ(second.frontier(second.middle_in), (Times{4}));
    EXPECT_EQ(first.frontier(first.middle_in), (Times{0}));  // it has not looked yet
    first.step();
    EXPECT_EQ(first.frontier(first.middle_in), (Times{4}));
  }
}

TEST(Subgraph, OneRunsEffectsAreOneBatch) {
  Two two(core::ProgressMode::eager);
  auto& first = two.lines[0];
  first.source.run = [&] {
    first.write(first.middle_in, 0, +5);
    first.write(first.source_out, 3, +1);
    first.write(first.source_out, 0, -1);
  };
  first.middle.run = [&] { first.write(first.middle_in, 0, -5); };
  first.scope->activation_of(1).activate();
  first.scope->activation_of(2).activate();
  first.step();
  EXPECT_EQ(two.published(0), 1U);
  std::vector<std::string> batch;
  two.fabric.seat(1).read_logs([&](const queue::EntryHeader& entry) {
    for (const auto& change : batch_of<Time>(entry)) {
      EXPECT_EQ(change.port,
                first.source_out);  // what was produced and consumed at once is nothing
      batch.push_back(std::to_string(change.time) + ":" + std::to_string(change.delta));
    }
  });
  EXPECT_EQ(batch, (std::vector<std::string>{"0:-1", "3:1"}));
}

TEST(Subgraph, DemandModeHoldsWhatNobodyWaitsForAndThenPublishesAllOfIt) {
  Two two(core::ProgressMode::demand);
  auto& first = two.lines[0];
  first.write(first.middle_out, 2, +1);
  first.step();
  first.write(first.sink_in, 2, +3);
  first.write(first.middle_out, 2, -1);  // 0 is still possible there
  first.step();
  EXPECT_EQ(two.published(0), 0U);
  first.write(first.source_out, 0, -1);  // this is what others wait for
  first.step();
  EXPECT_EQ(two.published(0), 1U);
  std::size_t changes = 0;
  two.fabric.seat(1).read_logs(
      [&](const queue::EntryHeader& entry) { changes += batch_of<Time>(entry).size(); });
  EXPECT_EQ(changes, 2U);  // three records at the sink, and the capability
}

TEST(Subgraph, EagerModeHoldsNothing) {
  Two two(core::ProgressMode::eager);
  auto& first = two.lines[0];
  first.write(first.middle_out, 2, +1);
  first.step();
  first.write(first.middle_out, 2, -1);
  first.step();
  EXPECT_EQ(two.published(0), 2U);
}

TEST(Subgraph, AConsumersReportThatOvertakesItsProducersMovesNoFrontier) {
  Two two(core::ProgressMode::eager);
  auto& [first, second] = two.lines;
  // Worker 0 sends four records to worker 1, which consumes them before it hears that they were sent.
  second.write(second.middle_in, 0, -4);
  second.step();
  EXPECT_EQ(second.frontier(second.middle_in), (Times{0}));
  first.step();  // the first one hears of that before it says that it sent them
  EXPECT_EQ(first.frontier(first.middle_in), (Times{0}));
  first.write(first.middle_in, 0, +4);
  first.write(first.source_out, 0, -1);
  first.step();
  second.write(second.source_out, 0, -1);
  second.step();
  first.step();
  for (auto* line : {&first, &second}) EXPECT_EQ(line->frontier(line->middle_in), (Times{}));
}

}  // namespace
}  // namespace leat::progress
