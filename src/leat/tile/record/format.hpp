// What      The bytes of a recorded log: what a writer writes, and a reader may rely on.
// Shape     A folder: `<first sequence, 20 digits>.log`, `.index` beside each, `<name>.cursor`, `writer.lock`.
//             log     header, 256 bytes | record | record | ...
//             record  head, 32 bytes | payload | zeros up to a multiple of 8
//             head    bytes: 32 | crc: 32 | sequence: 64 | stamp: 64 | type: 64
//             index   entries of 24 bytes: sequence | stamp | offset in the log; one each 64 KiB
//           The CRC-32C is of the head without itself, and of the payload.
// Invariants
//   (1) Sequences of a log have no gaps: records and marks of what was lost are counted alike.
//   (2) A record is whole if its CRC holds; what follows the last whole one of a file is no record.
//   (3) A file is made whole before it has its name's place in the order: its first sequence is one
//       behind the last whole record of the one before.
// Limits    Little-endian. An index may be short or missing: it only says where to begin to look.
#pragma once

#include <leat/base/crc32c.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace leat::tile {

inline constexpr std::uint64_t kLogMagic = 0x31474f4c'5441454c;  // "LEATLOG1" in memory
inline constexpr std::uint32_t kLogVersion = 1;
/// The type of a mark that says what was lost.
inline constexpr std::uint64_t kGapType = 0x5041'4754'4145'4c00;
inline constexpr std::uint32_t kLogPayloadMax = 1U << 24;
inline constexpr std::uint64_t kIndexEvery = 64 * 1024;

struct LogHeader {
  std::uint64_t magic = kLogMagic;
  std::uint32_t version = kLogVersion;
  std::uint32_t crc = 0;  // of the rest, with 0 here
  std::uint64_t first_sequence = 0;
  std::uint64_t type = 0;           // layout hash of what is recorded; 0: not known
  std::uint32_t payload_bytes = 0;  // of each record; 0: they differ
  std::uint32_t unused_a = 0;
  std::int64_t made_at_ns = 0;         // since 1970
  std::int64_t steady_to_wall_ns = 0;  // wall time less steady time, when the file was made
  char stream[64] = {};
  char type_name[128] = {};
  std::uint64_t unused_b = 0;
};
static_assert(std::is_standard_layout_v<LogHeader> && sizeof(LogHeader) == 256);

struct RecordHead {
  std::uint32_t bytes = 0;
  std::uint32_t crc = 0;
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;  // since 1970
  std::uint64_t type = 0;
};
static_assert(std::is_standard_layout_v<RecordHead> && sizeof(RecordHead) == 32);

/// Why messages are missing.
enum class GapReason : std::uint64_t {
  lapped = 1,   ///< they were overwritten before the recorder came to them
  damaged = 2,  ///< the log is damaged there; said by readers, never written
};

/// What a mark of loss has as its payload.
struct GapMark {
  std::uint64_t count = 0;
  std::uint64_t reason = 0;
};
static_assert(sizeof(GapMark) == 16);

struct IndexEntry {
  std::uint64_t sequence = 0;
  std::int64_t stamp_ns = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(IndexEntry) == 24);

[[nodiscard]] constexpr std::uint64_t record_size(std::uint32_t payload_bytes) noexcept {
  return sizeof(RecordHead) + (std::uint64_t{payload_bytes} + 7) / 8 * 8;
}

[[nodiscard]] inline std::uint32_t crc_of(const RecordHead& head,
                                          std::span<const std::byte> payload) noexcept {
  std::array<std::byte, sizeof(RecordHead) - 4> rest{};
  std::memcpy(rest.data(), &head.bytes, 4);
  std::memcpy(rest.data() + 4, &head.sequence, sizeof(RecordHead) - 8);
  return crc32c(payload, crc32c(rest));
}

[[nodiscard]] inline std::uint32_t crc_of(LogHeader header) noexcept {
  header.crc = 0;
  return crc32c(std::as_bytes(std::span(&header, 1)));
}

}  // namespace leat::tile
