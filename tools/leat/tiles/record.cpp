// `leat record` and `leat replay`.
#include <leat/base/identity.hpp>
#include <leat/base/time/text.hpp>
#include <leat/queue/ring/in_segment.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/record/log_writer.hpp>
#include <leat/tile/record/raw_ring.hpp>
#include <leat/tile/record/recorder.hpp>
#include <leat/tile/record/replay.hpp>
#include <leat/tile/spine/envelope.hpp>
#include "report.hpp"
#include "tiles/run.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

namespace leat::tool {
namespace {

using namespace leat::tile;

ExitCode failed(TilesWorld& world, const Error& error) {
  world.err("leat: " + error.message + "\n");
  return ExitCode::runtime;
}

/// A ring by its own name, or as the channel of that name.
struct Found {
  std::shared_ptr<queue::RingCore> ring;
  core::SegmentSpec spec;
};

Result<Found> find_ring(core::SegmentName name, bool writes) {
  Result<core::Segment> segment = Error{};
  for (const char* prefix : {"channel.", ""}) {
    core::SegmentName tried = name;
    tried.name = prefix + name.name;
    segment = core::Segment::observe(tried);
    if (segment && writes) {
      core::SegmentSpec asked;
      asked.kind = segment->spec().kind;
      asked.kind_version = segment->spec().kind_version;
      segment = core::Segment::join(tried, asked);
    }
    if (segment) break;
  }
  if (!segment) return segment.error();
  const core::SegmentSpec spec = segment->spec();
  auto ring = queue::inspect_ring(*std::move(segment));
  if (!ring) return ring.error();
  return Found{*std::move(ring), spec};
}

bool is_envelope(const std::string& type) {
  return type.find("leat::tile::Envelope<") != std::string::npos;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
    text += digits.data();
  }
  return text;
}

std::string record_line(const LogRecord& record, bool json) {
  const std::string at = to_text(WallTime{record.stamp_ns});
  const std::string number = std::to_string(record.sequence);
  if (record.is_gap()) {
    const std::string missing = std::to_string(record.missing);
    const char* const why = record.reason == GapReason::lapped ? "lapped" : "damaged";
    if (json) {
      return "{\"sequence\": " + number + ", \"at\": " + json_string(at) +
             ", \"missing\": " + missing + ", \"reason\": \"" + why + "\"}\n";
    }
    return number + "  " + at + "  " + missing + " messages are missing: " + why + "\n";
  }
  if (json) {
    return "{\"sequence\": " + number + ", \"at\": " + json_string(at) + ", \"bytes\": \"" +
           hex(record.payload) + "\"}\n";
  }
  return number + "  " + at + "  " + hex(record.payload) + "\n";
}

ExitCode info(const RunReplay& options, LogReader& reader, TilesWorld& world) {
  const LogHeader header = reader.header();
  const std::uint64_t first = reader.position();
  std::uint64_t messages = 0;
  std::uint64_t missing = 0;
  std::optional<std::int64_t> from;
  std::int64_t to = 0;
  for (;;) {
    const auto record = reader.next();
    if (!record) return failed(world, record.error());
    if (!*record) break;
    if ((*record)->is_gap()) {
      missing += (*record)->missing;
    } else {
      ++messages;
    }
    if (!from) from = (*record)->stamp_ns;
    to = (*record)->stamp_ns;
  }
  const auto segments = log_segments(options.folder);
  if (!segments) return failed(world, segments.error());
  std::uint64_t bytes = 0;
  for (const LogSegment& segment : *segments) bytes += segment.bytes;
  const std::string began = from ? to_text(WallTime{*from}) : "";
  const std::string ended = from ? to_text(WallTime{to}) : "";
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  if (options.json) {
    world.out("{\"stream\": " + json_string(header.stream) +
              ", \"type\": " + json_string(header.type_name) + ", \"first\": " + text(first) +
              ", \"next\": " + text(reader.position()) + ", \"messages\": " + text(messages) +
              ", \"missing\": " + text(missing) + ", \"segments\": " + text(segments->size()) +
              ", \"bytes\": " + text(bytes) + ", \"torn_bytes\": " + text(reader.torn_bytes()) +
              ", \"from\": " + json_string(began) + ", \"to\": " + json_string(ended) + "}\n");
  } else {
    world.out(std::string(header.stream) + ": " + text(messages) + " messages, " + text(missing) +
              " missing, sequences " + text(first) + " to " + text(reader.position()) + "\n" +
              "  type      " + header.type_name + "\n" + "  from      " + began + "\n" +
              "  to        " + ended + "\n" + "  files     " + text(segments->size()) + " with " +
              text(bytes) + " bytes, " + text(reader.torn_bytes()) + " of them torn\n");
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode run_record(const RunRecord& options, TilesWorld& world) {
  auto found = find_ring(options.ring, options.reliable);
  if (!found) return failed(world, found.error());
  LogOptions log;
  log.folder = options.folder;
  log.stream = options.ring.name;
  log.type = found->spec.type.hash;
  log.type_name = found->spec.type.name;
  log.payload_bytes = found->ring->shape().payload_bytes;
  log.segment_bytes = options.segment_bytes;
  log.keep_bytes = options.keep_bytes;
  RecorderConfig config;
  config.sync = options.sync;
  auto configured_log = configured(log, config);
  if (!configured_log) return failed(world, configured_log.error());
  const auto start = options.from_oldest ? queue::StartAt::oldest() : queue::StartAt::latest();
  std::optional<RawConsumer> consumer;
  if (options.reliable) {
    auto seated = RawConsumer::seated(found->ring, "leat record", start, true);
    if (!seated) return failed(world, seated.error());
    consumer.emplace(*std::move(seated));
  } else {
    consumer.emplace(found->ring, start);
  }
  auto writer = LogWriter::open(*configured_log);
  if (!writer) return failed(world, writer.error());

  const bool stamped = is_envelope(found->spec.type.name) && log.payload_bytes >= sizeof(Stamp);
  const std::int64_t wall = wall_now().ns - world.clock.now().count();
  std::uint64_t messages = 0;
  std::uint64_t lost = 0;
  Nanos last = world.clock.now();
  while (!world.is_stopped() && (!options.count || messages < *options.count)) {
    const queue::Pull pulled = consumer->try_pop();
    const Nanos now = world.clock.now();
    Result<std::uint64_t> written = std::uint64_t{0};
    if (pulled == queue::Pull::ok) {
      std::int64_t stamp_ns = wall + now.count();
      if (stamped) {
        Stamp stamp;
        std::memcpy(&stamp, consumer->payload().data(), sizeof stamp);
        stamp_ns = wall + stamp.published(now).count();
      }
      written = writer->append(stamp_ns, log.type, consumer->payload());
      ++messages;
      last = now;
    } else if (pulled == queue::Pull::lost) {
      lost += consumer->lost();
      written = writer->gap(wall + now.count(), consumer->lost());
      last = now;
    } else {
      if (options.idle && now - last >= *options.idle) break;
      if (const auto flushed = writer->flush(); !flushed) return failed(world, flushed.error());
      world.wait(std::chrono::microseconds(200));
    }
    if (!written) return failed(world, written.error());
    if (const auto ticked = writer->tick(now); !ticked) return failed(world, ticked.error());
  }
  if (const auto synced = writer->sync(); !synced) return failed(world, synced.error());
  const std::string count = std::to_string(messages);
  world.out(options.json ? "{\"messages\": " + count + ", \"lost\": " + std::to_string(lost) +
                               ", \"next\": " + std::to_string(writer->next()) +
                               ", \"bytes\": " + std::to_string(writer->bytes_written()) + "}\n"
                         : "recorded " + count + " messages, lost " + std::to_string(lost) + "\n");
  return ExitCode::ok;
}

ExitCode run_replay(const RunReplay& options, TilesWorld& world) {
  auto reader = LogReader::open(options.folder);
  if (!reader) return failed(world, reader.error());
  if (options.from > 0) {
    if (const auto sought = reader->seek(options.from); !sought) {
      return failed(world, sought.error());
    }
  }
  if (options.info) return info(options, *reader, world);
  std::optional<RawProducer> producer;
  std::shared_ptr<TileBoard> board;  // where tiles sleep that wait for the channel
  std::uint32_t entry = 0;
  if (options.into) {
    auto found = find_ring(*options.into, true);
    if (!found) return failed(world, found.error());
    if (found->spec.type.hash != reader->header().type) {
      return failed(world,
                    {"asked to play " + options.folder.string() + " into " + options.into->space +
                     "/" + options.into->name + " of " + found->spec.type.name +
                     "; found records of " + reader->header().type_name + "; take another ring"});
    }
    auto seated = RawProducer::sit(found->ring, "leat replay");
    if (!seated) return failed(world, seated.error());
    producer.emplace(*std::move(seated));
    if (found->ring->shape().wakeable) {
      core::SegmentName name = *options.into;
      name.name = TileBoard::kSegmentName;
      auto opened = TileBoard::open(name);
      if (!opened) return failed(world, opened.error());
      board = *std::move(opened);
      const auto channel = board->channel(options.into->name);
      if (!channel) return failed(world, channel.error());
      entry = *channel;
    }
  }
  ReplayPace pace = options.pace == RunReplay::Pace::original ? ReplayPace::original(options.speed)
                                                              : ReplayPace::full();
  std::uint64_t messages = 0;
  while (!world.is_stopped() && (!options.count || messages < *options.count)) {
    const auto record = reader->next();
    if (!record) return failed(world, record.error());
    if (!*record) break;
    if (options.pace == RunReplay::Pace::steps && !world.read_line()) break;
    while (!pace.is_due((*record)->stamp_ns, world.clock.now())) {
      if (world.is_stopped()) return ExitCode::ok;
      world.wait(std::chrono::microseconds(100));
    }
    pace.took();
    ++messages;
    if (!producer) {
      world.out(record_line(**record, options.json));
    } else if (!(*record)->is_gap()) {
      while (producer->try_push((*record)->payload) == queue::Push::full) {
        if (world.is_stopped()) return ExitCode::ok;
        world.wait(std::chrono::microseconds(100));
      }
      if (board) board->wake_sleepers(entry);
    }
  }
  if (producer) {
    const std::string count = std::to_string(messages);
    world.out(options.json ? "{\"messages\": " + count + "}\n" : "played " + count + " messages\n");
  }
  return ExitCode::ok;
}

}  // namespace leat::tool
