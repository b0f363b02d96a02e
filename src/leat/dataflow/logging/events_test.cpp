#include <leat/dataflow/logging/events.hpp>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>
#include <leat/progress/watch/logged_graph.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::dataflow {
namespace {

using test::World;
using Time = std::uint64_t;
using InnerTime = progress::Product<Time, Time>;

/// Everything of one stream of one worker, in order.
template <class Event>
struct Told {
  std::vector<core::Logged<Event>> events;

  void listen(Worker& worker, std::string_view stream) {
    worker.logs().insert<Event>(stream, [this](Nanos, core::LogBatch<Event>& batch) {
      for (auto& logged : batch) events.push_back(std::move(logged));
    });
  }
};

/// Those of the worker's own events that are of one kind.
template <class Kind>
std::vector<Kind> those(const Told<WorkerEvent>& told) {
  std::vector<Kind> found;
  for (const auto& logged : told.events) {
    if (const auto* event = std::get_if<Kind>(&logged.event)) found.push_back(*event);
  }
  return found;
}

/// A dataflow with edges of all kinds: numbers are exchanged, counted down in a loop, and watched.
Input<Time> numbers(Worker& worker, Probe<Time>& probe) {
  Input<Time> input;
  worker.dataflow_named("numbers", [&](auto& scope) {
    auto stream = scope.input(input) | exchange([](Time number) { return number; });
    auto done = scope.iterative("down", [&](auto& inner) {
      auto [loop, again] = loop_variable<Time>(inner, 1);
      auto all = (std::move(stream) | enter(inner)) | concat(std::move(again));
      auto less = std::move(all) | map([](Time number) { return number / 2; }) |
                  filter([](Time number) { return number > 0; });
      auto copy = less;
      std::move(less) | connect_loop(std::move(loop));
      return std::move(copy) | leave(scope);
    });
    std::move(done) | dataflow::probe(probe);
  });
  return input;
}

void feed(World& world, std::vector<Input<Time>>& inputs) {
  for (Time round = 0; round < 5; ++round) {
    for (std::size_t worker = 0; worker < inputs.size(); ++worker) {
      for (Time i = 0; i < 10; ++i) inputs[worker].send(7 * i + worker);
      inputs[worker].advance_to(round + 1);
    }
    world.steps(3);
  }
  for (auto& input : inputs) input.close();
}

class Events : public ::testing::Test {
 protected:
  /// What two workers tell of a run of `numbers`, from before it is built to after it has ended.
  void run() {
    for (std::size_t worker = 0; worker < 2; ++worker) {
      told_[worker].listen(world_[worker], kEventStream);
      progress_[worker].listen(world_[worker], progress_stream<Time>());
      counts_[worker].listen(world_[worker], reachability_stream<Time>());
      inner_counts_[worker].listen(world_[worker], reachability_stream<InnerTime>());
      summaries_[worker].listen(world_[worker], summary_stream<InnerTime>());
      inputs_[worker] = numbers(world_[worker], probe_);
    }
    for (std::size_t worker = 0; worker < 2; ++worker) sketch_[worker] = world_[worker].sketch(0);
    clock_.advance(Nanos{5});
    feed(world_, inputs_);
    ASSERT_TRUE(world_.ends());
  }

  SettableClock clock_;
  std::array<Told<WorkerEvent>, 2> told_;  // outlives the workers, whose logs end with them
  std::array<Told<ProgressEvent<Time>>, 2> progress_;
  std::array<Told<TrackerEvent<Time>>, 2> counts_;
  std::array<Told<TrackerEvent<InnerTime>>, 2> inner_counts_;
  std::array<Told<SummaryEvent<InnerTime>>, 2> summaries_;
  std::array<progress::Sketch, 2> sketch_;
  World world_{2, core::ProgressMode::demand, &clock_};
  Probe<Time> probe_;
  std::vector<Input<Time>> inputs_ = std::vector<Input<Time>>(2);
};

TEST_F(Events, RebuildTheGraphThatWasBuilt) {
  run();
  for (std::size_t worker = 0; worker < 2; ++worker) {
    progress::LoggedGraph graph;
    for (const auto& logged : told_[worker].events) graph.add(logged.event);
    const auto rebuilt = graph.sketch(0);
    const auto own = progress::sorted(sketch_[worker]);
    EXPECT_EQ(rebuilt.nodes, own.nodes);
    EXPECT_EQ(rebuilt.edges, own.edges);
    EXPECT_GT(own.edges.size(), 8U);
    EXPECT_TRUE(graph.sketch(1).nodes.empty());
  }
}

TEST_F(Events, SayWhereAnOperatorWasMadeAndHowRecordsReachIt) {
  run();
  progress::LoggedGraph graph;
  std::set<std::string> pacts;
  for (const auto& logged : told_[0].events) graph.add(logged.event);
  for (const auto& channel : those<ChannelsEvent>(told_[0])) pacts.insert(channel.edge.pact);
  EXPECT_EQ(pacts, (std::set<std::string>{"pipeline", "exchange", "enter", "leave"}));
  for (const auto& node : those<OperatesEvent>(told_[0]))
    EXPECT_TRUE(node.place.starts_with("events_test.cpp:")) << node.name << " " << node.place;
  EXPECT_EQ(those<OperatesEvent>(told_[0]).front().address, progress::Sketch::Address{0});
}

TEST_F(Events, NameOperatorsAndEdgesAlikeOnAllWorkers) {
  run();
  const auto ids = [&](std::size_t worker) {
    std::map<std::uint64_t, progress::Sketch::Address> nodes;
    for (const auto& node : those<OperatesEvent>(told_[worker])) nodes[node.id] = node.address;
    std::map<std::uint64_t, progress::Sketch::Address> edges;
    for (const auto& channel : those<ChannelsEvent>(told_[worker])) {
      edges[channel.id] = channel.edge.scope;
      edges[channel.id].push_back(channel.edge.to);
    }
    return std::pair(nodes, edges);
  };
  EXPECT_EQ(ids(0), ids(1));
  EXPECT_EQ(ids(0).first.size(), sketch_[0].nodes.size());
  EXPECT_EQ(ids(0).second.size(), sketch_[0].edges.size());
}

TEST_F(Events, PairEveryStartWithAStopAndEndEveryOperatorOnce) {
  run();
  std::map<std::uint64_t, int> running;
  std::map<std::uint64_t, int> runs;
  std::multiset<std::uint64_t> ended;
  for (const auto& logged : told_[0].events) {
    if (const auto* run = std::get_if<ScheduleEvent>(&logged.event)) {
      EXPECT_TRUE(ended.count(run->id) == 0) << "an operator runs after its end";
      int& now = running[run->id];
      now += run->kind == ScheduleEvent::Kind::start ? 1 : -1;
      EXPECT_TRUE(now == 0 || now == 1);
      runs[run->id] += now;
    } else if (const auto* end = std::get_if<ShutdownEvent>(&logged.event)) {
      ended.insert(end->id);
    }
  }
  for (const auto& node : those<OperatesEvent>(told_[0])) {
    EXPECT_EQ(running[node.id], 0) << node.name;
    EXPECT_GE(runs[node.id], 1) << node.name;
    EXPECT_EQ(ended.count(node.id), 1U) << node.name;
  }
}

TEST_F(Events, EveryMessageThatIsSentIsReceivedWithTheSameNumberAndRecords) {
  run();
  using Message = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t>;
  std::map<Message, std::uint64_t> sent;
  std::map<Message, std::uint64_t> received;
  for (const auto& told : told_) {
    for (const auto& m : those<MessagesEvent>(told)) {
      auto& side = m.is_send ? sent : received;
      EXPECT_TRUE(side.emplace(Message{m.channel, m.from, m.to, m.sequence}, m.records).second);
      EXPECT_GT(m.records, 0U);
    }
  }
  EXPECT_EQ(sent, received);
  EXPECT_TRUE(std::any_of(sent.begin(), sent.end(), [](const auto& message) {
    return std::get<1>(message.first) != std::get<2>(message.first);
  })) << "nothing went to the other worker";
  std::set<std::uint64_t> shared;
  for (const auto& channel : those<CommChannelsEvent>(told_[0])) {
    if (channel.kind == CommChannelsEvent::Kind::data) shared.insert(channel.id);
  }
  EXPECT_EQ(shared.size(), 1U);
}

TEST_F(Events, AreInOrderOfTimeAndCountFromTheOriginOfTheWorker) {
  run();
  for (const auto& told : told_) {
    EXPECT_TRUE(std::is_sorted(told.events.begin(), told.events.end(),
                               [](const auto& a, const auto& b) { return a.time < b.time; }));
    EXPECT_EQ(told.events.front().time, Nanos{0});
    EXPECT_EQ(told.events.back().time, Nanos{5});
  }
}

TEST_F(Events, TellThatFrontiersMovedBeforeTheOperatorThatSeesThemRuns) {
  run();
  std::uint64_t moved = 0;
  const WorkerEvent* before = nullptr;
  for (const auto& logged : told_[0].events) {
    if (before != nullptr) {
      if (const auto* push = std::get_if<PushProgressEvent>(before)) {
        const auto* start = std::get_if<ScheduleEvent>(&logged.event);
        ASSERT_NE(start, nullptr);
        EXPECT_EQ(start->id, push->id);
        EXPECT_EQ(start->kind, ScheduleEvent::Kind::start);
        ++moved;
      }
    }
    before = &logged.event;
  }
  EXPECT_GT(moved, 5U);
}

TEST_F(Events, BatchesOfProgressArriveAsTheyWereSentAndInOrder) {
  run();
  const auto batches = [&](std::size_t teller, bool is_send, std::uint32_t from) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> sizes;
    for (const auto& logged : progress_[teller].events) {
      const auto& event = logged.event;
      if (event.is_send != is_send || event.from != from) continue;
      sizes[{event.scope, event.sequence}] = event.messages.size() + event.internal.size();
    }
    return sizes;
  };
  EXPECT_FALSE(batches(0, true, 0).empty());
  EXPECT_EQ(batches(0, true, 0), batches(1, false, 0));
  EXPECT_EQ(batches(1, true, 1), batches(0, false, 1));
  EXPECT_TRUE(batches(0, false, 0).empty()) << "a worker does not hear its own batches again";
}

/// The sum of all changes of counts, per scope, place and time.
template <class T>
auto summed(const Told<TrackerEvent<T>>& told) {
  using Place = std::tuple<std::uint64_t, std::uint32_t, progress::PortKind, std::uint32_t, T>;
  std::map<Place, std::int64_t> sums;
  for (const auto& logged : told.events) {
    for (const auto& change : logged.event.changes) {
      const Place place{logged.event.scope, change.node, change.kind, change.port, change.time};
      if ((sums[place] += change.delta) == 0) sums.erase(place);
    }
  }
  return sums;
}

TEST_F(Events, ChangesOfCountsSumToZeroWhenTheDataflowHasEnded) {
  run();
  for (std::size_t worker = 0; worker < 2; ++worker) {
    EXPECT_FALSE(counts_[worker].events.empty());
    EXPECT_FALSE(inner_counts_[worker].events.empty());
    EXPECT_TRUE(summed(counts_[worker]).empty());
    EXPECT_TRUE(summed(inner_counts_[worker]).empty());
  }
}

TEST_F(Events, ChangesOfCountsSumToWhatStandsAndAreTakenBackWhenItIsDropped) {
  counts_[0].listen(world_[0], reachability_stream<Time>());
  inputs_[0] = numbers(world_[0], probe_);
  inputs_[1] = numbers(world_[1], probe_);
  inputs_[0].send(100);
  inputs_[0].advance_to(3);
  world_.steps();
  std::map<std::tuple<std::uint32_t, progress::PortKind, std::uint32_t, std::string>, std::int64_t>
      standing;
  for (const auto& held : world_[0].holdings(0)) {
    if (held.address.size() != 2) continue;  // inside the loop
    standing[{held.address[1],
              held.kind == progress::Holding::Kind::records ? progress::PortKind::target
                                                            : progress::PortKind::source,
              held.port, held.time}] = held.count;
  }
  std::map<std::tuple<std::uint32_t, progress::PortKind, std::uint32_t, std::string>, std::int64_t>
      replayed;
  std::set<std::uint32_t> scopes;
  for (const auto& node : world_[0].sketch(0).nodes) {
    if (node.is_scope && node.address.size() == 2) scopes.insert(node.address[1]);
  }
  for (const auto& [place, count] : summed(counts_[0])) {
    const auto& [scope, node, kind, port, time] = place;
    // What a scope holds is told by what is inside it.
    if (kind == progress::PortKind::source && scopes.count(node) != 0) continue;
    replayed[{node, kind, port, std::to_string(time)}] = count;
  }
  EXPECT_EQ(replayed, standing);
  EXPECT_FALSE(standing.empty());
  for (std::size_t worker = 0; worker < 2; ++worker) world_[worker].drop_dataflow(0);
  world_[0].logs().flush();
  EXPECT_TRUE(summed(counts_[0]).empty());
}

TEST_F(Events, SummariesSayWhatOperatorsDoToTimes) {
  run();
  progress::LoggedGraph graph;
  for (const auto& logged : told_[0].events) graph.add(logged.event);
  bool loop_seen = false;
  for (const auto& logged : summaries_[0].events) {
    const auto* node = graph.node(logged.event.id);
    ASSERT_NE(node, nullptr);
    if (node->name != "feedback") continue;
    loop_seen = true;
    ASSERT_EQ(logged.event.links.size(), 1U);
    EXPECT_EQ(logged.event.links[0].summary, (InnerTime{0, 1}));
  }
  EXPECT_TRUE(loop_seen);
}

TEST_F(Events, ALogIsHeardByWhatIsBuiltAfterItOnly) {
  Told<WorkerEvent> first;
  Told<WorkerEvent> second;
  first.listen(world_[0], kEventStream);
  inputs_[0] = numbers(world_[0], probe_);
  second.listen(world_[0], kEventStream);
  auto later = numbers(world_[0], probe_);
  std::array others{numbers(world_[1], probe_), numbers(world_[1], probe_)};
  inputs_[0].send(9);
  inputs_[0].flush();
  world_.steps();
  world_[0].logs().flush();
  const auto dataflows = [](const Told<WorkerEvent>& told) {
    std::set<std::uint32_t> found;
    for (const auto& node : those<OperatesEvent>(told)) found.insert(node.address.front());
    return found;
  };
  EXPECT_EQ(dataflows(second), std::set<std::uint32_t>{1});
  EXPECT_FALSE(those<ScheduleEvent>(second).empty());
  // The first log lives as long as what was built with it, and is flushed when that ends.
  inputs_[0].close();
  later.close();
  for (auto& other : others) other.close();
  ASSERT_TRUE(world_.ends());
  EXPECT_EQ(dataflows(first), std::set<std::uint32_t>{0});
}

TEST_F(Events, AWorkerTellsThatItSleepsAndTextOfTheProgram) {
  told_[0].listen(world_[0], kEventStream);
  world_[0].logs().get<WorkerEvent>(kEventStream).log(TextEvent{"before"});
  world_[0].step_or_park(Nanos{1});
  const auto sleeps = those<ParkEvent>(told_[0]);
  ASSERT_EQ(sleeps.size(), 2U);
  EXPECT_EQ(sleeps[0].kind, ParkEvent::Kind::park);
  EXPECT_EQ(sleeps[0].timeout, Nanos{1});
  EXPECT_EQ(sleeps[1].kind, ParkEvent::Kind::unpark);
  ASSERT_EQ(those<TextEvent>(told_[0]).size(), 1U);
  EXPECT_EQ(those<TextEvent>(told_[0])[0].text, "before");
}

TEST_F(Events, AnOperatorThatThrowsHasStoppedAndEnded) {
  told_[0].listen(world_[0], kEventStream);
  World alone(1, core::ProgressMode::demand, &clock_);
  told_[1].listen(alone[0], kEventStream);
  Input<Time> input;
  alone[0].dataflow([&](auto& scope) {
    scope.input(input) | map([](Time number) {
      if (number == 3) throw std::runtime_error("three");
      return number;
    });
  });
  input.send(3);
  input.flush();
  EXPECT_THROW(alone.steps(), std::runtime_error);
  alone[0].logs().flush();
  std::map<std::uint64_t, int> running;
  for (const auto& run : those<ScheduleEvent>(told_[1]))
    running[run.id] += run.kind == ScheduleEvent::Kind::start ? 1 : -1;
  for (const auto& [id, now] : running) EXPECT_EQ(now, 0) << id;
  EXPECT_EQ(those<ShutdownEvent>(told_[1]).size(), those<OperatesEvent>(told_[1]).size());
}

TEST(RecordCounter, CountsTheRecordsThatCameToOperators) {
  World world;
  Input<Time> input;
  world[0].dataflow([&](auto& scope) {
    scope.input(input) | map([](Time number) { return number; }) | inspect([](Time) {});
  });
  for (Time i = 0; i < 10; ++i) input.send(i);
  input.close();
  ASSERT_TRUE(world.ends());
  EXPECT_EQ(world[0].counters().records, 20U);
}

TEST(EventText, IsOneLineForEachEvent) {
  using progress::text_of;
  EXPECT_EQ(text_of(OperatesEvent{4, {0, 2}, "count", "flow.cpp:12", false}),
            "operator 4 [0, 2] \"count\" (flow.cpp:12)");
  EXPECT_EQ(text_of(ChannelsEvent{7, {{0}, 1, 0, 2, 1, "exchange"}, "std::vector<int>"}),
            "channel 7 in [0]: 1.out0 -> 2.in1, exchange of std::vector<int>");
  EXPECT_EQ(text_of(MessagesEvent{true, 7, 0, 1, 3, 20}),
            "sent on channel 7: 20 records from 0 to 1 #3");
  EXPECT_EQ(text_of(ScheduleEvent{4, ScheduleEvent::Kind::stop}), "schedule 4 stop");
  EXPECT_EQ(text_of(ParkEvent{ParkEvent::Kind::park, Nanos{5}}), "park for 5ns");
  EXPECT_EQ(text_of(TrackerEvent<Time>{3, {{2, progress::PortKind::target, 0, 9, -4}}}),
            "counts of scope 3: 2.in0 -4 @ 9");
  EXPECT_EQ(text_of(SummaryEvent<InnerTime>{5, {{0, 0, {0, 1}}}}),
            "summary 5: in0->out0 by (0, 1)");
}

}  // namespace
}  // namespace leat::dataflow
