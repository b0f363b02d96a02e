#include <leat/tile/record/log_reader.hpp>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace leat::tile {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

struct CursorBytes {
  std::uint64_t magic = 0x3152'5543'5441'454c;  // "LEATCUR1" in memory
  std::uint64_t next = 0;
  std::uint32_t crc = 0;
  std::uint32_t unused = 0;
};

std::uint32_t crc_of_cursor(CursorBytes bytes) noexcept {
  bytes.crc = 0;
  return crc32c(std::as_bytes(std::span(&bytes, 1)));
}

Result<std::optional<std::uint64_t>> read_cursor(const std::filesystem::path& path) {
  auto bytes = os::read_file(path);
  if (!bytes) return bytes.error();
  if (!*bytes) return std::optional<std::uint64_t>();
  CursorBytes cursor;
  const bool fits = (*bytes)->size() == sizeof cursor;
  if (fits) std::memcpy(&cursor, (*bytes)->data(), sizeof cursor);
  if (!fits || cursor.magic != CursorBytes{}.magic || cursor.crc != crc_of_cursor(cursor)) {
    return Error{"cursor: asked where " + path.string() +
                 " is; found bytes that are no cursor; remove it, and begin anew"};
  }
  return std::optional<std::uint64_t>(cursor.next);
}

}  // namespace

Result<std::vector<LogSegment>> log_segments(const std::filesystem::path& folder) {
  std::vector<LogSegment> found;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) {
    return Error{"log: asked for the segments in " + folder.string() + "; found " +
                 error.message()};
  }
  for (const auto& entry : entries) {
    if (entry.path().extension() != ".log") continue;
    auto file = os::File::open(entry.path());
    if (!file) return file.error();
    if (!*file) continue;  // retention was quicker
    LogSegment segment;
    segment.path = entry.path();
    const auto read = (*file)->read_at(0, std::as_writable_bytes(std::span(&segment.header, 1)));
    if (!read) return read.error();
    const LogHeader& header = segment.header;
    if (*read != sizeof(LogHeader) || header.magic != kLogMagic || header.version != kLogVersion ||
        header.crc != crc_of(header)) {
      continue;
    }
    const auto size = (*file)->size();
    if (!size) return size.error();
    segment.bytes = *size;
    found.push_back(std::move(segment));
  }
  std::sort(found.begin(), found.end(), [](const LogSegment& a, const LogSegment& b) {
    return a.header.first_sequence < b.header.first_sequence;
  });
  return found;
}

LogReader::LogReader(std::filesystem::path folder, std::vector<LogSegment> segments)
    : folder_(std::move(folder)), segments_(std::move(segments)) {}

Result<LogReader> LogReader::open(const std::filesystem::path& folder) {
  auto segments = log_segments(folder);
  if (!segments) return segments.error();
  if (segments->empty()) {
    return Error{"log: asked to read " + folder.string() +
                 "; found no segment in it; record into it first"};
  }
  LogReader reader(folder, *std::move(segments));
  if (auto entered = reader.enter(0); !entered) return entered.error();
  reader.next_ = reader.segments_.front().header.first_sequence;
  return reader;
}

Result<void> LogReader::enter(std::size_t segment) {
  auto file = os::File::open(segments_[segment].path);
  if (!file) return file.error();
  at_ = segment;
  file_ = *std::move(file);  // nothing: retention was quicker; then it has no records
  offset_ = sizeof(LogHeader);
  buffer_at_ = 0;
  buffer_size_ = 0;
  return {};
}

// Segments that came since, or went.
Result<void> LogReader::look_again() {
  auto found = log_segments(folder_);
  if (!found) return found.error();
  for (LogSegment& segment : *found) {
    if (segment.header.first_sequence > segments_.back().header.first_sequence) {
      segments_.push_back(std::move(segment));
    }
  }
  return {};
}

// Whether `bytes` bytes from `offset_` on are in the buffer, after a look at the file.
Result<bool> LogReader::fill(std::uint64_t bytes) {
  const auto has = [&] {
    return offset_ >= buffer_at_ && offset_ + bytes <= buffer_at_ + buffer_size_;
  };
  if (has()) return true;
  if (!file_) return false;
  buffer_.resize(std::max<std::size_t>(kChunk, static_cast<std::size_t>(bytes)));
  const auto read = file_->read_at(offset_, buffer_);
  if (!read) return read.error();
  buffer_at_ = offset_;
  buffer_size_ = *read;
  return has();
}

// The head of the whole record at the present place; nothing if there is none.
Result<std::optional<RecordHead>> LogReader::look() {
  const std::optional<RecordHead> none;
  auto there = fill(sizeof(RecordHead));
  if (!there) return there.error();
  if (!*there) return none;
  RecordHead head;
  std::memcpy(&head, buffer_.data() + (offset_ - buffer_at_), sizeof head);
  if (head.bytes > kLogPayloadMax) return none;
  there = fill(record_size(head.bytes));
  if (!there) return there.error();
  if (!*there) return none;
  const std::span<const std::byte> payload(buffer_.data() + (offset_ - buffer_at_) + sizeof head,
                                           head.bytes);
  if (head.crc != crc_of(head, payload)) return none;
  return std::optional(head);
}

Result<std::optional<LogRecord>> LogReader::next() {
  for (;;) {
    const auto head = look();
    if (!head) return head.error();
    if (*head) {
      LogRecord record;
      record.sequence = (*head)->sequence;
      record.stamp_ns = (*head)->stamp_ns;
      record.type = (*head)->type;
      record.payload = std::span<const std::byte>(buffer_).subspan(
          static_cast<std::size_t>(offset_ - buffer_at_) + sizeof(RecordHead), (*head)->bytes);
      if (record.type == kGapType && record.payload.size() == sizeof(GapMark)) {
        GapMark mark;
        std::memcpy(&mark, record.payload.data(), sizeof mark);
        record.missing = mark.count;
        record.reason = static_cast<GapReason>(mark.reason);
        record.payload = {};
      }
      offset_ += record_size((*head)->bytes);
      next_ = record.sequence + 1;
      return std::optional(record);
    }
    if (at_ + 1 == segments_.size()) {
      if (auto looked = look_again(); !looked) return looked.error();
      if (at_ + 1 == segments_.size()) return std::optional<LogRecord>();
      // What was written before the next segment was begun may have come since we looked.
      buffer_size_ = 0;
      const auto once_more = look();
      if (!once_more) return once_more.error();
      if (*once_more) continue;
    }
    if (file_) {
      const auto size = file_->size();
      if (!size) return size.error();
      torn_bytes_ += *size - std::min(*size, offset_);
    }
    if (auto entered = enter(at_ + 1); !entered) return entered.error();
    const std::uint64_t first = segments_[at_].header.first_sequence;
    if (first > next_) {
      LogRecord hole;
      hole.sequence = next_;
      hole.stamp_ns = segments_[at_].header.made_at_ns;
      hole.type = kGapType;
      hole.missing = first - next_;
      hole.reason = GapReason::damaged;
      next_ = first;
      return std::optional(hole);
    }
  }
}

std::vector<IndexEntry> LogReader::index_of(const LogSegment& segment) const {
  std::filesystem::path path = segment.path;
  path.replace_extension(".index");
  std::vector<IndexEntry> entries;
  const auto bytes = os::read_file(path);
  if (!bytes || !*bytes) return entries;
  entries.resize((*bytes)->size() / sizeof(IndexEntry));
  std::memcpy(entries.data(), (*bytes)->data(), entries.size() * sizeof(IndexEntry));
  // Only what can be: it grows, and lies in the segment.
  const auto bad = std::adjacent_find(entries.begin(), entries.end(), [](auto& a, auto& b) {
    return b.sequence <= a.sequence || b.offset <= a.offset;
  });
  if (bad != entries.end()) entries.erase(bad + 1, entries.end());
  std::erase_if(entries, [&](const IndexEntry& entry) {
    return entry.offset < sizeof(LogHeader) || entry.offset >= segment.bytes;
  });
  return entries;
}

template <class IsBefore>
Result<void> LogReader::skip_while(const IsBefore& is_before) {
  for (;;) {
    const auto head = look();
    if (!head) return head.error();
    if (*head && !is_before((*head)->sequence, (*head)->stamp_ns)) return {};
    const auto record = next();
    if (!record) return record.error();
    if (!*record) return {};
    if (!*head && !is_before((*record)->sequence, (*record)->stamp_ns)) {
      // A record of the next segment: back to its beginning.
      if (auto entered = enter(at_); !entered) return entered;
      next_ = segments_[at_].header.first_sequence;
    }
  }
}

Result<void> LogReader::seek(std::uint64_t sequence) {
  if (auto looked = look_again(); !looked) return looked;
  std::size_t segment = 0;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i].header.first_sequence <= sequence) segment = i;
  }
  if (auto entered = enter(segment); !entered) return entered;
  next_ = segments_[segment].header.first_sequence;
  for (const IndexEntry& entry : index_of(segments_[segment])) {
    if (entry.sequence > sequence) break;
    offset_ = entry.offset;
    next_ = entry.sequence;
  }
  const auto head = look();
  if (!head) return head.error();
  if (!*head || (*head)->sequence != next_) {
    // The index is not this log's: from the beginning.
    if (auto entered = enter(segment); !entered) return entered;
    next_ = segments_[segment].header.first_sequence;
  }
  return skip_while([&](std::uint64_t found, std::int64_t) { return found < sequence; });
}

Result<void> LogReader::seek_time(std::int64_t stamp_ns) {
  if (auto looked = look_again(); !looked) return looked;
  std::size_t segment = 0;
  std::uint64_t from = segments_.front().header.first_sequence;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    for (const IndexEntry& entry : index_of(segments_[i])) {
      if (entry.stamp_ns >= stamp_ns) break;
      segment = i;
      from = entry.sequence;
    }
  }
  static_cast<void>(segment);
  if (auto sought = seek(from); !sought) return sought;
  return skip_while([&](std::uint64_t, std::int64_t stamp) { return stamp < stamp_ns; });
}

Result<LogCursor> LogCursor::open(const std::filesystem::path& folder, const std::string& name) {
  const bool is_word = !name.empty() && name.size() <= 100 &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_-") == std::string::npos;
  if (!is_word) {
    return Error{"cursor: asked for one named \"" + name +
                 "\"; found that it has 1 to 100 letters, digits, _ and -"};
  }
  const std::filesystem::path path = folder / (name + ".cursor");
  const auto next = read_cursor(path);
  if (!next) return next.error();
  return LogCursor(path, next->value_or(0));
}

Result<void> LogCursor::commit(std::uint64_t next) {
  CursorBytes bytes;
  bytes.next = next;
  bytes.crc = crc_of_cursor(bytes);
  if (auto kept = os::replace_file(path_, std::as_bytes(std::span(&bytes, 1))); !kept) return kept;
  next_ = next;
  return {};
}

std::optional<std::uint64_t> lowest_cursor(const std::filesystem::path& folder) {
  std::optional<std::uint64_t> lowest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".cursor") continue;
    const auto next = read_cursor(entry.path());
    // One that cannot be read keeps all: better too much than too little.
    const std::uint64_t at = next && *next ? **next : 0;
    lowest = std::min(lowest.value_or(at), at);
  }
  return lowest;
}

}  // namespace leat::tile
