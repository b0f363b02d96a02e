// Streams of events as bytes: the frames, what is in them, and every way in which they can be none.
#include <leat/dataflow/capture/event_bytes.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::says;

using Time = std::uint64_t;
using Batch = std::vector<std::string>;
using Happened = Event<Time, Batch>;
using Bytes = std::vector<std::byte>;

/// What both ends of a way for bytes share: they come out in pieces of `piece` bytes, and a look
/// that finds nothing comes before each.
struct Way {
  Bytes bytes;
  std::size_t piece = 1U << 20;
  std::size_t room = 1U << 20;  // how much more it takes
  std::size_t read = 0;
  bool is_over = false;  // behind what there is
  bool is_broken = false;
  bool was_none = false;
};

class End {
 public:
  explicit End(Way& way) : way_(&way) {}

  Io read(std::span<std::byte> into) {
    if (way_->is_broken) return {IoState::broken, 0};
    if (!way_->was_none) {
      way_->was_none = true;
      return {IoState::none, 0};
    }
    const std::size_t count = std::min({into.size(), way_->piece, way_->bytes.size() - way_->read});
    if (count == 0) return {way_->is_over ? IoState::over : IoState::none, 0};
    std::memcpy(into.data(), way_->bytes.data() + way_->read, count);
    way_->read += count;
    way_->was_none = false;
    return {IoState::some, count};
  }
  Io write(std::span<const std::byte> bytes) {
    if (way_->is_broken) return {IoState::broken, 0};
    const std::size_t count = std::min({bytes.size(), way_->piece, way_->room});
    if (count == 0) return {IoState::none, 0};
    way_->bytes.insert(way_->bytes.end(), bytes.begin(),
                       bytes.begin() + static_cast<std::ptrdiff_t>(count));
    way_->room -= count;
    return {IoState::some, count};
  }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Way* way_;
  Error error_{"the way is broken"};
};

static_assert(BytesIn<End> && BytesOut<End>);
static_assert(FlushedSink<EventWriter<Time, Batch, End>>);
static_assert(EventSource<EventReader<Time, Batch, End>>);

Happened at(Time time, Batch records) {
  return Messages<Time, Batch>{Stamp<Time>(time), std::move(records)};
}
Happened moves(Time from, Time to) { return Progress<Time>{{{to, +1}, {from, -1}}}; }

std::vector<Happened> some_events() {
  return {at(0, {"a", "", "long enough to live on the heap"}), moves(0, 7), at(7, {}),
          Progress<Time>{{{7, -1}}}};
}

/// The stream of `some_events`, ended.
Bytes some_stream() {
  Way way;
  auto writer = event_writer<Time, Batch>(End(way));
  for (auto& event : some_events()) writer.push(std::move(event));
  writer.end();
  EXPECT_EQ(writer.flush(), Flush::all);
  return way.bytes;
}

struct Found {
  std::vector<Happened> events;
  Next last = Next::none;
  std::string error;
};

/// All that is in `bytes`, which end there.
Found read(Bytes bytes, std::size_t piece = 1U << 20, std::size_t frame_bytes_max = 1000) {
  Way way;
  way.bytes = std::move(bytes);
  way.piece = piece;
  way.is_over = true;
  auto reader = event_reader<Time, Batch>(End(way), frame_bytes_max);
  Found found;
  Happened event;
  for (int looks = 0; looks < 10'000; ++looks) {
    found.last = reader.next(event);
    if (found.last == Next::event) found.events.push_back(std::move(event));
    if (found.last == Next::over) return found;
    if (found.last == Next::broken) {
      found.error = reader.error().message;
      EXPECT_EQ(reader.next(event), Next::broken);  // and stays so
      return found;
    }
  }
  return found;
}

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}
Bytes header() {
  Bytes bytes;
  append_header(bytes);
  return bytes;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(EventBytes, ComeOutAsTheyWentInHoweverTheyAreDivided) {
  const Bytes stream = some_stream();
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    const Found found = read(stream, piece);
    ASSERT_EQ(found.last, Next::over) << piece << ": " << found.error;
    ASSERT_EQ(found.events, some_events()) << piece;
  }
}

TEST(EventBytes, CutAnywhereAreBrokenAndSayWhere) {
  const Bytes stream = some_stream();
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    const Bytes begun(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut));
    const Found found = read(begun, 5);
    ASSERT_EQ(found.last, Next::broken) << cut;
    ASSERT_TRUE(says(found.error, {"event stream, byte " + std::to_string(cut) + ":",
                                   "that the bytes break off"}))
        << cut;
  }
}

TEST(EventBytes, AreTheBytesThatTheProtocolSays) {
  Way way;
  auto writer = event_writer<Time, Batch>(End(way));
  writer.push(moves(0, 3));
  writer.push(at(3, {"hi"}));
  writer.end();
  EXPECT_EQ(writer.flush(), Flush::all);
  const Bytes expected =
      bytes_of({'l', 'e', 'a', 't', 'e', 'v', 't', 's', 1, 0, 0, 0, 0, 0, 0, 0}) +
      bytes_of({41, 0, 0, 0, 1}) + bytes_of({2, 0, 0, 0, 0, 0, 0, 0}) +
      bytes_of({3, 0, 0, 0, 0, 0, 0, 0}) + bytes_of({1, 0, 0, 0, 0, 0, 0, 0}) +
      bytes_of({0, 0, 0, 0, 0, 0, 0, 0}) + bytes_of({255, 255, 255, 255, 255, 255, 255, 255}) +
      bytes_of({35, 0, 0, 0, 2}) + bytes_of({1, 0, 0, 0, 0, 0, 0, 0}) +
      bytes_of({3, 0, 0, 0, 0, 0, 0, 0}) + bytes_of({1, 0, 0, 0, 0, 0, 0, 0}) +
      bytes_of({2, 0, 0, 0, 0, 0, 0, 0, 'h', 'i'}) + bytes_of({1, 0, 0, 0, 3});
  EXPECT_EQ(way.bytes, expected);
}

TEST(EventBytes, ThatAreNoStreamAreRefusedWithWhatAndWhere) {
  EXPECT_TRUE(says(read(bytes_of({'G', 'E', 'T', ' ', '/'})).error,
                   {"byte 0", "begins with \"leatevts\"", "0x47"}));
  EXPECT_TRUE(says(read(bytes_of({'l', 'x'})).error, {"byte 1", "0x78"}));
  auto version = header();
  version[8] = std::byte{2};
  EXPECT_TRUE(says(read(version).error, {"byte 8", "version 1", "version 2"}));
  auto flags = header();
  flags[12] = std::byte{4};
  EXPECT_TRUE(says(read(flags).error, {"byte 12", "flags 4"}));
  EXPECT_TRUE(says(read(header() + bytes_of({0, 0, 0, 0})).error,
                   {"byte 16", "1 to 1000 bytes", "a length of 0"}));
  EXPECT_TRUE(says(read(header() + bytes_of({233, 3, 0, 0})).error, {"a length of 1001"}));
  EXPECT_TRUE(says(read(header() + bytes_of({255, 255, 255, 255})).error, {"4294967295"}));
  EXPECT_TRUE(says(read(header() + bytes_of({9, 0, 0, 0, 7})).error, {"byte 20", "kind 7"}));
  EXPECT_TRUE(says(read(header() + bytes_of({2, 0, 0, 0, 3, 0})).error,
                   {"byte 16", "an end frame of 1 byte", "2 bytes"}));
  EXPECT_TRUE(says(read(some_stream() + bytes_of({1})).error, {"nothing after the end", "1 byte"}));

  const auto frame = [](FrameKind kind, const Bytes& payload) {
    Bytes bytes = header();
    EXPECT_TRUE(append_frame(bytes, kind, payload));
    return read(bytes).error;
  };
  EXPECT_TRUE(says(frame(FrameKind::progress, bytes_of({1, 0, 0, 0, 0, 0, 0, 0})),
                   {"frame at byte 21", "more elements are counted"}));
  EXPECT_TRUE(says(frame(FrameKind::progress, bytes_of({0, 0, 0, 0, 0, 0, 0, 0, 9})),
                   {"bytes are left in the frame"}));
  EXPECT_TRUE(says(frame(FrameKind::messages, bytes_of({0, 0, 0, 0, 0, 0, 0, 0})),
                   {"records without a time"}));
  EXPECT_TRUE(says(frame(FrameKind::messages, bytes_of({2, 0, 0, 0, 0, 0, 0, 0}) + Bytes(16)),
                   {"one is before another"}));
}

TEST(EventBytes, OfAFrameThatIsTooLongBreakTheWriter) {
  Way way;
  auto writer = event_writer<Time, Batch>(End(way), 100);
  writer.push(moves(0, 1));
  EXPECT_EQ(writer.flush(), Flush::all);
  writer.push(at(1, {std::string(100, 'x')}));
  writer.push(moves(1, 2));
  EXPECT_EQ(writer.flush(), Flush::broken);
  EXPECT_TRUE(says(writer.error().message, {"at most 100 bytes", "raise frame_bytes_max"}));
}

TEST(EventBytes, WaitForRoomAndAreWrittenOnce) {
  Way way;
  way.room = 0;
  auto writer = event_writer<Time, Batch>(End(way));
  for (auto& event : some_events()) writer.push(std::move(event));
  EXPECT_EQ(writer.flush(), Flush::some);
  writer.end();
  while (writer.flush() == Flush::some) way.room = 3;
  EXPECT_EQ(way.bytes, some_stream());
}

TEST(EventBytes, PassOnWhyTheirWayBroke) {
  Way way;
  auto writer = event_writer<Time, Batch>(End(way));
  auto reader = event_reader<Time, Batch>(End(way));
  Happened event;
  EXPECT_EQ(reader.next(event), Next::none);
  way.is_broken = true;
  EXPECT_EQ(writer.flush(), Flush::broken);
  EXPECT_EQ(writer.error().message, "the way is broken");
  EXPECT_EQ(reader.next(event), Next::broken);
  EXPECT_EQ(reader.error().message, "the way is broken");
}

}  // namespace
}  // namespace leat::dataflow
