// What      CRC-32C: tells a record that was written whole from one that was torn or damaged.
// Limits    Against accidents, not against an adversary.
// Cost      With SSE 4.2 eight bytes an instruction; elsewhere a table, byte by byte.
// Source    Castagnoli 1993; the polynomial of iSCSI and ext4, so that known values can be pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leat {

/// The checksum of `bytes`, or of what came before and `bytes`: crc32c(b, crc32c(a)) is that of both.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes,
                                   std::uint32_t before = 0) noexcept;

namespace internal {
/// The same by table, which every machine has.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::byte> bytes,
                                            std::uint32_t before) noexcept;
}  // namespace internal

}  // namespace leat
