#include <leat/queue/cache/opening.hpp>

#include <leat/base/check.hpp>

#include <string>

namespace leat::queue::internal {

Result<core::Segment> open_segment(const Where& where, const core::SegmentSpec& spec,
                                   const core::SegmentKind& kind) {
  if (where.name.name.empty()) {
    if (where.opening == Opening::join || where.opening == Opening::observe) {
      return Error{spec.kind + ": asked to join what is there; found no name; say its name"};
    }
    return core::Segment::make_private(spec, kind, where.options);
  }
  switch (where.opening) {
    case Opening::create:
      return core::Segment::create(where.name, spec, kind, where.options);
    case Opening::join:
      return core::Segment::join(where.name, spec, kind, where.options);
    case Opening::create_or_join:
      return core::Segment::create_or_join(where.name, spec, kind, where.options);
    case Opening::replace:
      return core::Segment::replace(where.name, spec, kind, where.options);
    case Opening::observe:
      return core::Segment::observe(where.name, spec, where.options.map);
  }
  LEAT_CHECK(false, "an opening that is none");
}

Result<std::uint64_t> payload_bytes(const char* what, std::uint64_t head_bytes,
                                    std::uint64_t stride, std::uint64_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 47;
  if (count > kMost / stride) {
    return Error{std::string(what) + ": asked for " + std::to_string(count) + " elements of " +
                 std::to_string(stride) + " bytes; all of them may have 2^47; take fewer"};
  }
  return head_bytes + stride * count;
}

Result<void> check_payload(const core::Segment& segment, std::uint64_t head_bytes,
                           std::uint64_t stride) {
  const core::SegmentSpec& spec = segment.spec();
  auto needed = payload_bytes("segment", head_bytes, stride, spec.count);
  if (needed && *needed == spec.payload_bytes && spec.stride == stride) return {};
  return core::segment_mismatch(
      segment.where(), "payload bytes of " + std::to_string(spec.count) + " elements",
      needed ? std::to_string(*needed) : "too many", std::to_string(spec.payload_bytes));
}

}  // namespace leat::queue::internal
