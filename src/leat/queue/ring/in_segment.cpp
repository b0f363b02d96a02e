#include <leat/queue/ring/in_segment.hpp>

#include <bit>
#include <optional>

namespace leat::queue {
namespace {

constexpr const char* kKind = "ring";
constexpr const char* kSpscKind = "spsc";
constexpr std::uint32_t kVersion = 2;  // 2: producers may sleep, too

// Which number of the spec says what. Yes is 2 and no is 1, so that 0 is "whatever is there".
enum Word : std::size_t { seats, groups, window, reliable, wakeable };

std::uint64_t word_of(bool yes) noexcept { return yes ? 2 : 1; }

std::string flavour_of(RingKind kind) {
  return kind == RingKind::single_producer ? "spmc" : "mpmc";
}

class Participants final : public RingPeers {
 public:
  explicit Participants(std::shared_ptr<const core::Segment> segment)
      : segment_(std::move(segment)) {}
  [[nodiscard]] std::uint64_t self() const noexcept override { return segment_->self().word(); }
  // Gone, too: it left or was reaped, and its seats with it, unless that was cut short.
  [[nodiscard]] bool is_dead(std::uint64_t owner) const noexcept override {
    return owner != 0 &&
           segment_->life(core::ParticipantId::of(owner)) != core::ParticipantLife::alive;
  }

 private:
  std::shared_ptr<const core::Segment> segment_;
};

// Whoever makes good acts in the name of the dead one: if he dies over it the next finds a dead
// holder of the lock.
class InTheNameOf final : public RingPeers {
 public:
  explicit InTheNameOf(core::ParticipantId dead) : dead_(dead.word()) {}
  [[nodiscard]] std::uint64_t self() const noexcept override { return dead_; }
  [[nodiscard]] bool is_dead(std::uint64_t owner) const noexcept override { return owner == dead_; }

 private:
  std::uint64_t dead_;
};

Error damaged(const std::string& where, const std::string& why) {
  return Error{where + ": asked for a ring; found " + why + "; it is damaged: make it anew"};
}

}  // namespace

namespace internal {

core::SegmentSpec ring_spec(const RingShape& shape, core::SegmentType type) {
  core::SegmentSpec spec = any_ring_spec(shape.stride, std::move(type));
  spec.flavour = flavour_of(shape.kind);
  spec.count = shape.slots;
  spec.payload_bytes = ring_layout(shape).total;
  spec.words[Word::seats] = shape.seats;
  spec.words[Word::groups] = std::uint64_t{shape.groups} + 1;
  spec.words[Word::window] = shape.window;
  spec.words[Word::reliable] = word_of(shape.reliable);
  spec.words[Word::wakeable] = word_of(shape.wakeable);
  return spec;
}

core::SegmentSpec any_ring_spec(std::uint32_t stride, core::SegmentType type) {
  core::SegmentSpec spec;
  spec.kind = kKind;
  spec.kind_version = kVersion;
  spec.type = std::move(type);
  spec.stride = stride;
  return spec;
}

Result<RingShape> ring_shape_in(const std::string& where, const core::SegmentSpec& spec) {
  if (spec.kind != kKind || spec.kind_version != kVersion) {
    return core::segment_mismatch(where, "kind", kKind, spec.kind);
  }
  RingShape shape;
  if (spec.flavour == flavour_of(RingKind::single_producer)) {
    shape.kind = RingKind::single_producer;
  } else if (spec.flavour == flavour_of(RingKind::many_producers)) {
    shape.kind = RingKind::many_producers;
  } else {
    return damaged(where, "the flavour \"" + spec.flavour + "\"");
  }
  constexpr std::uint64_t kNarrow = ~std::uint32_t{0};
  if (spec.type.bytes > kNarrow || spec.stride > kNarrow || spec.words[Word::seats] > kNarrow ||
      spec.words[Word::groups] > kNarrow || spec.words[Word::window] > kNarrow) {
    return damaged(where, "numbers beyond their range");
  }
  shape.slots = spec.count;
  shape.payload_bytes = static_cast<std::uint32_t>(spec.type.bytes);
  shape.stride = static_cast<std::uint32_t>(spec.stride);
  shape.seats = static_cast<std::uint32_t>(spec.words[Word::seats]);
  // One more than there are, for 0 is "whatever is there".
  shape.groups = static_cast<std::uint32_t>(spec.words[Word::groups]) - 1;
  shape.window = static_cast<std::uint32_t>(spec.words[Word::window]);
  shape.reliable = spec.words[Word::reliable] == word_of(true);
  shape.wakeable = spec.words[Word::wakeable] == word_of(true);
  if (auto right = check_ring_shape(shape); !right) return damaged(where, right.error().message);
  if (spec.payload_bytes != ring_layout(shape).total) {
    return damaged(where, std::to_string(spec.payload_bytes) + " bytes where its shape takes " +
                              std::to_string(ring_layout(shape).total));
  }
  return shape;
}

core::SegmentSpec spsc_spec(const SpscShape& shape, core::SegmentType type) {
  core::SegmentSpec spec = any_spsc_spec(std::move(type));
  spec.count = shape.slots;
  spec.payload_bytes = shape.total_bytes();
  spec.words[0] = word_of(shape.wakeable);
  return spec;
}

core::SegmentSpec any_spsc_spec(core::SegmentType type) {
  core::SegmentSpec spec;
  spec.kind = kSpscKind;
  spec.kind_version = kVersion;
  spec.stride = type.bytes;
  spec.type = std::move(type);
  return spec;
}

Result<core::Segment> enter(Entry entry, const core::SegmentName& name,
                            const core::SegmentSpec& spec, const core::SegmentKind& kind,
                            const core::SegmentOptions& options) {
  switch (entry) {
    case Entry::create:
      return core::Segment::create(name, spec, kind, options);
    case Entry::join:
      return core::Segment::join(name, spec, kind, options);
    case Entry::create_or_join:
      return core::Segment::create_or_join(name, spec, kind, options);
    case Entry::replace:
      return core::Segment::replace(name, spec, kind, options);
    case Entry::observe:
      break;
  }
  return core::Segment::observe(name, spec, options.map);
}

core::SegmentKind ring_segment_kind() {
  core::SegmentKind kind;
  kind.make_good = [](std::span<std::byte> payload, const core::SegmentSpec& spec,
                      core::ParticipantId dead) {
    const auto shape = ring_shape_in("a ring", spec);
    if (!shape) return true;  // no ring that we know: nothing of it is ours to mend
    RingCore core(payload.data(), *shape, std::make_shared<InTheNameOf>(dead), nullptr);
    return core.try_repair();
  };
  return kind;
}

Result<std::shared_ptr<RingCore>> ring_in(core::Segment segment) {
  auto shape = ring_shape_in(segment.where(), segment.spec());
  if (!shape) return shape.error();
  auto keep = std::make_shared<core::Segment>(std::move(segment));
  auto ring = std::make_shared<RingCore>(keep->payload().data(), *shape,
                                         std::make_shared<Participants>(keep), keep);
  if (keep->is_observer()) ring->observe_only();
  return ring;
}

Result<SpscInSegment> spsc_in(core::Segment segment) {
  const core::SegmentSpec& spec = segment.spec();
  SpscInSegment found;
  found.shape.slots = spec.count;
  found.shape.payload_bytes = static_cast<std::uint32_t>(spec.type.bytes);
  found.shape.wakeable = spec.words[0] == word_of(true);
  if (spec.count == 0 || spec.count > kRingSlotsMax || !std::has_single_bit(spec.count) ||
      spec.type.bytes > kRingPayloadMax || spec.payload_bytes != found.shape.total_bytes()) {
    return damaged(segment.where(), "slots and bytes that do not fit each other");
  }
  auto keep = std::make_shared<core::Segment>(std::move(segment));
  found.memory = keep->payload().data();
  found.peers = std::make_shared<Participants>(keep);
  found.keep = std::move(keep);
  return found;
}

}  // namespace internal

Result<std::shared_ptr<RingCore>> inspect_ring(core::Segment segment) {
  return internal::ring_in(std::move(segment));
}

}  // namespace leat::queue
