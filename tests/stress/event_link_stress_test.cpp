// Writers push events that prove themselves, on threads of their own; the reader sleeps whenever it
// finds nothing, checks each writer's order, and sees the end.
#include <leat/core/parker.hpp>
#include <leat/dataflow/capture/event_channel.hpp>
#include <leat/dataflow/capture/event_link.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace leat::stress {
namespace {

using Batch = std::vector<Payload>;
using Happened = dataflow::Event<std::uint64_t, Batch>;
using dataflow::Next;

constexpr std::uint64_t kEvents = 20'000;

Happened event(std::uint64_t writer, std::uint64_t sequence) {
  return dataflow::Messages<std::uint64_t, Batch>{dataflow::Stamp<std::uint64_t>(sequence),
                                                  {Payload::make(writer, sequence)}};
}

class Reading {
 public:
  explicit Reading(std::size_t writers) : expected_(writers, 0) {}

  /// Takes what is there. Returns: what was found last.
  template <class Reader>
  Next drain(Reader& reader) {
    Happened taken;
    for (;;) {
      const Next next = reader.next(taken);
      if (next != Next::event) return next;
      const auto& messages = std::get<dataflow::Messages<std::uint64_t, Batch>>(taken);
      const Payload& payload = messages.batch.front();
      EXPECT_TRUE(payload.is_whole());
      EXPECT_EQ(payload.sequence, messages.stamp.first());
      EXPECT_EQ(payload.sequence, expected_[payload.writer]++);
    }
  }
  [[nodiscard]] bool all() const {
    for (const std::uint64_t next : expected_) {
      if (next != kEvents) return false;
    }
    return true;
  }

 private:
  std::vector<std::uint64_t> expected_;
};

template <class Writer>
void write_all(Writer writer, std::uint64_t which) {
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    writer.push(event(which, i));
    if (i % 64 == 0) std::this_thread::yield();  // lets the reader fall asleep
  }
  writer.end();
}

template <class Reader>
void read_asleep(Reader reader, std::size_t writers) {
  core::Parker parker;
  reader.wake_by([&parker] { parker.unpark(); });
  Reading reading(writers);
  Next last = reading.drain(reader);
  for (; last == Next::none; last = reading.drain(reader)) parker.park([] { return false; });
  EXPECT_EQ(last, Next::over);
  EXPECT_TRUE(reading.all());
}

TEST(EventLinkStress, ScaffoldOnOneThread) {
  auto [writer, reader] = dataflow::event_link<std::uint64_t, Batch>();
  Reading reading(1);
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    writer.push(event(0, i));
    if (i % 7 == 0) {
      EXPECT_EQ(reading.drain(reader), Next::none);
    }
  }
  writer.end();
  EXPECT_EQ(reading.drain(reader), Next::over);
  EXPECT_TRUE(reading.all());
}

TEST(EventLinkStress, EventsComeWholeAndASleepingReaderIsWoken) {
  auto [writer, reader] = dataflow::event_link<std::uint64_t, Batch>();
  std::thread writing([&, to = std::move(writer)]() mutable { write_all(std::move(to), 0); });
  read_asleep(std::move(reader), 1);
  writing.join();
}

TEST(EventChannelStress, EventsOfAllWritersComeWholeAndASleepingReaderIsWoken) {
  constexpr std::size_t kWriters = 4;
  auto [writers, reader] = dataflow::event_channel<std::uint64_t, Batch>(kWriters);
  std::vector<std::thread> writing;
  for (std::size_t i = 0; i < kWriters; ++i) {
    writing.emplace_back(
        [i, to = std::move(writers[i])]() mutable { write_all(std::move(to), i); });
  }
  read_asleep(std::move(reader), kWriters);
  for (auto& thread : writing) thread.join();
}

TEST(EventLinkStress, AReaderMayLeaveWhileTheWriterGoesOn) {
  for (int round = 0; round < 200; ++round) {
    auto [writer, reader] = dataflow::event_link<std::uint64_t, Batch>();
    std::thread writing([to = std::move(writer)]() mutable {
      for (std::uint64_t i = 0; i < 100; ++i) to.push(event(0, i));
      to.end();
    });
    Reading reading(1);
    static_cast<void>(reading.drain(reader));
    {
      const auto gone = std::move(reader);
    }
    writing.join();
  }
}

}  // namespace
}  // namespace leat::stress
