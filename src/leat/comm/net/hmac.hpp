// What      SHA-256, and HMAC with it: how processes prove to each other that they know a secret
//           without saying it.
// Source    FIPS 180-4 and RFC 2104.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace leat::comm {

using Digest = std::array<std::uint8_t, 32>;

[[nodiscard]] Digest sha256(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] Digest hmac_sha256(std::span<const std::byte> key,
                                 std::span<const std::byte> message);

/// Whether two digests are the same, in a time that does not tell where they differ.
[[nodiscard]] bool same_digest(const Digest& a, const Digest& b) noexcept;

}  // namespace leat::comm
