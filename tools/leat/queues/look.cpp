#include "queues/look.hpp"

#include <leat/queue/ring/in_segment.hpp>
#include <leat/queue/ring/spsc.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace leat::tool {
namespace {

void look_into_ring(core::Segment segment, QueueLook& look) {
  const auto ring = queue::inspect_ring(std::move(segment));
  if (!ring) {
    look.trouble = ring.error().message;
    return;
  }
  look.shape = (*ring)->shape();
  look.ring = (*ring)->report();
  look.written = look.ring->published;
  std::uint64_t slowest = 0;
  for (const auto& seat : look.ring->seats) {
    look.lost += seat.lost;
    slowest = std::max(slowest, seat.lag);
  }
  for (const auto& group : look.ring->groups) {
    look.lost += group.lost;
    slowest = std::max(slowest, group.lag);
  }
  look.used = std::min(slowest, look.shape->slots);
}

void look_into_spsc(const core::Segment& segment, QueueLook& look) {
  if (segment.payload().size() < sizeof(queue::SpscWords)) {
    look.trouble = segment.where() + ": asked for a ring; found too few bytes for one";
    return;
  }
  const auto& words = *reinterpret_cast<const queue::SpscWords*>(segment.payload().data());
  // Relaxed: two figures for people, of two moments.
  const std::uint64_t head = words.head.load_relaxed();
  const std::uint64_t tail = words.tail.load_relaxed();
  look.written = tail;
  look.used = tail > head ? tail - head : 0;
}

QueueLook look_at(core::SegmentListing listing, Nanos now) {
  QueueLook look;
  look.segment = std::move(listing);
  look.at = now;
  if (!look.segment.facts) {
    look.trouble = look.segment.facts.error().message;
    return look;
  }
  const std::string& kind = look.segment.facts->spec.kind;
  if (kind != "ring" && kind != "spsc") return look;
  auto segment = core::Segment::observe(look.segment.name);
  if (!segment) {
    look.trouble = segment.error().message;
  } else if (kind == "ring") {
    look_into_ring(std::move(*segment), look);
  } else {
    look_into_spsc(*segment, look);
  }
  return look;
}

}  // namespace

std::string QueueLook::kind_text() const {
  if (!segment.facts) return "?";
  const core::SegmentSpec& spec = segment.facts->spec;
  return spec.flavour.empty() ? spec.kind : spec.kind + " " + spec.flavour;
}

std::size_t QueueLook::living() const {
  return static_cast<std::size_t>(
      std::count_if(segment.participants.begin(), segment.participants.end(),
                    [](const auto& one) { return one.life == core::ParticipantLife::alive; }));
}

std::size_t QueueLook::dead() const { return segment.participants.size() - living(); }

Result<std::vector<QueueLook>> look_at_queues(const RunQueues& options, Nanos now) {
  const std::filesystem::path base =
      options.base.empty() ? core::default_segment_base() : options.base;
  std::optional<std::string> space = options.space;
  if (options.name) space = options.segment().space;
  auto listed = core::list_segments(base, space);
  if (!listed) return std::move(listed).error();
  std::vector<QueueLook> looks;
  for (core::SegmentListing& one : *listed) {
    if (options.name && one.name.name != *options.name) continue;
    looks.push_back(look_at(std::move(one), now));
  }
  if (options.name && looks.empty()) {
    return Error{(base / *space / *options.name).string() +
                 ": asked to look at it; found no segment of that name; leat queues shows which "
                 "there are"};
  }
  return looks;
}

}  // namespace leat::tool
