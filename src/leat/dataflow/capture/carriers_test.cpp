// The carriers of events within memory: lists, links and channels.
#include <leat/dataflow/capture/event_channel.hpp>
#include <leat/dataflow/capture/event_link.hpp>
#include <leat/dataflow/capture/event_list.hpp>
#include <leat/dataflow/capture/extract.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using Time = std::uint64_t;
using Batch = std::vector<int>;
using Happened = Event<Time, Batch>;

static_assert(EventSink<EventListWriter<Time, Batch>>);
static_assert(EventSink<EventLinkWriter<Time, Batch>>);
static_assert(EventSink<EventChannelWriter<Time, Batch>>);
static_assert(EventSource<EventListReader<Time, Batch>>);
static_assert(EventSource<EventLinkReader<Time, Batch>>);
static_assert(EventSource<EventChannelReader<Time, Batch>>);
static_assert(!FlushedSink<EventLinkWriter<Time, Batch>>);

Happened at(Time time, Batch records) {
  return Messages<Time, Batch>{Stamp<Time>(time), std::move(records)};
}
Happened moves(Time from, Time to) { return Progress<Time>{{{to, +1}, {from, -1}}}; }

/// The next event, if there is one.
template <class Source>
std::optional<Happened> next_of(Source& source) {
  Happened event;
  if (source.next(event) != Next::event) return std::nullopt;
  return event;
}
template <class Source>
Next look(Source& source) {
  Happened event;
  return source.next(event);
}

// What all carriers have in common, for one writer.
template <class Make>
void carries(Make make) {
  {
    auto [writer, reader] = make();
    EXPECT_EQ(look(reader), Next::none);
    writer.push(at(0, {1, 2}));
    writer.push(moves(0, 3));
    EXPECT_EQ(next_of(reader), at(0, {1, 2}));
    EXPECT_EQ(next_of(reader), moves(0, 3));
    EXPECT_EQ(look(reader), Next::none);
    writer.push(at(3, {4}));
    writer.end();
    EXPECT_EQ(next_of(reader), at(3, {4}));
    EXPECT_EQ(look(reader), Next::over);
    EXPECT_EQ(look(reader), Next::over);
  }
  {
    auto [writer, reader] = make();
    {
      auto gone = std::move(writer);
      gone.push(at(0, {1}));
    }
    EXPECT_EQ(next_of(reader), at(0, {1}));
    EXPECT_EQ(look(reader), Next::broken);
    EXPECT_EQ(look(reader), Next::broken);
    EXPECT_NE(reader.error().message.find("its writer went away"), std::string::npos);
  }
  {
    auto [writer, reader] = make();
    {
      const auto gone = std::move(reader);
    }
    writer.push(at(0, {1}));  // to nobody
    writer.end();
  }
}

template <class Make>
void ends_a_million_nodes(Make make) {
  auto [writer, reader] = make();
  for (int i = 0; i < 1'000'000; ++i) writer.push(Progress<Time>{});
  writer.end();
  EXPECT_EQ(next_of(reader), Happened(Progress<Time>{}));
  // Both ends go, and with them all that was not read: on this stack, and on no more of it.
}

auto list() {
  auto [writer, reader] = event_list<Time, Batch>();
  return std::pair(std::move(writer), std::move(reader));
}
auto link() {
  auto [writer, reader] = event_link<Time, Batch>();
  return std::pair(std::move(writer), std::move(reader));
}
auto channel() {
  auto [writers, reader] = event_channel<Time, Batch>(1);
  return std::pair(std::move(writers[0]), std::move(reader));
}

TEST(EventList, CarriesEventsInOrderAndSaysHowTheyEnd) { carries(list); }
TEST(EventLink, CarriesEventsInOrderAndSaysHowTheyEnd) { carries(link); }
TEST(EventChannel, CarriesEventsInOrderAndSaysHowTheyEnd) { carries(channel); }

TEST(EventList, EndsWithAMillionNodes) { ends_a_million_nodes(list); }
TEST(EventLink, EndsWithAMillionNodes) { ends_a_million_nodes(link); }
TEST(EventChannel, EndsWithAMillionNodes) { ends_a_million_nodes(channel); }

TEST(EventList, CopiesOfAReaderSeeTheSameAndOneAloneGetsTheOriginal) {
  auto [writer, reader] = list();
  writer.push(at(0, {1, 2}));
  writer.push(at(0, {3}));
  auto other = reader;
  EXPECT_EQ(next_of(reader), at(0, {1, 2}));
  EXPECT_EQ(next_of(reader), at(0, {3}));
  EXPECT_EQ(next_of(other), at(0, {1, 2}));
  auto late = other;
  EXPECT_EQ(next_of(other), at(0, {3}));
  EXPECT_EQ(next_of(late), at(0, {3}));
  {
    const auto gone = std::move(other);
  }
  {
    const auto gone = std::move(late);
  }
  writer.push(at(0, {5, 6}));
  const auto* const records = [&] {
    auto [again, alone] = list();
    std::swap(writer, again);
    std::swap(reader, alone);
    Batch batch{7};
    const int* const where = batch.data();
    writer.push(at(0, std::move(batch)));
    return where;
  }();
  auto event = next_of(reader);
  ASSERT_TRUE(event);
  EXPECT_EQ((std::get<Messages<Time, Batch>>(*event).batch.data()), records);
  writer.end();
}

TEST(EventList, CarriesWhatCannotBeCopied) {
  using Only = std::vector<std::unique_ptr<int>>;
  auto [writer, reader] = event_list<Time, Only>();
  Only batch;
  batch.push_back(std::make_unique<int>(5));
  writer.push(Messages<Time, Only>{Stamp<Time>(Time{1}), std::move(batch)});
  writer.end();
  Event<Time, Only> event;
  ASSERT_EQ(reader.next(event), Next::event);
  EXPECT_EQ(*(std::get<Messages<Time, Only>>(event).batch[0]), 5);
  static_assert(!std::copy_constructible<EventListReader<Time, Only>>);
  static_assert(std::copy_constructible<EventListReader<Time, Batch>>);
}

TEST(Carriers, WakeAReaderThatFoundNothingOncePerSleep) {
  const auto wakes = [](auto pair) {
    auto& [writer, reader] = pair;
    int woken = 0;
    reader.wake_by([&woken] { ++woken; });
    writer.push(at(0, {1}));
    EXPECT_EQ(woken, 0);  // nobody looked yet
    EXPECT_TRUE(next_of(reader));
    EXPECT_EQ(look(reader), Next::none);
    EXPECT_EQ(look(reader), Next::none);
    writer.push(at(0, {2}));
    writer.push(at(0, {3}));
    EXPECT_EQ(woken, 1);
    EXPECT_TRUE(next_of(reader));
    EXPECT_TRUE(next_of(reader));
    EXPECT_EQ(look(reader), Next::none);
    writer.end();
    EXPECT_EQ(woken, 2);
    EXPECT_EQ(look(reader), Next::over);
  };
  wakes(link());
  wakes(channel());
}

TEST(EventChannel, MixesStreamsAndIsOverWhenAllAre) {
  auto [writers, reader] = event_channel<Time, Batch>(2);
  EXPECT_EQ(reader.streams(), 2U);
  writers[1].push(at(0, {2}));
  writers[0].push(at(0, {1}));
  writers[1].end();
  EXPECT_EQ(next_of(reader), at(0, {2}));
  EXPECT_EQ(next_of(reader), at(0, {1}));
  EXPECT_EQ(look(reader), Next::none);
  writers[0].push(at(1, {3}));
  writers[0].end();
  EXPECT_EQ(next_of(reader), at(1, {3}));
  EXPECT_EQ(look(reader), Next::over);
}

TEST(EventChannel, BreaksWhenOneWriterGoesAway) {
  auto [writers, reader] = event_channel<Time, Batch>(2);
  writers[0].end();
  writers.pop_back();
  EXPECT_EQ(look(reader), Next::broken);
}

TEST(Carriers, GoNotOnAfterTheEnd) {
  auto [writer, reader] = link();
  writer.end();
  EXPECT_DEATH(writer.push(at(0, {1})), "goes on after its end");
  EXPECT_DEATH(writer.end(), "ends twice");
}

TEST(Extract, SortsPerTimeAndDropsEmpties) {
  auto [writer, reader] = list();
  writer.push(at(5, {3, 1}));
  writer.push(at(2, {9}));
  writer.push(at(4, {}));
  writer.push(at(5, {2}));
  writer.push(moves(0, 6));
  writer.end();
  using Extracted = std::vector<std::pair<Time, Batch>>;
  EXPECT_EQ(extract(std::move(reader)), (Extracted{{2, {9}}, {5, {1, 2, 3}}}));
}

TEST(Extract, RefusesAStreamThatGoesOnOrBrokeOff) {
  auto [writer, reader] = list();
  writer.push(at(0, {1}));
  EXPECT_TRUE(test::says(test::usage_error([&] { static_cast<void>(extract(reader)); }),
                         {"extract", "one that goes on"}));
  {
    const auto gone = std::move(writer);
  }
  EXPECT_THROW(static_cast<void>(extract(reader)), StreamBroken);
}

}  // namespace
}  // namespace leat::dataflow
