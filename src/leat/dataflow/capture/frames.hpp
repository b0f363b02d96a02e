// What      Events as bytes, in frames: what is the same for all types of times and records. See
//           docs/protocols/event_stream.md for the bytes.
// Shape
//           stream   "leatevts" | version u32 | 0 u32 | frame ... | end frame
//           frame    length u32, of what follows | kind u8 | payload
//           All numbers are little endian.
// Invariants
//   (1) A stream without its end frame is broken, wherever it was cut.
//   (2) However the bytes are divided among reads, the same frames come out.
//   (3) Every sequence of bytes that is no stream is refused with where it stops being one. What a
//       length promises is not allocated before it has come.
// Limits    A frame is at most `frame_bytes_max` long.
// Source    Timely Dataflow's `EventWriter` and `EventReader`, whose streams have no end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <leat/base/result.hpp>
#include <leat/dataflow/capture/event.hpp>

namespace leat::dataflow {

enum class FrameKind : std::uint8_t { progress = 1, messages = 2, end = 3 };

/// How long a frame may be, unless told otherwise.
inline constexpr std::size_t kFrameBytesMax = std::size_t{64} << 20;

struct Frame {
  FrameKind kind = FrameKind::end;
  std::span<const std::byte> payload;  // good until the reader is used again
  std::uint64_t payload_at = 0;        // which byte of the stream it begins at
};

/// Says that a stream of events is none: where, what should be there, and what is.
[[nodiscard]] Error malformed(std::uint64_t byte, const std::string& asked,
                              const std::string& found);

/// Finds frames in bytes as they come.
///
/// Protocol: put bytes into `room()` and say how many with `filled`; then `next` until it finds
/// none. Say `no_more` when no bytes come any more, and ask `next` again.
class FrameReader {
 public:
  explicit FrameReader(std::size_t frame_bytes_max = kFrameBytesMax)
      : frame_bytes_max_(frame_bytes_max) {}

  /// Where the next bytes go; never empty.
  [[nodiscard]] std::span<std::byte> room();
  /// Requires: `bytes` is at most the size of the last `room()`.
  void filled(std::size_t bytes);
  void no_more() noexcept { is_over_ = true; }

  /// Takes the next frame. `over` comes after the end frame, which is not shown.
  [[nodiscard]] Next next(Frame& frame);
  [[nodiscard]] const Error& error() const noexcept { return *error_; }

  /// Gives memory back if no bytes wait.
  void relax() noexcept;

 private:
  [[nodiscard]] std::span<const std::byte> waiting() const noexcept {
    return {buffer_.get() + begin_, end_ - begin_};
  }
  Next refuse(Error error);
  Next read_header();
  Next short_of(const std::string& what);
  void took(std::size_t bytes) noexcept;

  std::size_t frame_bytes_max_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;     // in buffer_: the first byte that waits
  std::size_t end_ = 0;       // in buffer_: behind the last
  std::size_t shown_ = 0;     // bytes of the frame that was shown last
  std::uint64_t at_ = 0;      // which byte of the stream `begin_` is
  std::uint64_t frames_ = 0;  // read so far
  bool has_header_ = false;
  bool has_end_ = false;
  bool is_over_ = false;
  std::optional<Error> error_;
};

/// Appends the beginning of a stream.
void append_header(std::vector<std::byte>& to);
/// Appends a whole frame.
///
/// Errors: it is longer than `frame_bytes_max`; nothing is appended then.
Result<void> append_frame(std::vector<std::byte>& to, FrameKind kind,
                          std::span<const std::byte> payload,
                          std::size_t frame_bytes_max = kFrameBytesMax);

}  // namespace leat::dataflow
