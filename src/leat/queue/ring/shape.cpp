#include <leat/queue/ring/memory.hpp>
#include <leat/queue/ring/shape.hpp>

#include <bit>
#include <string>

namespace leat::queue {
namespace {

Result<void> within(const char* what, std::uint64_t found, std::uint64_t least,
                    std::uint64_t most) {
  if (found >= least && found <= most) return {};
  return Error{"a ring: asked " + std::to_string(found) + " " + what + "; found that " +
               std::to_string(least) + " to " + std::to_string(most) +
               " are possible; choose one of these"};
}

std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

}  // namespace

Result<void> check_ring_shape(const RingShape& shape) {
  if (shape.kind != RingKind::single_producer && shape.kind != RingKind::many_producers) {
    return Error{"a ring: found kind " + std::to_string(static_cast<std::uint32_t>(shape.kind)) +
                 ", which is neither of one producer (1) nor of many (2); it was made by another "
                 "version, or is damaged: make it anew"};
  }
  const struct {
    const char* what;
    std::uint64_t found;
    std::uint64_t least;
    std::uint64_t most;
  } bounds[] = {
      {"slots", shape.slots, 1, kRingSlotsMax},
      {"bytes of payload", shape.payload_bytes, 1, kRingPayloadMax},
      {"bytes a slot", shape.stride, shape.payload_bytes + std::uint64_t{8},
       kRingPayloadMax + std::uint64_t{64}},
      {"seats", shape.seats, 1, kRingSeatsMax},
      {"groups", shape.groups, 0, kRingGroupsMax},
      {"messages of a window", shape.window, 1, kRingWindowMax},
  };
  for (const auto& bound : bounds) {
    if (auto right = within(bound.what, bound.found, bound.least, bound.most); !right) return right;
  }
  if (!std::has_single_bit(shape.slots) || !std::has_single_bit(shape.window) ||
      shape.stride % 8 != 0) {
    return Error{"a ring: found " + std::to_string(shape.slots) + " slots of " +
                 std::to_string(shape.stride) + " bytes and a window of " +
                 std::to_string(shape.window) +
                 "; slots and window are powers of two and slots are made of words of 8 bytes; it "
                 "is damaged: make it anew"};
  }
  return {};
}

Result<RingShape> ring_shape(const RingOptions& options, std::uint32_t payload_bytes,
                             std::uint32_t stride) {
  if (auto right = within("slots", options.slots, 1, kRingSlotsMax); !right) return right.error();
  if (auto right = within("messages of a window", options.window, 1, kRingWindowMax); !right) {
    return right.error();
  }
  RingShape shape;
  shape.kind = options.kind;
  shape.slots = std::bit_ceil(options.slots);
  shape.payload_bytes = payload_bytes;
  shape.stride = stride;
  shape.seats = options.seats;
  shape.groups = options.groups;
  shape.window = std::bit_ceil(options.window);
  shape.reliable = options.reliable;
  shape.wakeable = options.wakeable;
  if (auto right = check_ring_shape(shape); !right) return right.error();
  return shape;
}

RingLayout ring_layout(const RingShape& shape) noexcept {
  RingLayout layout;
  layout.words = 0;
  layout.seats = sizeof(RingWords);
  layout.groups = layout.seats + shape.seats * sizeof(RingSeat);
  layout.claims = layout.groups + shape.groups * sizeof(RingGroup);
  layout.slots =
      round_up(layout.claims + std::size_t{shape.groups} * shape.window * sizeof(std::uint64_t),
               shape.slots * shape.stride < 4096 ? kRingAlign : 4096);
  layout.total = round_up(layout.slots + shape.slots * shape.stride, kRingAlign);
  return layout;
}

}  // namespace leat::queue
