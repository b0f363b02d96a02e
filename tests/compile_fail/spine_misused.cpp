// What cannot be in a spine, or is not in it, is told where it is compiled.
// expect: channel: .persist and .mtu do not go together: payloads are not recorded
// expect: spine: no channel carries messages of that type
#include <cstdint>

#include <leat/base/fields.hpp>
#include <leat/tile/spine/spine.hpp>

namespace t = leat::tile;

struct Quote {
  std::uint64_t price = 0;
};
LEAT_FIELDS(Quote, price);
struct Trade {
  std::uint64_t price = 0;
};
LEAT_FIELDS(Trade, price);

struct Market {
  t::Channel<"quotes", Quote> quotes;
#ifdef RIGHT
  t::Channel<"packets", Trade, {.mtu = 1500}> packets;
#endif
};

auto& channel_of(t::Spine<Market>& spine) {
#ifndef RIGHT
  static t::Channel<"packets", Trade, {.mtu = 1500, .persist = true}> packets;
  static_cast<void>(packets);
#endif
  return spine.channel<Trade>();
}
