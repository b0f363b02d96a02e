#include <leat/tile/record/log_writer.hpp>

#include <leat/base/time/repeater.hpp>
#include <leat/base/time/text.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/record/step.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace leat::tile {
namespace {

std::string segment_name(std::uint64_t first, const char* ending) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "%020llu%s", static_cast<unsigned long long>(first),
                ending);
  return name.data();
}

template <std::size_t kBytes>
void write_text(char (&to)[kBytes], const std::string& text) noexcept {
  std::memcpy(to, text.data(), std::min(text.size(), kBytes - 1));
}

}  // namespace

struct LogWriter::Body {
  Body(LogOptions asked, os::File held) : options(std::move(asked)), lock(std::move(held)) {}

  LogOptions options;
  os::File lock;
  std::optional<os::File> log;
  std::optional<os::File> index;
  std::vector<std::byte> buffer;
  std::vector<IndexEntry> index_buffer;
  std::uint64_t next = 0;
  std::uint64_t flushed = 0;
  std::uint64_t synced = 0;
  std::uint64_t segment_first = 0;
  std::uint64_t segment_size = 0;  // with what is in the buffer
  std::uint64_t indexed_at = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t removed = 0;
  std::optional<Nanos> synced_at;
  std::optional<Nanos> swept_at;
  std::optional<Error> broken;  // what the disk said

  // Whatever the disk refuses is the end of this writer: a part of a record may be there.
  Result<void> keep(Result<void> done) {
    if (!done && !broken) broken = done.error();
    return done;
  }

  Result<void> find_the_end() {
    auto segments = log_segments(options.folder);
    if (!segments) return segments.error();
    if (segments->empty()) return {};
    auto reader = LogReader::open(options.folder);
    if (!reader) return reader.error();
    if (auto sought = reader->seek(segments->back().header.first_sequence); !sought) return sought;
    for (;;) {
      const auto record = reader->next();
      if (!record) return record.error();
      if (!*record) break;
    }
    next = reader->position();
    return {};
  }

  Result<void> begin_segment() {
    const auto path = options.folder / segment_name(next, ".log");
    // A segment without a record: its writer died before the first. It is ours to begin again.
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    auto made = os::File::create(path);
    if (!made) return made.error();
    LogHeader header;
    header.first_sequence = next;
    header.type = options.type;
    header.payload_bytes = options.payload_bytes;
    header.made_at_ns = wall_now().ns;
    header.steady_to_wall_ns = header.made_at_ns - RealClock().now().count();
    write_text(header.stream, options.stream);
    write_text(header.type_name, options.type_name);
    header.crc = crc_of(header);
    LEAT_LOG_STEP("log.made");
    if (auto written = made->append(std::as_bytes(std::span(&header, 1))); !written) {
      return written;
    }
    LEAT_LOG_STEP("log.headed");
    if (options.sync != SyncPolicy::none) {
      if (auto kept = made->sync(); !kept) return kept;
      if (auto kept = os::sync_folder(options.folder); !kept) return kept;
    }
    LEAT_LOG_STEP("log.begun");
    const auto index_path = options.folder / segment_name(next, ".index");
    std::filesystem::remove(index_path, ignored);
    auto made_index = os::File::create(index_path);
    if (!made_index) return made_index.error();
    log = *std::move(made);
    index = *std::move(made_index);
    segment_first = next;
    segment_size = sizeof(LogHeader);
    indexed_at = 0;
    bytes_written += sizeof(LogHeader);
    return {};
  }

  Result<std::uint64_t> append(std::int64_t stamp_ns, std::uint64_t type,
                               std::span<const std::byte> payload) {
    if (payload.size() > kLogPayloadMax) {
      return Error{"log: asked to record " + std::to_string(payload.size()) +
                   " bytes; found room for 16 MiB a record"};
    }
    RecordHead head;
    head.bytes = static_cast<std::uint32_t>(payload.size());
    const std::uint64_t size = record_size(head.bytes);
    if (segment_size + size > options.segment_bytes && next > segment_first) {
      if (auto done = keep(end_segment()); !done) return done.error();
    }
    if (buffer.size() + size > options.buffer_bytes && !buffer.empty()) {
      if (auto done = keep(flush()); !done) return done.error();
    }
    head.sequence = next;
    head.stamp_ns = stamp_ns;
    head.type = type;
    head.crc = crc_of(head, payload);
    if (segment_size - indexed_at >= kIndexEvery) {
      index_buffer.push_back({next, stamp_ns, segment_size});
      indexed_at = segment_size;
    }
    const std::size_t at = buffer.size();
    buffer.resize(at + static_cast<std::size_t>(size));
    std::memcpy(buffer.data() + at, &head, sizeof head);
    if (!payload.empty()) {
      std::memcpy(buffer.data() + at + sizeof head, payload.data(), payload.size());
    }
    segment_size += size;
    LEAT_LOG_STEP("log.buffered");
    const std::uint64_t sequence = next++;
    if (options.sync == SyncPolicy::each) {
      if (auto done = keep(sync_all()); !done) return done.error();
    }
    return sequence;
  }

  Result<void> flush() {
    if (!buffer.empty()) {
#if defined(LEAT_LOG_STEPS)
      // In two halves, so that a death in between tears a record.
      const auto half = std::span<const std::byte>(buffer).first(buffer.size() / 2 + 13);
      if (auto done = log->append(half); !done) return done;
      LEAT_LOG_STEP("log.torn");
      if (auto done = log->append(std::span<const std::byte>(buffer).subspan(half.size())); !done) {
        return done;
      }
#else
      if (auto done = log->append(buffer); !done) return done;
#endif
      bytes_written += buffer.size();
      buffer.clear();
      flushed = next;
      LEAT_LOG_STEP("log.written");
    }
    if (!index_buffer.empty()) {
      if (auto done = index->append(std::as_bytes(std::span<const IndexEntry>(index_buffer)));
          !done) {
        return done;
      }
      index_buffer.clear();
      LEAT_LOG_STEP("log.indexed");
    }
    return {};
  }

  Result<void> sync_all() {
    if (auto done = flush(); !done) return done;
    if (synced == next) return {};
    if (auto done = log->sync(); !done) return done;
    synced = next;
    LEAT_LOG_STEP("log.synced");
    return {};
  }

  Result<void> end_segment() {
    // A segment that is left is synced, whatever the policy: records behind it would outlive it.
    if (auto done = sync_all(); !done) return done;
    if (auto done = begin_segment(); !done) return done;
    sweep();
    return {};
  }

  // Retention. What cannot be removed is left to the next time.
  void sweep() {
    if (options.keep_bytes == 0 && options.keep_for <= Nanos{0}) return;
    const auto segments = log_segments(options.folder);
    if (!segments) return;
    std::uint64_t bytes = 0;
    for (const LogSegment& segment : *segments) bytes += segment.bytes;
    const auto cursor =
        options.keep_for_cursors ? lowest_cursor(options.folder) : std::optional<std::uint64_t>();
    const std::int64_t now = wall_now().ns;
    for (std::size_t i = 0; i + 1 < segments->size(); ++i) {
      const LogSegment& segment = (*segments)[i];
      // The next one was made when this one had its last record.
      const LogHeader& following = (*segments)[i + 1].header;
      const bool too_many = options.keep_bytes > 0 && bytes > options.keep_bytes;
      const bool too_old =
          options.keep_for > Nanos{0} && now - following.made_at_ns > options.keep_for.count();
      if (!too_many && !too_old) break;
      if (cursor && *cursor < following.first_sequence) break;
      std::filesystem::path index_path = segment.path;
      index_path.replace_extension(".index");
      std::error_code error;
      std::filesystem::remove(index_path, error);
      LEAT_LOG_STEP("log.removing");
      if (!std::filesystem::remove(segment.path, error)) break;
      bytes -= segment.bytes;
      ++removed;
      LEAT_LOG_STEP("log.removed");
    }
  }

  Result<void> tick(Nanos now) {
    constexpr Nanos kSweepEvery = std::chrono::seconds(10);
    if (!swept_at || now - *swept_at >= kSweepEvery) {
      swept_at = now;
      sweep();
    }
    if (options.sync != SyncPolicy::interval) return {};
    if (synced_at && now - *synced_at < options.sync_every) return {};
    synced_at = now;
    return sync_all();
  }
};

LogWriter::LogWriter(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
LogWriter::LogWriter(LogWriter&&) noexcept = default;
LogWriter& LogWriter::operator=(LogWriter&&) noexcept = default;

LogWriter::~LogWriter() {
  if (body_ != nullptr && !body_->broken) static_cast<void>(body_->sync_all());
}

Result<LogWriter> LogWriter::open(const LogOptions& options) {
  constexpr std::uint64_t kLeast = 4096;
  if (options.segment_bytes < kLeast || options.buffer_bytes < kLeast) {
    return Error{"log: asked for segments of " + std::to_string(options.segment_bytes) +
                 " bytes and a buffer of " + std::to_string(options.buffer_bytes) +
                 "; found that both have at least 4096"};
  }
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    return Error{"log: asked to write into " + options.folder.string() + "; found " +
                 error.message()};
  }
  auto lock = os::File::lock(options.folder / "writer.lock");
  if (!lock) return lock.error();
  if (!*lock) {
    return Error{"log: asked to write into " + options.folder.string() +
                 "; found a writer that is at it; end it, or take another folder"};
  }
  auto body = std::make_unique<Body>(options, std::move(**lock));
  if (auto found = body->find_the_end(); !found) return found.error();
  body->synced = body->next;
  body->flushed = body->next;
  if (auto begun = body->begin_segment(); !begun) return begun.error();
  body->buffer.reserve(options.buffer_bytes);
  body->sweep();
  return LogWriter(std::move(body));
}

Result<std::uint64_t> LogWriter::append(std::int64_t stamp_ns, std::uint64_t type,
                                        std::span<const std::byte> payload) {
  if (body_->broken) return *body_->broken;
  return body_->append(stamp_ns, type, payload);
}

Result<std::uint64_t> LogWriter::gap(std::int64_t stamp_ns, std::uint64_t count, GapReason reason) {
  const GapMark mark{count, static_cast<std::uint64_t>(reason)};
  if (body_->broken) return *body_->broken;
  return body_->append(stamp_ns, kGapType, std::as_bytes(std::span(&mark, 1)));
}

Result<void> LogWriter::flush() {
  if (body_->broken) return *body_->broken;
  return body_->keep(body_->flush());
}
Result<void> LogWriter::sync() {
  if (body_->broken) return *body_->broken;
  return body_->keep(body_->sync_all());
}
Result<void> LogWriter::tick(Nanos now) {
  if (body_->broken) return *body_->broken;
  return body_->keep(body_->tick(now));
}
std::uint64_t LogWriter::next() const noexcept { return body_->next; }
std::uint64_t LogWriter::synced() const noexcept { return body_->synced; }
std::uint64_t LogWriter::bytes_written() const noexcept { return body_->bytes_written; }
std::uint64_t LogWriter::segments_removed() const noexcept { return body_->removed; }

}  // namespace leat::tile
