// What      Records that prove themselves: a torn, stale or doubled one cannot look right.
#pragma once

#include <leat/base/hash.hpp>

#include <cstdint>

namespace leat::stress {

struct Payload {
  std::uint64_t writer = 0;
  std::uint64_t sequence = 0;
  std::uint64_t proof = 0;

  static Payload make(std::uint64_t writer, std::uint64_t sequence) noexcept {
    return {writer, sequence, prove(writer, sequence)};
  }
  [[nodiscard]] bool is_whole() const noexcept { return proof == prove(writer, sequence); }

 private:
  static std::uint64_t prove(std::uint64_t writer, std::uint64_t sequence) noexcept {
    return mix64(mix64(writer + 1) ^ sequence);
  }
};

}  // namespace leat::stress
