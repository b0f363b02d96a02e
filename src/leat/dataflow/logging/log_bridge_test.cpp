#include <leat/dataflow/logging/log_bridge.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <leat/dataflow.hpp>
#include <leat/dataflow/capture/event_link.hpp>
#include <leat/dataflow/capture/event_list.hpp>
#include <leat/dataflow/capture/replay.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::World;
using Time = std::uint64_t;
using Numbers = core::LogBatch<int>;
using Told = core::LogBatch<WorkerEvent>;

/// What came out of a bridge: `{"message at 3 of 2"}` and the like.
template <class Source>
std::vector<std::string> story(Source& source) {
  std::vector<std::string> told;
  Event<Nanos, Numbers> event;
  Next next;
  while ((next = source.next(event)) == Next::event) {
    if (const auto* progress = std::get_if<Progress<Nanos>>(&event)) {
      std::string text = "progress";
      for (const auto& [time, delta] : progress->changes)
        text += (delta > 0 ? " +" : " -") + std::to_string(time.count());
      told.push_back(std::move(text));
    } else {
      const auto& messages = std::get<Messages<Nanos, Numbers>>(event);
      std::string text = "at " + std::to_string(messages.stamp.first().count()) + ":";
      for (const auto& logged : messages.batch)
        text += " " + std::to_string(logged.event) + "@" + std::to_string(logged.time.count());
      told.push_back(std::move(text));
    }
  }
  if (next == Next::over) told.push_back("over");
  return told;
}

TEST(LogBridge, WritesEachBatchAtTheBoundBeforeItAndMovesTheBound) {
  using Story = std::vector<std::string>;
  SettableClock clock{std::chrono::seconds(1)};
  core::LogRegistry logs(clock);
  auto [writer, reader] = event_list<Nanos, Numbers>();
  log_into<int>(logs, "numbers", std::move(writer));
  logs.get<int>("numbers").log(7);
  logs.flush();
  EXPECT_EQ(story(reader), (Story{"at 0: 7@0"}));
  clock.advance(Nanos{4});
  logs.get<int>("numbers").log(8);
  clock.advance(Nanos{1});
  logs.flush();
  EXPECT_EQ(story(reader), (Story{"at 0: 8@4", "progress +5 -0"}));
  logs.flush();
  EXPECT_EQ(story(reader), Story{}) << "nothing to tell";
  clock.advance(Nanos{3});
  logs.flush();
  EXPECT_EQ(story(reader), (Story{"progress +8 -5"})) << "a heartbeat";
}

TEST(LogBridge, EndsTheStreamWhenNobodyHoldsTheLogAnyMore) {
  using Story = std::vector<std::string>;
  SettableClock clock;
  core::LogRegistry logs(clock);
  auto [writer, reader] = event_list<Nanos, Numbers>();
  log_into<int>(logs, "numbers", std::move(writer));
  auto logger = logs.get<int>("numbers");
  logs.remove("numbers");
  clock.advance(Nanos{2});
  logger.log(1);
  EXPECT_EQ(story(reader), Story{});
  logger = {};
  EXPECT_EQ(story(reader), (Story{"at 0: 1@2", "progress +2 -0", "progress -2", "over"}));
}

/// What a replayed log says, on a worker of its own.
struct Watcher {
  template <class Reader>
  explicit Watcher(std::vector<Reader> readers) {
    world[0].dataflow<Nanos>([&](auto& scope) {
      replay_into(scope, std::move(readers)) |
          inspect_batch([this](const Nanos& time, const Told& batch) {
            for (const auto& logged : batch) {
              EXPECT_GE(logged.time, time);
              events.push_back(logged.event);
            }
          }) |
          dataflow::probe(probe);
    });
  }

  template <class Kind>
  [[nodiscard]] std::vector<Kind> those() const {
    std::vector<Kind> found;
    for (const auto& event : events) {
      if (const auto* kind = std::get_if<Kind>(&event)) found.push_back(*kind);
    }
    return found;
  }

  std::vector<WorkerEvent> events;
  Probe<Nanos> probe;
  World world;
};

TEST(LogBridge, MakesTheLogsOfTwoWorkersTheInputOfADataflowThatEndsWithThem) {
  SettableClock clock;
  std::vector<EventLinkReader<Nanos, Told>> readers;
  auto watched = std::make_unique<World>(2, core::ProgressMode::demand, &clock);
  std::vector<Input<Time>> inputs(2);
  for (std::size_t worker = 0; worker < 2; ++worker) {
    auto [writer, reader] = event_link<Nanos, Told>();
    log_into<WorkerEvent>((*watched)[worker].logs(), kEventStream, std::move(writer));
    readers.push_back(std::move(reader));
    (*watched)[worker].dataflow([&](auto& scope) {
      scope.input(inputs[worker]) | exchange([](Time number) { return number; }) |
          inspect([](Time) {});
    });
  }
  Watcher watcher(std::move(readers));
  for (Time i = 0; i < 100; ++i) inputs[0].send(i);
  for (auto& input : inputs) input.close();
  clock.advance(Nanos{9});
  watched->steps(1);
  watcher.world.steps();
  EXPECT_FALSE(watcher.probe.less_than(Nanos{9})) << "both logs told that they are at 9";
  EXPECT_TRUE(watcher.probe.less_equal(Nanos{9}));
  ASSERT_TRUE(watched->ends());
  watcher.world.steps();
  EXPECT_FALSE(watcher.probe.done()) << "the workers could build more";
  watched.reset();
  ASSERT_TRUE(watcher.world.ends());

  EXPECT_EQ(watcher.those<OperatesEvent>().size(), 8U);  // of each worker a dataflow and three
  EXPECT_EQ(watcher.those<ShutdownEvent>().size(), 8U);
  std::map<std::uint64_t, std::int64_t> on_way;
  std::uint64_t records = 0;
  for (const auto& message : watcher.those<MessagesEvent>()) {
    on_way[message.channel] += message.is_send ? 1 : -1;
    if (message.is_send) records += message.records;
  }
  for (const auto& [channel, messages] : on_way) EXPECT_EQ(messages, 0) << channel;
  EXPECT_EQ(records, 200U);
}

TEST(LogBridge, AWorkerMayWatchItself) {
  World world;
  auto [writer, reader] = event_list<Nanos, Told>();
  std::vector<EventListReader<Nanos, Told>> readers;
  readers.push_back(std::move(reader));
  std::size_t ended = 0;
  world[0].dataflow<Nanos>([&](auto& scope) {
    replay_into(scope, std::move(readers)) | inspect([&](const core::Logged<WorkerEvent>& logged) {
      if (std::holds_alternative<ShutdownEvent>(logged.event)) ++ended;
    });
  });
  log_into<WorkerEvent>(world[0].logs(), kEventStream, std::move(writer));
  Input<Time> input;
  world[0].dataflow([&](auto& scope) { scope.input(input) | inspect([](Time) {}); });
  world[0].logs().remove(kEventStream);
  input.send(1);
  input.close();
  ASSERT_TRUE(world.ends()) << "the log ends with the dataflow that it is of";
  EXPECT_EQ(ended, 3U);
}

}  // namespace
}  // namespace leat::dataflow
