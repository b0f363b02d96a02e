// What      What a ring is made of: the options that a program chooses, the shape that both sides
//           of a shared ring must agree on, and where each part lies in its memory.
// Shape     Offsets from the beginning of the ring's memory; zeros are a ring that was never used.
//             words    head | epoch | bell | lock | totals      a sector each (RingWords)
//             seats    one sector per producer or consumer (RingSeat)
//             groups   per group four sectors (RingGroup), then `window` claim words each
//             slots    `slots` times the stride, from a multiple of 4096
// Invariants
//   (1) Everything is an offset that follows from the shape; the shape is copied when a ring is
//       attached, and never read from shared memory again.
// Limits    slots is a power of two of at most 2^30, 1 included.
#pragma once

#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::queue {

enum class RingKind : std::uint32_t {
  single_producer = 1,  ///< one producer at a time; no locked operation per message
  many_producers = 2,   ///< as many as there are seats
};

/// What a program asks for when it makes a ring.
struct RingOptions {
  RingKind kind = RingKind::single_producer;
  /// Messages that fit. Rounded up to a power of two.
  std::uint64_t slots = 1024;
  /// Whether consumers and groups may ask that nothing is overwritten before they have read it.
  bool reliable = false;
  /// Whether ends may sleep: consumers until there is a message, producers of a reliable ring until
  /// there is room. Costs a producer a full barrier per message, a reliable consumer one each time
  /// that it publishes its cursor, and nothing if not.
  bool wakeable = false;
  /// Producers and consumers that may be attached at the same moment.
  std::uint32_t seats = 32;
  /// Collaborative groups, which live as long as the ring.
  std::uint32_t groups = 4;
  /// Messages of a group that its members may hold at the same moment. Rounded up to a power of two.
  std::uint32_t window = 256;
};

struct RingShape {
  RingKind kind = RingKind::single_producer;
  std::uint64_t slots = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t stride = 0;  // bytes from one slot to the next
  std::uint32_t seats = 0;
  std::uint32_t groups = 0;
  std::uint32_t window = 0;
  bool reliable = false;
  bool wakeable = false;

  [[nodiscard]] std::uint64_t mask() const noexcept { return slots - 1; }
  friend bool operator==(const RingShape&, const RingShape&) = default;
};

/// Where the parts lie, in bytes.
struct RingLayout {
  std::size_t words = 0;
  std::size_t seats = 0;
  std::size_t groups = 0;
  std::size_t claims = 0;
  std::size_t slots = 0;
  std::size_t total = 0;
};

/// What a ring's memory must be aligned to.
inline constexpr std::size_t kRingAlign = 128;

inline constexpr std::uint64_t kRingSlotsMax = std::uint64_t{1} << 30;
inline constexpr std::uint32_t kRingSeatsMax = 1023;
inline constexpr std::uint32_t kRingGroupsMax = 1024;
inline constexpr std::uint32_t kRingWindowMax = 1U << 20;
inline constexpr std::uint32_t kRingPayloadMax = 1U << 20;

/// The shape for payloads of `payload_bytes` in slots of `stride` bytes. Errors: an option out of
/// its range, with the range.
[[nodiscard]] Result<RingShape> ring_shape(const RingOptions& options, std::uint32_t payload_bytes,
                                           std::uint32_t stride);

/// Requires: `ring_shape` made the shape, or it passed `check_ring_shape`.
[[nodiscard]] RingLayout ring_layout(const RingShape& shape) noexcept;

/// Whether a shape that came from elsewhere can be one.
[[nodiscard]] Result<void> check_ring_shape(const RingShape& shape);

}  // namespace leat::queue
