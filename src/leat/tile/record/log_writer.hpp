// What      LogWriter: appends records to a log on disk, in segments, so that after a crash all that was
//           synced is there, and what is torn at the end is seen to be.
// Shape     docs/protocols/recorded_log.md; the bytes are in format.hpp.
// Protocol  Open: take the lock of the folder; find the last whole record; begin a new segment behind it.
//           Append: into memory; what is there goes to the file when it is much, at `flush`, and at the
//           end; it is synced as the policy says, or at `sync`.
// Invariants
//   (1) All records with sequences below `synced()` survive whatever happens but to the disk itself.
//   (2) A segment that was begun by a writer that died is never written again.
// Limits    One writer a folder; a second one is refused. What was appended and not flushed goes with the
//           process; what was flushed and not synced, with the machine.
// Cost      append: a copy and a checksum, some 40 ns for 64 bytes.
// Source    Aeron's archive and Chronicle's queues, in what they let go wrong.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/os/file.hpp>
#include <leat/base/result.hpp>
#include <leat/tile/record/format.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat::tile {

enum class SyncPolicy : std::uint8_t {
  none,      ///< when the system likes
  interval,  ///< every `sync_every`, at `tick`
  each,      ///< behind each record
};

struct LogOptions {
  std::filesystem::path folder{};
  /// What is recorded, for people and for readers that ask for its type.
  std::string stream{};
  std::string type_name{};
  std::uint64_t type = 0;
  std::uint32_t payload_bytes = 0;  ///< of each record; 0: they differ
  /// Of a segment; the next record begins another.
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;
  SyncPolicy sync = SyncPolicy::interval;
  Nanos sync_every = std::chrono::seconds(1);
  /// Whole segments go, the oldest first, while more bytes than so many are there. 0: none does.
  std::uint64_t keep_bytes = 0;
  /// Whole segments go whose last record is older than so long. 0: none does.
  Nanos keep_for{0};
  /// Whether a segment stays that a cursor of the folder has not passed.
  bool keep_for_cursors = true;
  /// How much is kept in memory before it goes to the file.
  std::size_t buffer_bytes = std::size_t{1} << 20;
};

/// Threads: one at a time.
class LogWriter {
 public:
  /// Errors: the folder cannot be made or written; somebody else writes there; options out of range.
  [[nodiscard]] static Result<LogWriter> open(const LogOptions& options);

  LogWriter(LogWriter&&) noexcept;
  LogWriter& operator=(LogWriter&&) noexcept;
  /// Flushes and syncs, as well as it can.
  ~LogWriter();

  /// Adds a record. `stamp_ns`: since 1970. Returns: its sequence.
  ///
  /// Errors: more than 16 MiB; the disk says no. After the latter this writer is done, and every
  ///         further call says the same: open another, which goes on behind the last whole record.
  [[nodiscard]] Result<std::uint64_t> append(std::int64_t stamp_ns, std::uint64_t type,
                                             std::span<const std::byte> payload);
  /// Adds a mark that `count` messages are missing here.
  [[nodiscard]] Result<std::uint64_t> gap(std::int64_t stamp_ns, std::uint64_t count,
                                          GapReason reason = GapReason::lapped);

  /// Hands what is in memory to the system: readers see it.
  [[nodiscard]] Result<void> flush();
  /// Flushes, and returns when all is on the disk.
  [[nodiscard]] Result<void> sync();
  /// What is due at `now`, a steady time: the sync of an interval, and retention. Call it now and then.
  [[nodiscard]] Result<void> tick(Nanos now);

  /// The sequence that the next record gets.
  [[nodiscard]] std::uint64_t next() const noexcept;
  /// All before it are safe.
  [[nodiscard]] std::uint64_t synced() const noexcept;
  /// Bytes that were written to files, of this writer.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;
  /// Segments that retention took away, of this writer.
  [[nodiscard]] std::uint64_t segments_removed() const noexcept;

 private:
  struct Body;
  explicit LogWriter(std::unique_ptr<Body> body) noexcept;

  std::unique_ptr<Body> body_;
};

}  // namespace leat::tile
