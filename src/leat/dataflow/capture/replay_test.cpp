// Capture, replay and reclock, over the carriers within memory.
#include <leat/dataflow/capture/replay.hpp>

#include <leat/dataflow/capture/capture.hpp>
#include <leat/dataflow/capture/event_channel.hpp>
#include <leat/dataflow/capture/event_link.hpp>
#include <leat/dataflow/capture/event_list.hpp>
#include <leat/dataflow/capture/extract.hpp>
#include <leat/dataflow/capture/reclock.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::says;
using test::World;

using Time = std::uint64_t;
using Record = int;
using Batch = std::vector<Record>;
using Happened = Event<Time, Batch>;
using Reader = EventLinkReader<Time, Batch>;
using Writer = EventLinkWriter<Time, Batch>;
using Extracted = std::vector<std::pair<Time, Batch>>;

Happened at(Time time, Batch records) {
  return Messages<Time, Batch>{Stamp<Time>(time), std::move(records)};
}
Happened moves(Time from, Time to) { return Progress<Time>{{{to, +1}, {from, -1}}}; }
Happened closes(Time time) { return Progress<Time>{{{time, -1}}}; }

/// All events of a stream that was ended.
template <class Source>
std::vector<Happened> all_of(Source& source) {
  std::vector<Happened> all;
  Happened event;
  while (source.next(event) == Next::event) all.push_back(std::move(event));
  EXPECT_EQ(source.next(event), Next::over);
  return all;
}

TEST(Capture, WritesProgressThenMessagesAndEndsWithTheStream) {
  World world;
  Input<Record> input;
  auto events = world[0].dataflow([&](auto& scope) { return scope.input(input) | capture(); });
  input.send(1);
  world.steps();
  input.advance_to(3);
  input.send(2);
  world.steps();
  input.close();
  ASSERT_TRUE(world.ends());
  EXPECT_EQ(all_of(events),
            (std::vector<Happened>{at(0, {1}), moves(0, 3), at(3, {2}), closes(3)}));
}

TEST(Capture, OfADroppedDataflowIsBroken) {
  World world;
  Input<Record> input;
  auto events = world[0].dataflow([&](auto& scope) { return scope.input(input) | capture(); });
  input.send(1);
  input.flush();
  world.steps();
  world[0].drop_dataflow(0);
  Happened event;
  EXPECT_EQ(events.next(event), Next::event);
  EXPECT_EQ(events.next(event), Next::broken);
  EXPECT_NE(events.error().message.find("its writer went away"), std::string::npos);
}

// A sink whose way out is as it is told.
struct Told : internal::Carries<Time, Batch> {
  Writer writer;
  Flush* way;
  int* flushes;
  Error why{"the way is gone"};

  void push(Happened event) { writer.push(std::move(event)); }
  void end() { writer.end(); }
  Flush flush() {
    ++*flushes;
    return *way;
  }
  [[nodiscard]] const Error& error() const { return why; }
};

TEST(Capture, RemainsUntilAllHasLeftAndOffersItOncePerRetry) {
  comm::Fabric fabric(1);
  SettableClock clock;
  Worker worker(fabric.seat(0), core::Config(), &clock);
  auto [writer, reader] = event_link<Time, Batch>();
  Flush way = Flush::some;
  int flushes = 0;
  worker.dataflow([&](auto& scope) {
    to_stream(scope, std::vector<Record>{1}) |
        capture_into(Told{{}, std::move(writer), &way, &flushes}, std::chrono::milliseconds(5));
  });
  for (int i = 0; i < 10; ++i) worker.step();
  const int before = flushes;
  clock.advance(std::chrono::milliseconds(5));
  for (int i = 0; i < 10; ++i) worker.step();
  EXPECT_EQ(flushes, before + 1);
  EXPECT_TRUE(worker.has_dataflows());
  way = Flush::all;
  clock.advance(std::chrono::milliseconds(5));
  for (int i = 0; i < 10; ++i) worker.step();
  EXPECT_EQ(flushes, before + 2);
  EXPECT_FALSE(worker.has_dataflows());
  EXPECT_EQ(extract(std::move(reader)), (Extracted{{0, {1}}}));
}

TEST(Capture, IntoASinkThatBreaksFailsItsDataflow) {
  World world;
  auto [writer, reader] = event_link<Time, Batch>();
  Flush way = Flush::broken;
  int flushes = 0;
  world[0].dataflow([&](auto& scope) {
    to_stream(scope, std::vector<Record>{1}) |
        capture_into(Told{{}, std::move(writer), &way, &flushes}).named("to nowhere");
  });
  try {
    world.steps();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const StreamBroken& error) {
    EXPECT_TRUE(says(error.what(), {"operator \"to nowhere\"", "the way is gone"}));
  }
}

TEST(Extract, OfACaptureIsWhatTheStreamCarried) {
  auto events = example(
      [](auto& scope) { return to_stream(scope, std::vector<Record>{3, 1, 2}) | capture(); });
  EXPECT_EQ(extract(std::move(events)), (Extracted{{0, {1, 2, 3}}}));
}

TEST(Capture, IntoAListIsReplayedOnTheSameWorkerWhileItGoesOn) {
  World world;
  Input<Record> input;
  auto [writer, reader] = event_list<Time, Batch>();
  world[0].dataflow([&](auto& scope) { scope.input(input) | capture_into(std::move(writer)); });
  Probe<> probe;
  Batch seen;
  world[0].dataflow([&](auto& scope) {
    std::vector<EventListReader<Time, Batch>> readers;
    readers.push_back(reader);
    readers.push_back(std::move(reader));
    replay_into(scope, std::move(readers)) |
        inspect([&](Record record) { seen.push_back(record); }) | dataflow::probe(probe);
  });
  input.send(7);
  input.advance_to(4);
  world.steps();
  EXPECT_EQ(seen, (Batch{7, 7}));
  EXPECT_TRUE(probe.less_equal(4));
  EXPECT_FALSE(probe.less_than(4));
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_TRUE(probe.done());
}

// Row 131: k streams on m workers; the frontier is the least of all streams', and all ends.
void replays(std::size_t streams, std::size_t workers) {
  SCOPED_TRACE(std::to_string(streams) + " streams on " + std::to_string(workers) + " workers");
  World world(workers);
  std::vector<Writer> writers;
  std::vector<std::vector<Reader>> readers(workers);
  for (std::size_t i = 0; i < streams; ++i) {
    auto [writer, reader] = event_link<Time, Batch>();
    writers.push_back(std::move(writer));
    readers[i % workers].push_back(std::move(reader));
  }
  std::vector<Probe<>> probes(workers);
  Batch seen;
  for (std::size_t index = 0; index < workers; ++index) {
    world[index].dataflow([&](auto& scope) {
      replay_into(scope, std::move(readers[index])) |
          inspect([&](Record record) { seen.push_back(record); }) | probe(probes[index]);
    });
  }
  Batch sent;
  const auto frontier_is = [&](Time time) {
    for (const auto& each : probes) {
      EXPECT_TRUE(each.less_equal(time));
      EXPECT_FALSE(each.less_than(time));
    }
  };
  world.steps();
  frontier_is(0);
  for (std::size_t i = 0; i < streams; ++i) {  // one stream after the other, to its time 5
    writers[i].push(at(0, {static_cast<Record>(i)}));
    writers[i].push(moves(0, 5));
    writers[i].push(at(5, {static_cast<Record>(100 + i)}));
    sent.insert(sent.end(), {static_cast<Record>(i), static_cast<Record>(100 + i)});
    world.steps();
    frontier_is(i + 1 < streams ? 0 : 5);
  }
  for (std::size_t i = streams; i-- > 0;) {  // and now the last one first
    writers[i].push(closes(5));
    writers[i].end();
    world.steps();
  }
  for (const auto& each : probes) EXPECT_TRUE(each.done());
  EXPECT_TRUE(world.ends());
  std::sort(seen.begin(), seen.end());
  std::sort(sent.begin(), sent.end());
  EXPECT_EQ(seen, sent);
}

TEST(Replay, OfAnyNumberOfStreamsOnAnyNumberOfWorkersHasTheLeastOfTheirFrontiers) {
  replays(1, 1);
  replays(3, 1);
  replays(1, 3);
  replays(2, 3);
  replays(3, 3);
  replays(5, 2);
}

TEST(Replay, OfAChannelHasTheFrontierOfAllItsStreams) {
  World world;
  auto [writers, reader] = event_channel<Time, Batch>(2);
  Probe<> probe_of;
  world[0].dataflow([&](auto& scope) {
    std::vector<EventChannelReader<Time, Batch>> readers;
    readers.push_back(std::move(reader));
    replay_into(scope, std::move(readers)) | probe(probe_of);
  });
  writers[0].push(moves(0, 9));
  writers[0].push(closes(9));
  writers[0].end();
  world.steps();
  EXPECT_TRUE(probe_of.less_equal(0));
  writers[1].push(closes(0));
  writers[1].end();
  EXPECT_TRUE(world.ends());
}

TEST(Replay, WithoutStreamsEndsAtOnce) {
  World world;
  world[0].dataflow(
      [&](auto& scope) { static_cast<void>(replay_into(scope, std::vector<Reader>())); });
  EXPECT_TRUE(world.ends(3));
}

// A reader that counts how often it is looked at.
struct Watched : internal::Carries<Time, Batch> {
  Reader reader;
  int* looks;

  Next next(Happened& into) {
    ++*looks;
    return reader.next(into);
  }
  [[nodiscard]] const Error& error() const { return reader.error(); }
  [[nodiscard]] std::size_t streams() const { return 1; }
};
struct WatchedAndWoken : Watched {
  void wake_by(Function<void()> wake) { reader.wake_by(std::move(wake)); }
};

template <class Source>
void replay_one(Worker& worker, Reader reader, int& looks, Nanos period = kReplayPeriod) {
  worker.dataflow([&](auto& scope) {
    std::vector<Source> sources;
    if constexpr (std::same_as<Source, Watched>) {
      sources.push_back(Watched{{}, std::move(reader), &looks});
    } else {
      sources.push_back(WatchedAndWoken{Watched{{}, std::move(reader), &looks}});
    }
    static_cast<void>(replay_into(scope, std::move(sources), period));
  });
}

TEST(Replay, DoesNotRunWhileItsStreamsHaveNothing) {
  World world;
  auto [writer, reader] = event_link<Time, Batch>();
  int looks = 0;
  replay_one<WatchedAndWoken>(world[0], std::move(reader), looks);
  world.steps();
  EXPECT_EQ(looks, 1);
  writer.push(at(0, {1}));
  writer.push(closes(0));
  writer.end();
  EXPECT_TRUE(world.ends());
}

TEST(Replay, LooksAtSourcesThatCannotWakeItOncePerPeriod) {
  comm::Fabric fabric(1);
  SettableClock clock;
  Worker worker(fabric.seat(0), core::Config(), &clock);
  auto [writer, reader] = event_link<Time, Batch>();
  int looks = 0;
  replay_one<Watched>(worker, std::move(reader), looks, std::chrono::milliseconds(5));
  for (int i = 0; i < 10; ++i) worker.step();
  EXPECT_EQ(looks, 1);
  clock.advance(std::chrono::milliseconds(5));
  for (int i = 0; i < 10; ++i) worker.step();
  EXPECT_EQ(looks, 2);
  writer.push(closes(0));
  writer.end();
  worker.step();
  EXPECT_EQ(looks, 2);
  clock.advance(std::chrono::milliseconds(5));
  for (int i = 0; i < 10; ++i) worker.step();
  EXPECT_FALSE(worker.has_dataflows());
}

TEST(Replay, WakesAWorkerThatSleeps) {
  auto [writer, reader] = event_link<Time, Batch>();
  std::thread late([to = std::move(writer)]() mutable {
    for (Record i = 0; i < 100; ++i) {
      to.push(at(0, {i}));
      std::this_thread::yield();
    }
    to.push(closes(0));
    to.end();
  });
  Batch seen;
  execute_directly([&](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      std::vector<Reader> readers;
      readers.push_back(std::move(reader));
      replay_into(scope, std::move(readers)) |
          inspect([&](Record record) { seen.push_back(record); });
    });
  });
  late.join();
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Replay, TakesABoundedShareOfEventsInOneActivation) {
  World world;
  auto [writer, reader] = event_link<Time, Batch>();
  Batch seen;
  world[0].dataflow([&](auto& scope) {
    std::vector<Reader> readers;
    readers.push_back(std::move(reader));
    replay_into(scope, std::move(readers)) |
        inspect([&](Record record) { seen.push_back(record); });
  });
  for (Record i = 0; i < 1000; ++i) writer.push(at(0, {i}));
  world[0].step();
  EXPECT_EQ(seen.size(), kMessagesPerActivation);
  writer.push(closes(0));
  writer.end();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen.size(), 1000U);
}

// What the replay of `events` on one worker, as its only stream, ends with.
std::string replay_error(std::vector<Happened> events, bool ended = true) {
  World world;
  auto [writer, reader] = event_link<Time, Batch>();
  world[0].dataflow([&](auto& scope) {
    std::vector<Reader> readers;
    readers.push_back(std::move(reader));
    static_cast<void>(replay_into(scope, std::move(readers)));
  });
  for (auto& event : events) writer.push(std::move(event));
  if (ended) {
    writer.end();
  } else {
    const auto gone = std::move(writer);
  }
  try {
    static_cast<void>(world.ends());
  } catch (const StreamBroken& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Replay, RefusesStreamsThatBreakTheRules) {
  EXPECT_TRUE(says(replay_error({moves(0, 5), at(4, {1})}),
                   {"operator \"replay\"", "source 0, after 2 events", "records at 4"}));
  EXPECT_TRUE(says(replay_error({moves(0, 5), moves(5, 4)}), {"time 4 to open", "found none"}));
  EXPECT_TRUE(says(replay_error({closes(3)}), {"time 3 to close"}));
  EXPECT_TRUE(says(replay_error({closes(0), closes(0)}), {"time 0 to close"}));
  EXPECT_TRUE(says(replay_error({Progress<Time>{{{0, INT64_MIN}}}}), {"counts that can be"}));
  EXPECT_TRUE(says(replay_error({moves(0, 2)}), {"at the end of the stream", "time 2 open"}));
  EXPECT_TRUE(says(replay_error({moves(0, 2)}, false), {"its writer went away"}));
  EXPECT_EQ(replay_error({moves(0, 2), closes(2)}), "nothing was thrown");
}

TEST(Replay, ReportsABrokenStreamAsItsWorkersResult) {
  std::vector<Reader> readers;
  for (int i = 0; i < 2; ++i) {
    auto [writer, reader] = event_link<Time, Batch>();
    readers.push_back(std::move(reader));
    if (i == 0) writer.push(closes(0)), writer.end();
  }
  core::Config config;
  config.workers = 2;
  const auto outcome = execute(config, [&](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      std::vector<Reader> own;
      own.push_back(std::move(readers[worker.index()]));
      replay_into(scope, std::move(own)) | exchange([](Record record) { return record; });
    });
  });
  EXPECT_FALSE(outcome.ok());
  ASSERT_TRUE(outcome.ending(1).error);
  EXPECT_THROW(std::rethrow_exception(outcome.ending(1).error), StreamBroken);
  EXPECT_TRUE(outcome.ending(0).stopped);
}

TEST(Capture, OfAMessageAtSeveralTimesIsReplayedAtThem) {
  using Two = progress::Product<std::uint64_t, std::uint64_t>;
  World world;
  auto events = world[0].dataflow<Two>([](auto& scope) {
    auto sent = source<Record>(scope, "two times", [](Capability<Two> first, OperatorInfo) {
      return [first = std::move(first)](auto& output) mutable {
        if (!first) return;
        CapabilitySet<Two> set;
        set.insert(first.delayed({1, 2}));
        set.insert(first.delayed({2, 1}));
        output.session(set).give(5);
        first.release();
      };
    });
    return sent | capture();
  });
  ASSERT_TRUE(world.ends());
  auto again = world[0].dataflow<Two>([&](auto& scope) {
    std::vector<decltype(events)> own;
    own.push_back(std::move(events));
    return replay_into(scope, std::move(own)) | capture();
  });
  ASSERT_TRUE(world.ends());
  const auto extracted = extract(std::move(again));
  ASSERT_EQ(extracted.size(), 2U);
  EXPECT_EQ(extracted[0].second, (Batch{5}));
  EXPECT_EQ(extracted[1].second, (Batch{5}));
}

TEST(Reclock, ReleasesRecordsAtTheTicksOfTheClockAndDropsTheRest) {
  World world;
  Input<Record> data;
  Input<int> ticks;
  auto events = world[0].dataflow([&](auto& scope) {
    auto clock = scope.input(ticks);
    return scope.input(data) | reclock(clock) | capture();
  });
  for (Time time = 0; time < 10; ++time) {
    data.advance_to(time);
    data.send(static_cast<Record>(time));
  }
  ticks.advance_to(5);
  ticks.send(0);
  ticks.send(0);
  ticks.advance_to(8);
  ticks.send(0);
  data.close();
  ticks.advance_to(9);
  ticks.close();
  ASSERT_TRUE(world.ends());
  EXPECT_EQ(extract(std::move(events)), (Extracted{{5, {0, 1, 2, 3, 4, 5}}, {8, {6, 7, 8}}}));
}

TEST(Reclock, WaitsUntilTheTickIsComplete) {
  World world;
  Input<Record> data;
  Input<int> ticks;
  Batch seen;
  world[0].dataflow([&](auto& scope) {
    auto clock = scope.input(ticks);
    scope.input(data) | reclock(clock) | inspect([&](Record record) { seen.push_back(record); });
  });
  data.send(1);
  data.advance_to(2);
  ticks.advance_to(2);
  ticks.send(0);
  ticks.advance_to(3);
  world.steps();
  EXPECT_TRUE(seen.empty());  // data may still come at 2
  data.send(2);
  data.advance_to(3);
  world.steps();
  EXPECT_EQ(seen, (Batch{1, 2}));
  data.close();
  ticks.close();
  EXPECT_TRUE(world.ends());
}

}  // namespace
}  // namespace leat::dataflow
