// What      Rings in segments that processes share: made, joined or only looked at under a name.
// Shape     auto ring = create_or_join_ring<Quote>({.name = "quotes"}, {.slots = 4096});
//           auto consumer = ring->consumer();      // as with any ring
// Protocol  The segment's payload is the ring's memory; its spec holds the ring's shape. A participant
//           of the segment is the owner of all seats that its process takes. When it dies, whoever
//           reaps it frees them, and so does whoever waits for it.
// Limits    A joiner takes the shape that is there; what it asks for and finds otherwise is an error
//           that names both. An observer maps the pages read-only: it has no seat, gates nobody,
//           cannot sleep, and may be lapped as any lossy consumer.
#pragma once

#include <leat/core/segment/segment.hpp>
#include <leat/core/segment/type.hpp>
#include <leat/queue/ring/ring.hpp>
#include <leat/queue/ring/spsc.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace leat::queue {

namespace internal {

enum class Entry : std::uint8_t { create, join, create_or_join, replace, observe };

// What of a shape must be asked for; all of it, or only the type and the stride.
[[nodiscard]] core::SegmentSpec ring_spec(const RingShape& shape, core::SegmentType type);
[[nodiscard]] core::SegmentSpec any_ring_spec(std::uint32_t stride, core::SegmentType type);
[[nodiscard]] core::SegmentSpec spsc_spec(const SpscShape& shape, core::SegmentType type);
[[nodiscard]] core::SegmentSpec any_spsc_spec(core::SegmentType type);

[[nodiscard]] Result<core::Segment> enter(Entry entry, const core::SegmentName& name,
                                          const core::SegmentSpec& spec,
                                          const core::SegmentKind& kind,
                                          const core::SegmentOptions& options);
/// What a segment does with a ring when a participant has died.
[[nodiscard]] core::SegmentKind ring_segment_kind();

/// The shape that `spec`, of a segment at `where`, says; any bytes may be in it. Errors: it is of no
/// ring, or of none that can be.
[[nodiscard]] Result<RingShape> ring_shape_in(const std::string& where,
                                              const core::SegmentSpec& spec);
/// The ring that lies in a segment. Errors: numbers in it that cannot be.
[[nodiscard]] Result<std::shared_ptr<RingCore>> ring_in(core::Segment segment);

struct SpscInSegment {
  std::byte* memory = nullptr;
  SpscShape shape;
  std::shared_ptr<const RingPeers> peers;
  std::shared_ptr<const void> keep;
};
[[nodiscard]] Result<SpscInSegment> spsc_in(core::Segment segment);

template <RingRecord T>
Result<Ring<T>> enter_ring(Entry entry, const core::SegmentName& name,
                           const core::SegmentSpec& spec, const core::SegmentOptions& options) {
  auto segment = enter(entry, name, spec, ring_segment_kind(), options);
  if (!segment) return segment.error();
  auto ring = ring_in(std::move(*segment));
  if (!ring) return ring.error();
  return Ring<T>(std::move(*ring));
}

template <RingRecord T>
Result<Ring<T>> enter_ring(Entry entry, const core::SegmentName& name, const RingOptions& options,
                           const core::SegmentOptions& segment_options) {
  auto shape = Ring<T>::shape_of(options);
  if (!shape) return shape.error();
  return enter_ring<T>(entry, name, ring_spec(*shape, core::segment_type<T>()), segment_options);
}

template <RingRecord T>
Result<SpscRing<T>> enter_spsc(Entry entry, const core::SegmentName& name,
                               const core::SegmentSpec& spec, const core::SegmentOptions& options) {
  auto segment = enter(entry, name, spec, {}, options);
  if (!segment) return segment.error();
  auto found = spsc_in(std::move(*segment));
  if (!found) return found.error();
  return SpscRing<T>(found->memory, found->shape, found->peers, found->keep);
}

}  // namespace internal

/// Makes a ring under a name. Errors: the name is taken; options out of their ranges; no room.
template <RingRecord T>
[[nodiscard]] Result<Ring<T>> create_ring(const core::SegmentName& name, const RingOptions& options,
                                          const core::SegmentOptions& segment = {}) {
  return internal::enter_ring<T>(internal::Entry::create, name, options, segment);
}

/// Joins a ring of `T`s, whatever its shape. Errors: there is none; it holds something else.
template <RingRecord T>
[[nodiscard]] Result<Ring<T>> join_ring(const core::SegmentName& name,
                                        const core::SegmentOptions& segment = {}) {
  return internal::enter_ring<T>(internal::Entry::join, name,
                                 internal::any_ring_spec(kRingStride<T>, core::segment_type<T>()),
                                 segment);
}

/// Joins it, or makes it if there is none. Errors: what is there differs in anything but having more
/// slots, and how.
template <RingRecord T>
[[nodiscard]] Result<Ring<T>> create_or_join_ring(const core::SegmentName& name,
                                                  const RingOptions& options,
                                                  const core::SegmentOptions& segment = {}) {
  return internal::enter_ring<T>(internal::Entry::create_or_join, name, options, segment);
}

/// Makes a new ring in the place of what has the name; whoever uses that goes on with it.
template <RingRecord T>
[[nodiscard]] Result<Ring<T>> replace_ring(const core::SegmentName& name,
                                           const RingOptions& options,
                                           const core::SegmentOptions& segment = {}) {
  return internal::enter_ring<T>(internal::Entry::replace, name, options, segment);
}

/// A ring to look at: of its ends only lossy broadcast consumers can be had. Needs no right to write.
template <RingRecord T>
[[nodiscard]] Result<Ring<T>> observe_ring(const core::SegmentName& name,
                                           const core::SegmentOptions& segment = {}) {
  return internal::enter_ring<T>(internal::Entry::observe, name,
                                 internal::any_ring_spec(kRingStride<T>, core::segment_type<T>()),
                                 segment);
}

/// As create_or_join_ring, for a ring of one producer and one consumer.
template <RingRecord T>
[[nodiscard]] Result<SpscRing<T>> create_or_join_spsc(const core::SegmentName& name,
                                                      const SpscOptions& options,
                                                      const core::SegmentOptions& segment = {}) {
  auto shape = SpscRing<T>::shape_of(options);
  if (!shape) return shape.error();
  return internal::enter_spsc<T>(internal::Entry::create_or_join, name,
                                 internal::spsc_spec(*shape, core::segment_type<T>()), segment);
}
template <RingRecord T>
[[nodiscard]] Result<SpscRing<T>> join_spsc(const core::SegmentName& name,
                                            const core::SegmentOptions& segment = {}) {
  return internal::enter_spsc<T>(internal::Entry::join, name,
                                 internal::any_spsc_spec(core::segment_type<T>()), segment);
}

/// The ring in a segment of which one knows no more than that it holds one: for tools. Its slots'
/// stamps, seats and groups can be looked at, and not its messages. Errors: it holds something else.
[[nodiscard]] Result<std::shared_ptr<RingCore>> inspect_ring(core::Segment segment);

}  // namespace leat::queue
