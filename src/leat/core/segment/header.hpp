// What      The first bytes of a segment: what it is, who made it, and whether it is still the one.
// Shape     A segment: three parts, each at a multiple of 4096 bytes, so that each can be mapped
//           with rights of its own.
//             0     header, 1024 bytes     below; constant once it has a name, but for `state`
//             4096  participants           128 bytes a place (participants.hpp)
//             ...   payload                the kind's own
//           The header: identification and checksum (128 bytes); the spec (384); who made it, and
//           its names (384); the state, in a sector of its own (128).
// Protocol  The maker fills in everything, then `state`, then gives the file its name. Whoever joins
//           reads the header with one read of the file, checks it (`check_header`), and from then on
//           uses its own copy. `state` alone is looked at in place.
// Invariants
//   (1) A header whose checksum holds was written whole by this layout version.
//   (2) state: ready -> retired, once.
// Ordering  retired  from the one who retires to the users: the name stands for another segment, or
//                    for none, by then.
// Limits    The checksum is against accidents and random bytes; who may write the file can make any.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/os/process.hpp>
#include <leat/base/result.hpp>
#include <leat/core/segment/spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace leat::core {

inline constexpr std::uint64_t kSegmentMagic = 0x3147'4553'5441'454c;  // "LEATSEG1" in memory
inline constexpr std::uint32_t kSegmentLayoutVersion = 1;
inline constexpr std::uint32_t kSegmentByteOrder = 0x0102'0304;
inline constexpr std::uint64_t kSegmentPage = 4096;

enum class SegmentState : std::uint32_t {
  none = 0,     // zeros: was never finished
  ready = 1,    // in use
  retired = 2,  // its name is gone, or another's: leave, and join again if you like
};

struct SegmentHeader {
  std::uint64_t magic;
  std::uint64_t checksum;  // of all before `state` but itself
  std::uint32_t layout_version;
  std::uint32_t byte_order;
  std::uint32_t header_bytes;
  std::uint32_t sector_bytes;  // that keeps the words of two writers apart
  std::uint64_t total_bytes;
  std::uint64_t participants_offset;
  std::uint64_t payload_offset;
  std::uint64_t payload_bytes;
  std::array<std::uint64_t, 8> unused_a;

  // The spec.
  std::array<char, 16> kind;
  std::array<char, 16> flavour;
  std::uint32_t kind_version;
  std::uint32_t participants_max;
  std::uint64_t type_hash;
  std::uint64_t type_bytes;
  std::uint64_t type_align;
  std::uint64_t stride;
  std::uint64_t count;
  std::array<std::uint64_t, 8> words;
  std::array<char, 240> type_name;  // cut if it is longer; nothing is decided by it

  // Who made it.
  std::array<std::uint64_t, 2> maker_boot;
  std::uint64_t maker_pid_namespace;
  std::uint64_t maker_pid;
  std::uint64_t maker_start_time;
  std::uint64_t made_at_ns;  // since 1970
  std::uint64_t generation;  // 1, and one more with each replacement under the same name
  std::array<std::uint64_t, 1> unused_b;
  std::array<char, 128> name;
  std::array<char, 64> maker_program;
  std::array<char, 128> unused_c;

  alignas(kSector) Atomic<std::uint32_t> state;
};

struct retired : Edge {};  // who retires -> users: the name is another's, or nobody's

static_assert(std::is_standard_layout_v<SegmentHeader>);
static_assert(sizeof(SegmentHeader) == 1024);
static_assert(offsetof(SegmentHeader, kind) == 128);
static_assert(offsetof(SegmentHeader, type_hash) == 168);
static_assert(offsetof(SegmentHeader, words) == 208);
static_assert(offsetof(SegmentHeader, maker_boot) == 512);
static_assert(offsetof(SegmentHeader, name) == 576);
static_assert(offsetof(SegmentHeader, state) == 896);

/// What a header says, copied out and checked.
struct SegmentFacts {
  SegmentSpec spec;
  SegmentLayout layout;
  std::string name;
  os::ProcessIdentity maker;
  std::string maker_program;
  std::uint64_t made_at_ns = 0;
  std::uint64_t generation = 0;
  SegmentState state = SegmentState::none;  // when it was read
};

/// Writes `facts` into a header of zeros, but for the state. Requires: `segment_layout` took the spec.
void write_header(SegmentHeader& header, const SegmentFacts& facts);

/// What `head`, the first bytes of the file `where` of `file_bytes` bytes, says. Any bytes may be
/// given.
///
/// Errors: what is wrong with it, by name: too short, no segment, another layout version or byte
///         order, never finished, damaged, cut short.
[[nodiscard]] Result<SegmentFacts> check_header(const std::string& where,
                                                std::span<const std::byte> head,
                                                std::uint64_t file_bytes);

}  // namespace leat::core
