// What      What a segment holds, as both sides must know it: the kind of object, its flavour, the
//           type and number of its elements, and how many bytes that makes. Whoever makes a segment
//           writes it down, whoever joins compares.
// Protocol  A kind (a ring, a data cache) fills one in from its own options and works from the copy
//           that `Segment::spec` gives, never from shared memory again. What only the kind
//           understands goes into `words`.
// Source    iceoryx's and Flux's segments, which compare less, or sizes alone.
#pragma once

#include <leat/base/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace leat::core {

/// The type of a segment's elements.
struct SegmentType {
  std::uint64_t hash = 0;  // of names and layout; 0 where elements have no type: bytes
  std::uint64_t bytes = 0;
  std::uint64_t align = 0;
  std::string name{};  // for people

  friend bool operator==(const SegmentType&, const SegmentType&) = default;
};

struct SegmentSpec {
  std::string kind{};              // "ring": at most 15 characters, as a name
  std::uint32_t kind_version = 1;  // of the payload's layout: another one does not join
  std::string flavour{};           // "mpmc"; likewise; may be empty
  SegmentType type{};
  std::uint64_t stride = 0;  // bytes from one element to the next
  std::uint64_t count = 0;   // elements
  /// Of the payload: all that the kind lays into the segment. Zeros when it is made.
  std::uint64_t payload_bytes = 0;
  /// How many may take part at the same moment; of each the kind may keep something by its place.
  std::uint32_t participants_max = 256;
  /// Further numbers that shape the payload, in the kind's own order.
  std::array<std::uint64_t, 8> words{};

  friend bool operator==(const SegmentSpec&, const SegmentSpec&) = default;
};

inline constexpr std::uint32_t kParticipantsMax = 4096;

/// Where the parts of a segment lie, in bytes from its beginning.
struct SegmentLayout {
  std::uint64_t participants_offset = 0;
  std::uint64_t payload_offset = 0;  // a multiple of 4096
  std::uint64_t total_bytes = 0;     // likewise

  friend bool operator==(const SegmentLayout&, const SegmentLayout&) = default;
};

/// The layout that `spec` has, everywhere. Errors: a spec that cannot be: which word, and why.
[[nodiscard]] Result<SegmentLayout> segment_layout(const SegmentSpec& spec);

/// The error of a segment at `where` that is not what was asked: names the thing and both sides.
[[nodiscard]] Error segment_mismatch(const std::string& where, const std::string& thing,
                                     const std::string& asked, const std::string& found);

/// Whether `found` is what `asked` asks for.
///
/// Compared: kind and its version, always; flavour, type, stride and each of `words`, where `asked`
/// has one (not empty, not 0); and `found.count` is at least `asked.count`. Not compared:
/// `payload_bytes`, which the kind works out of the rest, and `participants_max`.
[[nodiscard]] Result<void> check_spec(const std::string& where, const SegmentSpec& asked,
                                      const SegmentSpec& found);

}  // namespace leat::core
