// What is recorded is read again: by LogWriter and LogReader, a recorder and a replay, and as values.
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/record/log_writer.hpp>
#include <leat/tile/record/recorder.hpp>
#include <leat/tile/record/replay.hpp>
#include <leat/tile/record/value_store.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace leat::tile {
namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() {
    std::string pattern = testing::TempDir() + "leat-log-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LogTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] LogOptions options() const {
    LogOptions options;
    options.folder = folder_;
    options.stream = "test";
    options.sync = SyncPolicy::none;
    options.buffer_bytes = 4096;
    return options;
  }
  std::filesystem::path folder_;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::string text_at(std::uint64_t i) { return std::string(i % 40, 'x') + std::to_string(i); }

void append_some(LogWriter& writer, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) {
    const auto sequence = writer.append(static_cast<std::int64_t>(i * 10), 7, bytes_of(text_at(i)));
    ASSERT_TRUE(sequence.has_value()) << sequence.error().message;
    ASSERT_EQ(*sequence, i);
  }
}

/// Reads all that is there, and checks that it is what `append_some` wrote.
std::uint64_t read_all(LogReader& reader, std::uint64_t from) {
  std::uint64_t expected = from;
  for (;;) {
    const auto record = reader.next();
    EXPECT_TRUE(record.has_value());
    if (!*record) return expected;
    EXPECT_FALSE((*record)->is_gap());
    EXPECT_EQ((*record)->sequence, expected);
    EXPECT_EQ((*record)->stamp_ns, static_cast<std::int64_t>(expected * 10));
    EXPECT_EQ((*record)->type, 7U);
    EXPECT_EQ(text_of((*record)->payload), text_at(expected));
    if (testing::Test::HasFailure()) return expected;
    ++expected;
  }
}

TEST_F(LogTest, WhatIsAppendedIsReadInOrderAcrossSegmentsAndWhileItIsWritten) {
  LogOptions small = options();
  small.segment_bytes = 8192;
  auto writer = LogWriter::open(small).value();
  append_some(writer, 0, 500);
  ASSERT_TRUE(writer.flush().has_value());
  auto reader = LogReader::open(folder_).value();
  EXPECT_EQ(read_all(reader, 0), 500U);
  EXPECT_GT(log_segments(folder_)->size(), 3U);
  append_some(writer, 500, 700);
  ASSERT_TRUE(writer.flush().has_value());
  EXPECT_EQ(read_all(reader, 500), 1200U);
  EXPECT_EQ(reader.torn_bytes(), 0U);
}

TEST_F(LogTest, AWriterThatComesAgainGoesOnBehindWhatIsThereInASegmentOfItsOwn) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto writer = LogWriter::open(options()).value();
    EXPECT_EQ(writer.next(), i * 10);
    append_some(writer, i * 10, 10);
  }
  EXPECT_EQ(log_segments(folder_)->size(), 3U);
  auto reader = LogReader::open(folder_).value();
  EXPECT_EQ(read_all(reader, 0), 30U);
}

TEST_F(LogTest, TwoWritersOfOneFolderAreOneTooMany) {
  auto writer = LogWriter::open(options()).value();
  const auto second = LogWriter::open(options());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("a writer that is at it"), std::string::npos);
}

TEST_F(LogTest, ATailThatWasTornAnywhereLeavesTheRecordsBeforeIt) {
  {
    auto writer = LogWriter::open(options()).value();
    append_some(writer, 0, 20);
  }
  const auto path = log_segments(folder_)->front().path;
  const auto whole = std::filesystem::file_size(path);
  // Cut at each byte of the last records, and once more with wrong bytes in place of what is gone.
  std::uint64_t last = 20;
  for (auto size = whole - 1; size > whole - 150; --size) {
    std::filesystem::resize_file(path, size);
    auto reader = LogReader::open(folder_).value();
    const std::uint64_t readable = read_all(reader, 0);
    EXPECT_LE(readable, last);
    EXPECT_GE(readable + 4, 20U);
    last = readable;
    std::ofstream(path, std::ios::app | std::ios::binary) << std::string(60, '\xee');
    auto again = LogReader::open(folder_).value();
    // Whole again, if only the zeros behind its payload were cut off.
    const std::uint64_t with_more = read_all(again, 0);
    EXPECT_GE(with_more, readable);
    EXPECT_LE(with_more, 20U);
  }
  // A new writer goes on behind them; the torn bytes are passed over.
  auto writer = LogWriter::open(options()).value();
  ASSERT_EQ(writer.next(), last);
  append_some(writer, last, 5);
  ASSERT_TRUE(writer.flush().has_value());
  auto reader = LogReader::open(folder_).value();
  EXPECT_EQ(read_all(reader, 0), last + 5);
  EXPECT_GT(reader.torn_bytes(), 0U);
}

TEST_F(LogTest, WhatIsDamagedInTheMiddleShowsAsAGap) {
  LogOptions small = options();
  small.segment_bytes = 4096;
  {
    auto writer = LogWriter::open(small).value();
    append_some(writer, 0, 300);
  }
  const auto segments = log_segments(folder_).value();
  ASSERT_GT(segments.size(), 2U);
  {
    std::fstream file(segments[1].path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(sizeof(LogHeader)) + 40);
    file.put('\x55');
  }
  auto reader = LogReader::open(folder_).value();
  std::uint64_t messages = 0;
  std::uint64_t missing = 0;
  while (const auto record = reader.next().value()) {
    if (record->is_gap()) {
      EXPECT_EQ(record->reason, GapReason::damaged);
      EXPECT_EQ(record->sequence, segments[1].header.first_sequence);
      missing += record->missing;
    } else {
      ++messages;
    }
  }
  EXPECT_GT(missing, 0U);
  EXPECT_EQ(messages + missing, 300U);
}

TEST_F(LogTest, ASeekFindsSequencesAndMomentsWithAnIndexAndWithout) {
  LogOptions small = options();
  small.segment_bytes = 300'000;
  {
    auto writer = LogWriter::open(small).value();
    append_some(writer, 0, 12'000);
  }
  for (const char* state : {"whole", "damaged", "missing"}) {
    const auto segments = log_segments(folder_).value();
    for (const auto& segment : segments) {
      std::filesystem::path index = segment.path;
      index.replace_extension(".index");
      if (std::string(state) == "missing") std::filesystem::remove(index);
      if (std::string(state) == "damaged") {
        std::fstream file(index, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(16);  // an offset
        file.put('\x01');
      }
    }
    auto reader = LogReader::open(folder_).value();
    for (const std::uint64_t wanted : {0U, 1U, 5000U, 11'999U, 7777U}) {
      ASSERT_TRUE(reader.seek(wanted).has_value());
      const auto record = reader.next().value();
      ASSERT_TRUE(record.has_value()) << state << " " << wanted;
      EXPECT_EQ(record->sequence, wanted) << state;
      ASSERT_TRUE(reader.seek_time(static_cast<std::int64_t>(wanted) * 10 - 5).has_value());
      EXPECT_EQ(reader.next().value()->sequence, wanted) << state;
    }
    ASSERT_TRUE(reader.seek(20'000).has_value());
    EXPECT_FALSE(reader.next().value().has_value());
  }
}

TEST_F(LogTest, RetentionTakesTheOldestSegmentsAndNoneThatACursorStillNeeds) {
  LogOptions small = options();
  small.segment_bytes = 4096;
  small.keep_bytes = 12'000;
  auto cursor = LogCursor::open(folder_, "slow").value();
  ASSERT_TRUE(cursor.commit(50).has_value());
  auto writer = LogWriter::open(small).value();
  append_some(writer, 0, 1000);
  EXPECT_LE(log_segments(folder_)->front().header.first_sequence, 50U);
  ASSERT_TRUE(cursor.commit(1000).has_value());
  append_some(writer, 1000, 100);
  ASSERT_TRUE(writer.flush().has_value());
  std::uint64_t bytes = 0;
  const auto segments = log_segments(folder_).value();
  for (const auto& segment : segments) bytes += segment.bytes;
  EXPECT_LE(bytes, 12'000U + 2 * 4096U);
  EXPECT_GT(writer.segments_removed(), 0U);
  auto reader = LogReader::open(folder_).value();
  const std::uint64_t first = reader.position();
  EXPECT_GT(first, 50U);
  EXPECT_EQ(read_all(reader, first), 1100U);
}

TEST_F(LogTest, RetentionByAgeTakesWhatIsOlder) {
  LogOptions small = options();
  small.segment_bytes = 4096;
  small.keep_for = Nanos{1};
  auto writer = LogWriter::open(small).value();
  append_some(writer, 0, 1000);
  EXPECT_LE(log_segments(folder_)->size(), 2U);
}

TEST_F(LogTest, ACursorIsWhereItWasCommittedAlsoInAnotherProcessLater) {
  {
    auto cursor = LogCursor::open(folder_, "book").value();
    EXPECT_EQ(cursor.next(), 0U);
    ASSERT_TRUE(cursor.commit(17).has_value());
  }
  EXPECT_EQ(LogCursor::open(folder_, "book")->next(), 17U);
  EXPECT_FALSE(LogCursor::open(folder_, "../up"));
  std::ofstream(folder_ / "book.cursor") << "nonsense";
  EXPECT_FALSE(LogCursor::open(folder_, "book"));
}

TEST_F(LogTest, ARecordThatIsTooLargeAndAFolderThatCannotBeAreRefused) {
  auto writer = LogWriter::open(options()).value();
  const std::vector<std::byte> large((1U << 24) + 1);
  EXPECT_FALSE(writer.append(0, 0, large));
  LogOptions nowhere = options();
  nowhere.folder = "/proc/leat";
  EXPECT_FALSE(LogWriter::open(nowhere));
  LogOptions tiny = options();
  tiny.segment_bytes = 100;
  EXPECT_FALSE(LogWriter::open(tiny));
  EXPECT_FALSE(LogReader::open(folder_ / "none"));
}

TEST_F(LogTest, AnIntervalSyncsWhenItIsDueAndEachAtOnce) {
  LogOptions every = options();
  every.sync = SyncPolicy::interval;
  every.sync_every = std::chrono::seconds(1);
  {
    auto writer = LogWriter::open(every).value();
    ASSERT_TRUE(writer.tick(Nanos{0}).has_value());
    append_some(writer, 0, 3);
    ASSERT_TRUE(writer.tick(std::chrono::milliseconds(999)).has_value());
    EXPECT_EQ(writer.synced(), 0U);
    ASSERT_TRUE(writer.tick(std::chrono::seconds(1)).has_value());
    EXPECT_EQ(writer.synced(), 3U);
  }
  every.sync = SyncPolicy::each;
  auto writer = LogWriter::open(every).value();
  append_some(writer, 3, 1);
  EXPECT_EQ(writer.synced(), 4U);
}

// -- Recorder and replay --------------------------------------------------------------------------

struct Quote {
  std::uint64_t number = 0;
  std::int64_t price = 0;
  friend bool operator==(const Quote&, const Quote&) = default;
};
LEAT_FIELDS(Quote, number, price);
struct Other {
  std::uint64_t number = 0;
};
LEAT_FIELDS(Other, number);

struct Market {
  Channel<"quotes", Quote, {.size = 128, .persist = true, .reliable = true}> quotes;
  Channel<"lossy", Quote, {.size = 16, .persist = true}> lossy;
  Channel<"again", Quote, {.size = 128, .reliable = true}> again;
  Channel<"others", Other> others;
};

struct Made {
  std::function<void(Adapter<Market>&)> init = [](Adapter<Market>&) {};
  std::function<void(Adapter<Market>&)> pass = [](Adapter<Market>&) {};

  bool try_init(Adapter<Market>& tile) {
    init(tile);
    return true;
  }
  void loop(Adapter<Market>& tile) { pass(tile); }
};

ScopeOptions quiet() {
  ScopeOptions options;
  options.on_failure = [](const TileFailure&) {};
  options.on_stuck = [](const StuckTile&) {};
  options.drain_at_most = std::chrono::seconds(60);
  return options;
}

const TileOptions kPolite{.idle = {.yields = true}};

TileOptions polite(const std::string& name) {
  TileOptions options = kPolite;
  options.name = name;
  return options;
}

/// Produces `count` quotes and records them; returns the envelopes as a reader saw them.
std::vector<Envelope<Quote>> record_some(const std::filesystem::path& folder, std::uint64_t count) {
  std::vector<Envelope<Quote>> seen;
  SpineScope<Market> scope(Spine<Market>::open({.shared = false}).value(), quiet());
  RecorderOptions options;
  options.log.folder = folder;
  options.log.sync = SyncPolicy::none;
  options.reliable_reader = true;
  scope.add(Recorder<Market, "quotes">(options), polite("recorder"), false);
  std::uint64_t sent = 0;
  scope.add(
      Made{.init = [](Adapter<Market>& tile) { tile.subscribe<"quotes">({.reliable = true}); },
           .pass =
               [&](Adapter<Market>& tile) {
                 tile.consume<"quotes">(
                     [&](const Envelope<Quote>& quote) { seen.push_back(quote); });
               }},
      polite("reader"));
  scope.add(Made{.pass =
                     [&](Adapter<Market>& tile) {
                       if (sent == count) return tile.request_stop("all sent");
                       const Quote quote{sent, static_cast<std::int64_t>(sent * 3)};
                       if (tile.produce<"quotes">(quote) == Sent::yes) ++sent;
                     }},
            polite("feed"));
  const ScopeOutcome outcome = scope.run();
  EXPECT_TRUE(outcome.failures.empty()) << outcome.failures.at(0).what;
  return seen;
}

/// Replays into "again"; returns what came there.
std::vector<Envelope<Quote>> replay_all(
    ReplayOptions options, const Clock* clock = nullptr, std::function<void()> each = [] {}) {
  std::vector<Envelope<Quote>> seen;
  SpineScope<Market> scope(Spine<Market>::open({.shared = false, .clock = clock}).value(), quiet());
  scope.add(Made{.init = [](Adapter<Market>& tile) { tile.subscribe<"again">({.reliable = true}); },
                 .pass =
                     [&](Adapter<Market>& tile) {
                       tile.consume<"again">([&](const Envelope<Quote>& quote) {
                         seen.push_back(quote);
                         each();
                       });
                     }},
            polite("reader"));
  TileOptions tile = polite("replay");
  tile.stuck_after = Nanos{0};
  scope.add(Replay<Market, "again">(std::move(options)), tile);
  const ScopeOutcome outcome = scope.run();
  EXPECT_TRUE(outcome.failures.empty()) << outcome.failures.at(0).what;
  return seen;
}

TEST_F(LogTest, AReplayEqualsTheOriginalInOrderContentAndStamps) {
  const auto original = record_some(folder_, 1000);
  ASSERT_EQ(original.size(), 1000U);
  ReplayOptions options;
  options.folder = folder_;
  EXPECT_EQ(replay_all(options), original);
}

TEST_F(LogTest, TwoRecordingsInOneMinuteAreBothThere) {
  auto all = record_some(folder_, 100);
  const auto second = record_some(folder_, 50);
  all.insert(all.end(), second.begin(), second.end());
  ReplayOptions options;
  options.folder = folder_;
  EXPECT_EQ(replay_all(options), all);
}

TEST_F(LogTest, AReplayGoesOnWhereItsCursorStood) {
  const auto original = record_some(folder_, 300);
  ReplayOptions options;
  options.folder = folder_;
  options.cursor = "book";
  EXPECT_EQ(replay_all(options).size(), 300U);
  EXPECT_TRUE(replay_all(options).empty());
  const auto more = record_some(folder_, 20);
  EXPECT_EQ(replay_all(options), more);
}

TEST_F(LogTest, StepsAreTakenOneByOne) {
  static_cast<void>(record_some(folder_, 10));
  ReplayOptions options;
  options.folder = folder_;
  options.pace = ReplayPace::steps();
  ReplayPace steps = options.pace;
  steps.allow(1);
  std::size_t seen = 0;
  // Each message that arrives allows the next.
  EXPECT_EQ(replay_all(options, nullptr,
                       [&] {
                         ++seen;
                         steps.allow(1);
                       })
                .size(),
            10U);
  EXPECT_EQ(seen, 10U);
}

TEST(ReplayPace, KeepsThePausesOfTheOriginalAtAnySpeed) {
  ReplayPace pace = ReplayPace::original(2);
  EXPECT_TRUE(pace.is_due(1'000'000, Nanos{500}));
  pace.took();
  EXPECT_FALSE(pace.is_due(1'001'000, Nanos{999}));
  EXPECT_TRUE(pace.is_due(1'001'000, Nanos{1000}));
  EXPECT_FALSE(pace.is_due(1'003'000, Nanos{1999}));
  EXPECT_TRUE(pace.is_due(1'003'000, Nanos{2000}));
}

TEST_F(LogTest, ALogOfOtherRecordsIsNotReplayed) {
  static_cast<void>(record_some(folder_, 10));
  SpineScope<Market> scope(Spine<Market>::open({.shared = false}).value(), quiet());
  scope.add(Replay<Market, "others">({.folder = folder_}), polite("replay"));
  const ScopeOutcome outcome = scope.run();
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_NE(outcome.failures[0].what.find("found records of leat::tile::Envelope<"),
            std::string::npos)
      << outcome.failures[0].what;
}

TEST_F(LogTest, WhatARecorderCameTooLateForIsMarkedInItsPlace) {
  SpineScope<Market> scope(Spine<Market>::open({.shared = false}).value(), quiet());
  RecorderOptions options;
  options.log.folder = folder_;
  options.log.sync = SyncPolicy::none;
  scope.add(Recorder<Market, "lossy">(options), polite("recorder"), false);
  std::uint64_t sent = 0;
  scope.add(Made{.pass =
                     [&](Adapter<Market>& tile) {
                       if (sent == 2000) return;
                       // More than fit, at once.
                       for (int i = 0; i < 200; ++i) tile.produce<"lossy">({sent++, 0});
                       if (sent == 2000) tile.request_stop("all sent");
                     }},
            polite("feed"));
  EXPECT_TRUE(scope.run().failures.empty());
  auto reader = LogReader::open(folder_).value();
  std::uint64_t next = 0;
  std::uint64_t gaps = 0;
  while (const auto record = reader.next().value()) {
    if (record->is_gap()) {
      EXPECT_EQ(record->reason, GapReason::lapped);
      next += record->missing;
      ++gaps;
      continue;
    }
    Envelope<Quote> quote{};
    ASSERT_EQ(record->payload.size(), sizeof quote);
    std::memcpy(static_cast<void*>(&quote), record->payload.data(), sizeof quote);
    ASSERT_EQ(quote.message.number, next) << "a gap says how many are missing, in their place";
    ++next;
  }
  EXPECT_EQ(next, 2000U);
  EXPECT_GT(gaps, 0U);
}

TEST_F(LogTest, EachChannelThatIsToBePersistedGetsARecorderAndTheConfigurationIsHeard) {
  SpineConfig config;
  config.recorder.folder = folder_ / "configured";
  config.recorder.sync = "none";
  SpineScope<Market> scope(Spine<Market>::open({.shared = false, .config = config}).value(),
                           quiet());
  EXPECT_EQ(add_recorders(scope, {}, kPolite), 2U);
  int passes = 0;
  scope.add(Made{.pass =
                     [&](Adapter<Market>& tile) {
                       if (++passes > 1) return;
                       static_cast<void>(tile.produce<"quotes">({1, 2}));
                       tile.request_stop("done");
                     }},
            polite("feed"));
  const ScopeOutcome outcome = scope.run();
  ASSERT_TRUE(outcome.failures.empty()) << outcome.failures[0].what;
  auto reader = LogReader::open(folder_ / "configured" / "quotes").value();
  EXPECT_TRUE(reader.next().value().has_value());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "configured" / "lossy"));
  config.recorder.sync = "1 parsec";
  EXPECT_FALSE(configured({}, config.recorder));
}

// -- Values ---------------------------------------------------------------------------------------

TEST_F(LogTest, AValueIsTheOneThatWasSavedLast) {
  const ValueStore<std::map<std::string, int>> store(folder_ / "values");
  EXPECT_FALSE(store.load("positions").value().has_value());
  ASSERT_TRUE(store.save("positions", {{"a", 1}}, WallTime{100}).has_value());
  ASSERT_TRUE(store.save("positions", {{"a", 1}, {"b", 2}}, WallTime{200}).has_value());
  ASSERT_TRUE(store.save("limits", {{"c", 3}}, WallTime{300}).has_value());
  EXPECT_EQ(store.load("positions").value()->size(), 2U);
  EXPECT_TRUE(store.load_since("positions", WallTime{200}).value().has_value());
  EXPECT_FALSE(store.load_since("positions", WallTime{201}).value().has_value());
  EXPECT_EQ(store.load_all().value().size(), 2U);
  const auto late = store.load_all(WallTime{250}).value();
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].name, "limits");
}

TEST_F(LogTest, AValueOfAnotherTypeOrDamagedIsAnErrorThatSaysSo) {
  const ValueStore<Quote> store(folder_);
  ASSERT_TRUE(store.save("q", {1, 2}).has_value());
  EXPECT_EQ(store.load("q").value(), (Quote{1, 2}));
  const auto other = ValueStore<Other>(folder_).load("q");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another schema"), std::string::npos);
  // What a crash left of a later save is no value.
  std::ofstream(folder_ / "q.value.new") << "half";
  EXPECT_EQ(store.load("q").value(), (Quote{1, 2}));
  std::filesystem::resize_file(folder_ / "q.value", 40);
  EXPECT_FALSE(store.load("q"));
  EXPECT_FALSE(store.save("../q", {1, 2}));
}

}  // namespace
}  // namespace leat::tile
