// What      What a look at a source of bytes, or at a place for bytes, found: the words that files,
//           sockets and whoever reads and writes through them share.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <leat/base/result.hpp>

namespace leat {

enum class IoState : std::uint8_t {
  some,    // at least one byte was moved
  none,    // not now: nothing has come, or there is no room
  over,    // nothing more comes; for sources
  broken,  // never again: `error()` of whom was asked says why
};

struct Io {
  IoState state = IoState::none;
  std::size_t bytes = 0;  // how many were moved
};

/// Where bytes come from. `read` never waits; it is asked for at least one byte.
template <class S>
concept BytesIn = std::movable<S> && requires(S source, std::span<std::byte> into) {
  { source.read(into) } -> std::same_as<Io>;
  { source.error() } -> std::convertible_to<const Error&>;
};

/// Where bytes go. `write` never waits; it is given at least one byte and may take a part.
template <class S>
concept BytesOut = std::movable<S> && requires(S sink, std::span<const std::byte> bytes) {
  { sink.write(bytes) } -> std::same_as<Io>;
  { sink.error() } -> std::convertible_to<const Error&>;
};

}  // namespace leat
