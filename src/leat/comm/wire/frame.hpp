// What      The frame: how a message travels as bytes, whatever carries them. docs/protocols/frames.md
//           has it byte by byte, with an example.
// Shape     0   u32  magic "LFR1"
//           4   u8   kind
//           5   u8   flags: 1 if `check` was computed
//           6   u16  0
//           8   u32  source: a worker of all processes, or kFromLink
//           12  u32  target_lower, the first worker that it is for
//           16  u32  target_upper, one behind the last
//           20  u32  0
//           24  u64  channel
//           32  u64  payload bytes, without padding
//           40  u64  sequence: ascends for each source
//           48  u64  check: a hash of bytes 0 to 47 and of the payload with its padding, or 0
//           56  payload, then zeros to the next multiple of 8
//           All numbers are little-endian.
// Invariants
//   (1) Any bytes are the beginning of a frame, a whole one, or refused with what is wrong.
//   (2) A length is refused before memory is asked for it.
//   (3) A payload begins at a multiple of 8 if its frame does.
// Source    Timely Dataflow's `MessageHeader`; magic, kinds and check are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <leat/base/result.hpp>

namespace leat::comm {

enum class FrameKind : std::uint8_t {
  data = 1,       // a message of a channel
  progress = 2,   // batches of progress of the workers of a process
  signature = 3,  // what a process builds under an id
  built = 4,      // a worker built a dataflow, or failed to
  left = 5,       // a worker runs nothing any more
  failed = 6,     // a process ends with an error, which is the payload
  alive = 7,      // nothing, said so that it is known that somebody is there
  end = 8,        // nothing comes after this
};

/// The source of frames that are of no worker.
inline constexpr std::uint32_t kFromLink = 0xffffffff;

inline constexpr std::size_t kFrameHeaderBytes = 56;
inline constexpr std::uint32_t kFrameMagic = 0x3152464c;  // "LFR1"

/// How long a payload may be, unless told otherwise.
inline constexpr std::uint64_t kPayloadBytesMax = std::uint64_t{1} << 32;

struct FrameHeader {
  FrameKind kind = FrameKind::data;
  bool is_checked = false;
  std::uint32_t source = 0;
  std::uint32_t target_lower = 0;
  std::uint32_t target_upper = 0;
  std::uint64_t channel = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t check = 0;

  /// Bytes of the whole frame.
  [[nodiscard]] std::uint64_t frame_bytes() const noexcept {
    return kFrameHeaderBytes + padded(payload_bytes);
  }
  [[nodiscard]] static constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + 7) & ~std::uint64_t{7};
  }
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// Writes header, padding and, if asked, check around a payload that lies in `frame` already.
///
/// Requires: `frame.size() == header.frame_bytes()`, and the payload at kFrameHeaderBytes; checked.
void finish_frame(std::span<std::byte> frame, const FrameHeader& header);

/// What `read_frame` found.
enum class FrameRead : std::uint8_t {
  whole,    // the header, and all of the frame
  header,   // the header, and not all of the payload
  partial,  // not all of the header
  refused,  // no frame
};

struct FrameLimits {
  std::uint64_t payload_bytes_max = kPayloadBytesMax;
};

/// Looks at the frame that `bytes` begin with, and at its check if all of it is there.
///
/// `wrong` says what is wrong if it is refused.
[[nodiscard]] FrameRead read_frame(std::span<const std::byte> bytes, const FrameLimits& limits,
                                   FrameHeader& header, std::string& wrong);

/// The header of a frame that `read_frame` found whole, or that this process wrote.
[[nodiscard]] FrameHeader header_of(std::span<const std::byte> frame) noexcept;

/// A number for words, by which changed ones are noticed; not against an adversary. Requires: a size
/// that is a multiple of 8.
[[nodiscard]] std::uint64_t words_hash(std::span<const std::byte> words,
                                       std::uint64_t seed) noexcept;

}  // namespace leat::comm
