#include <leat/tile/metrics/timers.hpp>

#include <algorithm>
#include <cstring>

namespace leat::tile {
namespace {

template <std::size_t kBytes>
void write_text(char (&to)[kBytes], std::string_view text) noexcept {
  const std::size_t bytes = std::min(text.size(), kBytes - 1);
  std::memcpy(to, text.data(), bytes);
  std::memset(to + bytes, 0, kBytes - bytes);
}

template <std::size_t kBytes>
std::string_view text_in(const char (&from)[kBytes]) noexcept {
  return {from, static_cast<std::size_t>(std::find(from, from + kBytes, '\0') - from)};
}

}  // namespace

core::SegmentSpec TimerBook::spec(std::size_t entries) {
  core::SegmentSpec spec;
  spec.kind = kKind;
  spec.kind_version = 1;
  spec.stride = sizeof(TimerEntry);
  spec.count = entries;
  spec.payload_bytes = sizeof(Head) + sizeof(TimerEntry) * entries;
  spec.participants_max = 8;
  spec.words[0] = SharedHistogram::kBuckets;
  return spec;
}

TimerBook::TimerBook(core::Segment segment, std::string_view tile) noexcept
    : segment_(std::move(segment)) {
  if (!segment_.is_observer()) write_text(head().tile, tile);
}

Result<TimerBook> TimerBook::make_private(std::string_view tile, std::size_t entries) {
  auto segment = core::Segment::make_private(spec(entries));
  if (!segment) return segment.error();
  return TimerBook(*std::move(segment), tile);
}

Result<TimerBook> TimerBook::make(const core::SegmentName& name, std::string_view tile,
                                  std::size_t entries, const core::SegmentOptions& options) {
  auto segment = core::Segment::replace(name, spec(entries), {}, options);
  if (!segment) return segment.error();
  return TimerBook(*std::move(segment), tile);
}

Result<TimerBook> TimerBook::observe(const core::SegmentName& name) {
  core::SegmentSpec asked = spec(0);  // however many entries it has
  auto segment = core::Segment::observe(name, asked);
  if (!segment) return segment.error();
  const std::uint64_t entries = segment->spec().count;
  if (entries > 4096 || segment->spec().payload_bytes != spec(entries).payload_bytes) {
    return core::segment_mismatch(segment->where(), "size",
                                  "that of " + std::to_string(entries) + " timers",
                                  std::to_string(segment->spec().payload_bytes) + " bytes");
  }
  return TimerBook(*std::move(segment), "");
}

TimerEntry* TimerBook::entry(std::string_view name) noexcept {
  const std::uint64_t count = head().entries.load_relaxed();  // only the tile stores it
  name = name.substr(0, sizeof(TimerEntry::name) - 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (text_in(entries()[i].name) == name) return &entries()[i];
  }
  if (count >= segment_.spec().count) return nullptr;
  write_text(entries()[count].name, name);
  head().entries.store_release(count + 1, listed{});
  return &entries()[count];
}

std::vector<TimerFacts> TimerBook::timers() const {
  std::vector<TimerFacts> all;
  const std::uint64_t count =
      std::min<std::uint64_t>(head().entries.load_acquire(listed{}), segment_.spec().count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const TimerEntry& entry = entries()[i];
    all.push_back(
        {tile(), std::string(text_in(entry.name)), entry.latency.copy(), entry.processing.copy()});
  }
  return all;
}

std::string TimerBook::tile() const { return std::string(text_in(head().tile)); }

void TimerBook::retire() noexcept {
  if (!segment_.is_private()) static_cast<void>(segment_.destroy(core::Force::yes));
}

}  // namespace leat::tile
