#include <leat/base/crc32c.hpp>

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace leat {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t word = i;
    for (int bit = 0; bit < 8; ++bit) word = (word >> 1) ^ ((word & 1) != 0 ? 0x82f63b78U : 0);
    table[i] = word;
  }
  return table;
}
constexpr auto kTable = make_table();

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::span<const std::byte> bytes,
                                                       std::uint32_t before) noexcept {
  std::uint64_t crc = ~before & 0xffff'ffffU;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto last = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++at) last = _mm_crc32_u8(last, static_cast<unsigned char>(*at));
  return ~last;
}

bool has_instruction() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#endif

}  // namespace

namespace internal {

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  for (const std::byte byte : bytes) {
    crc = kTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

}  // namespace internal

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
#if defined(__x86_64__)
  if (has_instruction()) return by_instruction(bytes, before);
#endif
  return internal::crc32c_by_table(bytes, before);
}

}  // namespace leat
