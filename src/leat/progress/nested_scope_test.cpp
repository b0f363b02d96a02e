#include <leat/progress/nested_scope.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace leat::progress {
namespace {

using Outer = std::uint64_t;
using Inner = Product<std::uint64_t, std::uint64_t>;

constexpr ScopeId kOuter = 0;
constexpr ScopeId kInner = 1;

template <class T>
class Idle final : public Operate<T> {
 public:
  bool schedule() override { return false; }
};

enum class Inside {
  loop,     // entrance -> step -> exit, and step -> step through a feedback of one round
  nothing,  // entrance -> exit
};

/// One worker: `source -> nested -> sink`.
class World {
 public:
  World(comm::Seat& seat, Inside inside, core::ProgressMode mode = core::ProgressMode::demand)
      : plane(seat, mode),
        outer(std::make_unique<Subgraph<Outer>>(plane, kOuter, NodeName{"outer", {}},
                                                core::Activation(active_, 0))) {
    const NodeIndex source = outer->add_node({"source", {}});
    source_out = outer->add_port(source, PortKind::source);
    outer->install(source, std::make_unique<Idle<Outer>>(), true);

    auto nested =
        std::make_unique<NestedScope<Outer, Inner>>(*outer, kInner, NodeName{"nested", {}});
    nested_node = nested->node();
    inner = &nested->inner();
    inner_ledger = inner->ledger();
    const auto entrance = nested->add_input();
    const auto exit = nested->add_output();
    nested_in = entrance.outer_target;
    nested_out = exit.outer_source;
    entered = entrance.inner_source;
    leaving = exit.inner_target;
    if (inside == Inside::nothing) {
      inner->add_edge(entered, leaving);
    } else {
      build_loop();
    }
    nested->seal();
    outer->install(nested_node, std::move(nested), false);

    const NodeIndex sink = outer->add_node({"sink", {}});
    sink_in = outer->add_port(sink, PortKind::target);
    outer->install(sink, std::make_unique<Idle<Outer>>(), true);
    outer->add_edge(source_out, nested_in);
    outer->add_edge(nested_out, sink_in);
    outer->seal(nullptr);
    outer->initialize();
    run();
  }

  bool step() {
    plane.poll();
    if (!active_.is_set(0)) return goes_on_;
    active_.clear(0);
    goes_on_ = outer->schedule();
    if (!outer_lives(nested_node)) inner = nullptr;
    return goes_on_;
  }
  /// Steps until there is nothing to do. Returns: whether the dataflow goes on.
  bool run() {
    for (int steps = 0; steps < 20; ++steps) step();
    return goes_on_;
  }

  template <class T>
  static std::vector<T> times(AntichainRef<T> frontier) {
    return {frontier.begin(), frontier.end()};
  }
  std::vector<Outer> at(PortIndex target) { return times(outer->frontier(target)); }
  std::vector<Inner> inside_at(PortIndex target) { return times(inner->frontier(target)); }

  /// The source's capability moves on, or ends.
  void advance(Outer from, Outer to) {
    outer->ledger()->update(source_out, to, +1);
    outer->ledger()->update(source_out, from, -1);
  }
  void close(Outer from) { outer->ledger()->update(source_out, from, -1); }

  /// As the edge into the scope does it.
  void enter(Outer time, std::int64_t records) {
    outer->ledger()->update(nested_in, time, records);
    inner_ledger->update(entered, {time, 0}, -records);
    inner_ledger->update(step_in, {time, 0}, records);
  }

  ProgressPlane plane;
  std::unique_ptr<Subgraph<Outer>> outer;
  Subgraph<Inner>* inner = nullptr;  // while it lives
  LocalPtr<Ledger<Inner>> inner_ledger;
  NodeIndex nested_node = 0;
  PortIndex source_out = 0;
  PortIndex nested_in = 0;
  PortIndex nested_out = 0;
  PortIndex sink_in = 0;
  PortIndex entered = 0;
  PortIndex leaving = 0;
  PortIndex step_in = 0;
  PortIndex step_again = 0;
  PortIndex step_out = 0;
  PortIndex loop_in = 0;
  PortIndex loop_out = 0;

 private:
  void build_loop() {
    const NodeIndex step = inner->add_node({"step", {}});
    step_in = inner->add_port(step, PortKind::target);
    step_again = inner->add_port(step, PortKind::target);
    step_out = inner->add_port(step, PortKind::source);
    inner->add_link(step_in, step_out, {});
    inner->add_link(step_again, step_out, {});
    inner->install(step, std::make_unique<Idle<Inner>>(), true);
    const NodeIndex loop = inner->add_node({"loop", {}});
    loop_in = inner->add_port(loop, PortKind::target);
    loop_out = inner->add_port(loop, PortKind::source);
    inner->add_link(loop_in, loop_out, {0, 1});
    inner->install(loop, std::make_unique<Idle<Inner>>(), true);
    inner->add_edge(entered, step_in);
    inner->add_edge(step_out, loop_in);
    inner->add_edge(loop_out, step_again);
    inner->add_edge(step_out, leaving);
  }
  [[nodiscard]] bool outer_lives(NodeIndex node) const { return outer->installed(node); }

  core::ActivationSet active_;
  bool goes_on_ = true;
};

/// The operators inside give up what they hold at the beginning.
void release_inside(World& world) {
  world.inner_ledger->update(world.step_out, {}, -1);
  world.inner_ledger->update(world.loop_out, {}, -1);
}

struct One {
  explicit One(Inside inside) : world(fabric.seat(0), inside) {}
  comm::Fabric fabric{1};
  World world;
};

TEST(NestedScope, FrontiersEnterInTheFirstRoundAndGoRoundInside) {
  One one(Inside::loop);
  World& world = one.world;
  release_inside(world);
  world.advance(0, 4);
  world.run();
  EXPECT_EQ(world.inside_at(world.step_in), (std::vector<Inner>{{4, 0}}));
  EXPECT_EQ(world.inside_at(world.step_again), (std::vector<Inner>{{4, 1}}));
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{4}));
}

TEST(NestedScope, WhatIsHeldInsideHoldsWhatIsOutside) {
  One one(Inside::loop);
  World& world = one.world;
  world.inner_ledger->update(world.step_out, {2, 7}, +1);
  release_inside(world);
  world.advance(0, 9);
  world.run();
  EXPECT_EQ(world.at(world.nested_in), (std::vector<Outer>{9}));
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{2}));
  world.inner_ledger->update(world.step_out, {2, 7}, -1);
  world.run();
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{9}));
}

TEST(NestedScope, RoundsOfOneOuterTimeAreOneTimeOutside) {
  One one(Inside::loop);
  World& world = one.world;
  world.inner_ledger->update(world.loop_out, {2, 3}, +1);
  world.inner_ledger->update(world.loop_out, {2, 5}, +1);
  release_inside(world);
  world.advance(0, 9);
  world.run();
  EXPECT_EQ(world.outer->tracker().pointstamps(world.nested_out).count_for(2), 1);
  world.inner_ledger->update(world.loop_out, {2, 3}, -1);
  world.run();
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{2}));
  EXPECT_EQ(world.outer->tracker().pointstamps(world.nested_out).count_for(2), 1);
}

TEST(NestedScope, RecordsThatEnterHoldTheirTimeUntilTheyAreDone) {
  One one(Inside::loop);
  World& world = one.world;
  release_inside(world);
  world.enter(0, 3);
  world.advance(0, 5);
  world.run();
  EXPECT_EQ(world.at(world.nested_in), (std::vector<Outer>{5}));  // consumed, as the parent sees it
  EXPECT_EQ(world.outer->tracker().pointstamps(world.nested_in).nonzero(), 0U);
  EXPECT_EQ(world.inside_at(world.step_in), (std::vector<Inner>{{0, 0}}));
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{0}));
  world.inner_ledger->update(world.step_in, {0, 0}, -3);
  world.run();
  EXPECT_EQ(world.inside_at(world.step_in), (std::vector<Inner>{{5, 0}}));
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{5}));
}

TEST(NestedScope, RecordsThatLeaveAreProducedAndNotHeldAsWell) {
  One one(Inside::loop);
  World& world = one.world;
  world.inner_ledger->update(world.leaving, {0, 4}, +2);
  release_inside(world);
  world.advance(0, 5);
  world.run();
  EXPECT_EQ(world.outer->tracker().pointstamps(world.sink_in).count_for(0), 2);
  EXPECT_EQ(world.outer->tracker().pointstamps(world.nested_out).nonzero(), 0U);
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{0}));
  world.outer->ledger()->update(world.sink_in, 0, -2);
  world.run();
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{5}));
}

TEST(NestedScope, AScopeWithoutOperatorsPassesTimesOn) {
  One one(Inside::nothing);
  World& world = one.world;
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{0}));
  world.advance(0, 6);
  world.run();
  EXPECT_EQ(world.at(world.sink_in), (std::vector<Outer>{6}));
  world.close(6);
  EXPECT_FALSE(world.run());
}

TEST(NestedScope, EndsWithItsDataflowAndNotBefore) {
  One one(Inside::loop);
  World& world = one.world;
  release_inside(world);
  world.enter(0, 1);
  world.close(0);
  EXPECT_TRUE(world.run());
  EXPECT_NE(world.inner, nullptr);
  world.inner_ledger->update(world.step_in, {0, 0}, -1);
  EXPECT_FALSE(world.run());
  EXPECT_EQ(world.inner, nullptr);
  EXPECT_TRUE(world.inner_ledger->closed());
}

// -- Peers ----------------------------------------------------------------------------------------

struct Two {
  Two() : worlds{World(fabric.seat(0), Inside::loop), World(fabric.seat(1), Inside::loop)} {
    run();
  }
  void run() {
    for (int i = 0; i < 4; ++i) {
      for (auto& world : worlds) world.run();
    }
  }
  comm::Fabric fabric{2};
  std::array<World, 2> worlds;
};

TEST(NestedScope, EveryWorkerSeesWhatAnyWorkerHoldsInside) {
  Two two;
  auto& [first, second] = two.worlds;
  second.inner_ledger->update(second.loop_out, {1, 2}, +1);
  for (auto* world : {&first, &second}) {
    release_inside(*world);
    world->advance(0, 4);
  }
  two.run();
  for (auto* world : {&first, &second}) {
    EXPECT_EQ(world->at(world->sink_in), (std::vector<Outer>{1}));
    EXPECT_EQ(world->inside_at(world->step_again), (std::vector<Inner>{{1, 2}, {4, 1}}));
  }
}

TEST(NestedScope, WhatTheScopeReportsIsNotPublishedAgainByItsParent) {
  Two two;
  auto& [first, second] = two.worlds;
  two.fabric.seat(1).read_logs([](const queue::EntryHeader&) {});
  release_inside(first);
  first.run();
  std::map<ScopeId, int> entries;
  two.fabric.seat(1).read_logs([&](const queue::EntryHeader& entry) { ++entries[entry.tag]; });
  EXPECT_EQ(entries[kInner], 1);
  EXPECT_EQ(entries[kOuter], 0);
}

TEST(NestedScope, ARecordThatEntersOnOneWorkerIsConsumedOnceForAll) {
  Two two;
  auto& [first, second] = two.worlds;
  for (auto* world : {&first, &second}) release_inside(*world);
  first.enter(0, 3);
  first.close(0);
  second.close(0);
  two.run();
  for (auto* world : {&first, &second}) {
    EXPECT_EQ(world->outer->tracker().pointstamps(world->nested_in).nonzero(), 0U);
    EXPECT_EQ(world->at(world->sink_in), (std::vector<Outer>{0}));
  }
  second.inner_ledger->update(second.step_in, {0, 0}, -3);  // it was meant for the other worker
  two.run();
  EXPECT_FALSE(first.step());
  EXPECT_FALSE(second.step());
}

}  // namespace
}  // namespace leat::progress
