// Event links and channels: events come whole, each once, in their writer's order, and a reader that
// found nothing and went to sleep is woken.
#include <leat/core/parker.hpp>
#include <leat/dataflow/capture/event_channel.hpp>
#include <leat/dataflow/capture/event_link.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace leat::dataflow {
namespace {

using Time = std::uint64_t;
using Batch = std::vector<int>;

Event<Time, Batch> at(Time time, int record) {
  return Messages<Time, Batch>{Stamp<Time>(time), {record}};
}

// What both ends share is kept until they have ended: the checker does not see the counts of
// std::shared_ptr, which order the end otherwise.
struct Link {
  std::shared_ptr<internal::LinkState<Time, Batch>> shared =
      std::make_shared<internal::LinkState<Time, Batch>>();
  EventLinkWriter<Time, Batch> writer{shared};
  EventLinkReader<Time, Batch> reader{shared};
  core::Parker parker;
};
struct Channel {
  std::shared_ptr<internal::ChannelState<Time, Batch>> shared =
      std::make_shared<internal::ChannelState<Time, Batch>>();
  EventChannelWriter<Time, Batch> writers[2]{EventChannelWriter<Time, Batch>(shared),
                                             EventChannelWriter<Time, Batch>(shared)};
  EventChannelReader<Time, Batch> reader{shared, 2};
  core::Parker parker;
};

// Reads until the stream is over; sleeps whenever there is nothing. Returns the records in order.
template <class Reader>
std::vector<int> read_all(Reader& reader, core::Parker& parker) {
  std::vector<int> records;
  Event<Time, Batch> event;
  for (;;) {
    switch (reader.next(event)) {
      case Next::event:
        records.push_back(std::get<Messages<Time, Batch>>(event).batch.front());
        break;
      case Next::none:
        parker.park([] { return false; });
        break;
      case Next::over:
        return records;
      case Next::broken:
        model::require(false, "no writer goes away");
    }
  }
}

// The writer has its end from the start; the reader sets its wake-up while the writer is at work.
template <int kEvents>
void link_to_a_sleeper(model::Run& run) {
  auto state = std::make_shared<Link>();
  run.thread([=] {
    auto writer = std::move(state->writer);
    for (int i = 0; i < kEvents; ++i) writer.push(at(0, i));
    writer.end();
  });
  run.thread([=] {
    auto reader = std::move(state->reader);
    reader.wake_by([parker = &state->parker] { parker->unpark(); });
    const auto records = read_all(reader, state->parker);
    model::require(records.size() == kEvents, "each event once");
    for (int i = 0; i < kEvents; ++i)
      model::require(records[static_cast<std::size_t>(i)] == i, "in the writer's order");
  });
  run.join();
}

// A reader that leaves while the writer goes on: nothing is touched after its end, nothing leaks.
void reader_leaves(model::Run& run) {
  auto link = std::make_shared<Link>();
  run.thread([=] {
    auto writer = std::move(link->writer);
    writer.push(at(0, 0));
    writer.push(at(0, 1));
    writer.end();
  });
  run.thread([=] {
    auto reader = std::move(link->reader);
    Event<Time, Batch> event;
    static_cast<void>(reader.next(event));
  });
  run.join();
}

void channel_to_a_sleeper(model::Run& run) {
  auto state = std::make_shared<Channel>();
  for (std::size_t which = 0; which < 2; ++which) {
    run.thread([=] {
      auto writer = std::move(state->writers[which]);
      writer.push(at(0, static_cast<int>(which)));
      writer.end();
    });
  }
  run.thread([=] {
    auto reader = std::move(state->reader);
    reader.wake_by([parker = &state->parker] { parker->unpark(); });
    const auto records = read_all(reader, state->parker);
    model::require(records.size() == 2, "each event once");
    model::require(records[0] != records[1], "of both writers");
  });
  run.join();
}

TEST(EventLinkModel, EventsComeWholeAndASleepingReaderIsWoken) {
  model::expect_holds(link_to_a_sleeper<1>, {.preemptions = 4});
  model::expect_holds(link_to_a_sleeper<2>, {.preemptions = 3});
}

TEST(EventLinkModel, AReaderMayLeaveWhileTheWriterGoesOn) {
  model::expect_holds(reader_leaves, {.preemptions = 3});
}

TEST(EventLinkModel, NeedsItsEdges) {
  model::expect_needs_edges(link_to_a_sleeper<1>, {"link/acquire", "link/release"},
                            "destroys the atomic while");
  model::expect_needs_edges(link_to_a_sleeper<1>, {"news/acquire", "news/release"}, model::kStuck);
}

TEST(EventLinkModel, CatchesALookThatIsNotTakenAgainAndATellThatOnlyLooks) {
  model::expect_catches(link_to_a_sleeper<1>,
                        {"nudge.does_not_look_again", "nudge.told_without_exchange"},
                        model::kStuck);
}

TEST(EventChannelModel, EventsOfTwoWritersComeWholeAndASleepingReaderIsWoken) {
  model::expect_holds(channel_to_a_sleeper, {.preemptions = 2});
}

}  // namespace
}  // namespace leat::dataflow
