// What      Envelope<T>: a message with its origin, which survives all hops, and with who published it
//           and when.
// Shape     | origin, ns of the steady clock | tile: 16 | publish delta, ns: 48 | the message |
//           origin: when what caused the message came into the system; published = origin + delta.
// Limits    The delta comes round after 2^48 ns, 78 hours. `published` takes the latest moment not
//           after the reader's own that fits, so it is right if a message is read within 78 hours of
//           being published, however long after its origin that was.
// Source    Flux's tracking timestamps, which count processor ticks.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/fields.hpp>
#include <leat/base/identity/hash.hpp>
#include <leat/queue/cache/data_cache.hpp>
#include <leat/tile/control/board.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace leat::tile {

struct Stamp {
  std::int64_t origin_ns = 0;
  std::uint64_t publish = 0;

  static constexpr std::uint64_t kDeltaMask = (std::uint64_t{1} << 48) - 1;

  [[nodiscard]] static constexpr Stamp make(Nanos origin, TileId tile, Nanos now) noexcept {
    // Two CPUs may differ by some nanoseconds: never before its origin.
    const auto delta =
        static_cast<std::uint64_t>(std::max((now - origin).count(), std::int64_t{0}));
    return {origin.count(), static_cast<std::uint64_t>(tile.number) << 48 | (delta & kDeltaMask)};
  }

  [[nodiscard]] constexpr Nanos origin() const noexcept { return Nanos(origin_ns); }
  /// 0 if it came from no tile.
  [[nodiscard]] constexpr TileId tile() const noexcept {
    return {static_cast<std::uint16_t>(publish >> 48)};
  }
  /// The time from origin to publishing, less any multiple of 2^48 ns.
  [[nodiscard]] constexpr Nanos delta() const noexcept {
    return Nanos(static_cast<std::int64_t>(publish & kDeltaMask));
  }
  /// When it was published, as seen at `now`.
  [[nodiscard]] constexpr Nanos published(Nanos now) const noexcept {
    const Nanos first = origin() + delta();
    const std::int64_t since = (now - first).count();
    if (since <= static_cast<std::int64_t>(kDeltaMask)) [[likely]]
      return first;
    return first + Nanos(since & ~static_cast<std::int64_t>(kDeltaMask));
  }

  friend constexpr bool operator==(const Stamp&, const Stamp&) = default;
};
LEAT_FIELDS(Stamp, origin_ns, publish);
static_assert(sizeof(Stamp) == 16);

template <class T>
struct Envelope {
  Stamp stamp;
  T message;

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

template <class T>
constexpr auto leat_fields(std::type_identity<Envelope<T>>) {
  return std::tuple{Field{"stamp", &Envelope<T>::stamp}, Field{"message", &Envelope<T>::message}};
}

/// What a channel with payloads carries.
template <class T>
struct Carried {
  T message;
  queue::PayloadRef payload;

  friend bool operator==(const Carried&, const Carried&) = default;
};

template <class T>
constexpr auto leat_fields(std::type_identity<Carried<T>>) {
  return std::tuple{Field{"message", &Carried<T>::message}, Field{"payload", &Carried<T>::payload}};
}

}  // namespace leat::tile

namespace leat {

template <class T>
inline constexpr IdentityAs kIdentityAs<tile::Envelope<T>>{.name = "leat::tile::Envelope"};
template <class T>
inline constexpr IdentityAs kIdentityAs<tile::Carried<T>>{.name = "leat::tile::Carried"};

}  // namespace leat
