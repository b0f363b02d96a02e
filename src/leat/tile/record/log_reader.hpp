// What      LogReader: reads a recorded log from any place on, while it may still be written.
// Protocol  `next` again and again; nothing: the end, for now. What is torn at the end of a segment is
//           passed over; a part of the log that is missing shows as a gap.
// Limits    Retention may take a segment away before a reader comes to it: that is a gap, too.
// Cost      Reads a megabyte at a time.
#pragma once

#include <leat/base/os/file.hpp>
#include <leat/base/result.hpp>
#include <leat/tile/record/format.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat::tile {

struct LogRecord {
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;
  std::uint64_t type = 0;
  /// The reader's, until its next call.
  std::span<const std::byte> payload{};
  /// How many messages are missing here; then there is no payload.
  std::uint64_t missing = 0;
  GapReason reason = GapReason::lapped;

  [[nodiscard]] bool is_gap() const noexcept { return missing > 0; }
};

/// A segment as it lies in its folder.
struct LogSegment {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  LogHeader header;
};

/// The segments of a folder in their order. Those without a whole header are left out.
[[nodiscard]] Result<std::vector<LogSegment>> log_segments(const std::filesystem::path& folder);

/// Threads: one at a time.
class LogReader {
 public:
  /// Errors: there is no log in the folder.
  [[nodiscard]] static Result<LogReader> open(const std::filesystem::path& folder);

  /// The next record, or nothing if there is none yet.
  ///
  /// Errors: the disk says no.
  [[nodiscard]] Result<std::optional<LogRecord>> next();

  /// Goes to a record, or to the first behind it. Errors: the disk says no.
  [[nodiscard]] Result<void> seek(std::uint64_t sequence);
  /// Goes to the first record that is not older. Errors: as above.
  [[nodiscard]] Result<void> seek_time(std::int64_t stamp_ns);

  /// The sequence of the record that `next` returns next.
  [[nodiscard]] std::uint64_t position() const noexcept { return next_; }
  /// What the first segment says of all.
  [[nodiscard]] const LogHeader& header() const noexcept { return segments_.front().header; }
  /// Bytes at the ends of segments that are no records: torn by crashes.
  [[nodiscard]] std::uint64_t torn_bytes() const noexcept { return torn_bytes_; }

 private:
  LogReader(std::filesystem::path folder, std::vector<LogSegment> segments);

  [[nodiscard]] Result<void> enter(std::size_t segment);
  [[nodiscard]] Result<void> look_again();
  [[nodiscard]] Result<bool> fill(std::uint64_t bytes);
  [[nodiscard]] Result<std::optional<RecordHead>> look();
  template <class IsBefore>
  [[nodiscard]] Result<void> skip_while(const IsBefore& is_before);
  [[nodiscard]] std::vector<IndexEntry> index_of(const LogSegment& segment) const;

  std::filesystem::path folder_;
  std::vector<LogSegment> segments_;
  std::size_t at_ = 0;
  std::optional<os::File> file_;
  std::uint64_t offset_ = 0;  // in the file, of the next record
  std::uint64_t next_ = 0;
  std::uint64_t torn_bytes_ = 0;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_at_ = 0;  // where in the file it begins
  std::size_t buffer_size_ = 0;
};

/// Where somebody is in a log, kept beside it: after a crash one goes on behind what was committed.
///
/// Threads: one at a time; one object a name.
class LogCursor {
 public:
  /// Errors: a name that is no file's; a cursor that is damaged.
  [[nodiscard]] static Result<LogCursor> open(const std::filesystem::path& folder,
                                              const std::string& name);
  /// The sequence to go on with; 0 for a new one.
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  /// Says that all before `next` is done. Returns when it is on the disk.
  [[nodiscard]] Result<void> commit(std::uint64_t next);

 private:
  LogCursor(std::filesystem::path path, std::uint64_t next) noexcept
      : path_(std::move(path)), next_(next) {}
  std::filesystem::path path_;
  std::uint64_t next_ = 0;
};

/// The lowest sequence that a cursor of the folder has yet to see; nothing without cursors.
[[nodiscard]] std::optional<std::uint64_t> lowest_cursor(const std::filesystem::path& folder);

}  // namespace leat::tile
