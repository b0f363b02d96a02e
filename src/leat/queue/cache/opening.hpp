// What      Where a cache, a board or a slab lies: in this process's own memory, or in a segment that
//           processes find by name. All objects of this folder are opened alike.
// Shape     auto here   = SeqlockArray<Price>::open({}, 1000);       // no name: private
//           auto shared = SeqlockArray<Price>::open({.name = {.name = "prices"}}, 1000);
#pragma once

#include <leat/base/result.hpp>
#include <leat/base/word_copy.hpp>
#include <leat/core/segment/segment.hpp>
#include <leat/core/segment/type.hpp>

#include <cstdint>

namespace leat::queue {

enum class Opening : std::uint8_t {
  create,  ///< an error if the name is taken
  join,    ///< an error if there is none
  create_or_join,
  replace,  ///< what has the name now is retired
  observe,  ///< to look only: takes no place and needs no right to write
};

struct Where {
  /// Empty: in this process's own memory, where nobody else comes.
  core::SegmentName name{};
  Opening opening = Opening::create_or_join;
  core::SegmentOptions options{};
};

namespace internal {

/// Opens a segment as `where` says. Errors: what Segment says; to join what has no name.
[[nodiscard]] Result<core::Segment> open_segment(const Where& where, const core::SegmentSpec& spec,
                                                 const core::SegmentKind& kind);

/// The bytes of `count` elements behind a head. Errors: more than there can be.
[[nodiscard]] Result<std::uint64_t> payload_bytes(const char* what, std::uint64_t head_bytes,
                                                  std::uint64_t stride, std::uint64_t count);

/// Whether a segment has room for what it says is in it; nothing in it is looked at before.
[[nodiscard]] Result<void> check_payload(const core::Segment& segment, std::uint64_t head_bytes,
                                         std::uint64_t stride);

/// Whether a participant is gone for good: what it held can be taken over.
[[nodiscard]] inline bool is_dead(const core::Segment& segment,
                                  std::uint64_t participant) noexcept {
  return segment.life(core::ParticipantId::of(participant)) != core::ParticipantLife::alive;
}

}  // namespace internal
}  // namespace leat::queue
