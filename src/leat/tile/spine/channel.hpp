// What      Channel<"quotes", Quote, {.size = 4096, .persist = true}>: a member of a spine: messages of
//           one type, under one name, in a ring that is there once the spine is open.
// Shape     The ring carries Envelope<T>; with `mtu` Envelope<Carried<T>>, and a data cache beside it
//           the payloads. In shared memory they are the segments `channel.<name>` and
//           `payload.<name>` of the application's namespace.
// Source    Flux's SpineQueue and its attributes; names in place of types are ours.
#pragma once

#include <leat/queue/cache/data_cache.hpp>
#include <leat/queue/ring/in_segment.hpp>
#include <leat/tile/spine/envelope.hpp>
#include <leat/tile/spine/name.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace leat::tile {

enum class Flavour : std::uint8_t {
  many,  ///< any number of producers
  one,   ///< one at a time: cheaper, and a second one is refused
};

struct ChannelOptions {
  /// Messages that fit; rounded up to a power of two. A configuration may change it.
  std::uint32_t size = 32'768;
  Flavour flavour = Flavour::many;
  /// The largest payload beside a message, in bytes; 0: none. A configuration may change it.
  std::uint32_t mtu = 0;
  /// Whether a recorder writes it down.
  bool persist = false;
  /// Whether consumers may ask that nothing is overwritten before they have read it. Producing may
  /// then be refused.
  bool reliable = false;
  /// Whether tiles may park until it has something. Costs each message a full barrier.
  bool wakeable = false;
};

struct ChannelTag {};

template <ChannelName kText, class T, ChannelOptions kAsked = ChannelOptions{}>
class Channel : public ChannelTag {
  static_assert(internal::is_channel_name(kText.view()),
                "channel: a name has 1 to 48 letters, digits, and . _ - in between");
  static_assert(queue::RingRecord<T>,
                "channel: a message is bytes that mean the same in another process: trivially "
                "copyable, and no pointer");
  static_assert(kAsked.size > 0, "channel: .size is the number of messages that fit, at least 1");
  static_assert(kAsked.size <= queue::kRingSlotsMax, "channel: .size is at most 2^30");
  static_assert(!(kAsked.persist && kAsked.mtu > 0),
                "channel: .persist and .mtu do not go together: payloads are not recorded");

 public:
  using Message = T;
  static constexpr ChannelOptions kOptions = kAsked;
  static constexpr auto kNameText = kText;
  static constexpr std::string_view kName = kNameText.view();
  static constexpr bool kHasPayload = kAsked.mtu > 0;
  using Content = std::conditional_t<kHasPayload, Carried<T>, T>;
  using Record = Envelope<Content>;
  static_assert(sizeof(Record) <= queue::kRingPayloadMax, "channel: a message has at most 1 MiB");

  Channel() = default;

  [[nodiscard]] bool is_open() const noexcept { return ring_.has_value(); }
  /// Requires: the spine is open; checked.
  [[nodiscard]] queue::Ring<Record>& ring() noexcept {
    LEAT_CHECK(ring_.has_value(), "a channel of a spine that was not opened");
    return *ring_;
  }
  [[nodiscard]] const queue::Ring<Record>& ring() const noexcept {
    LEAT_CHECK(ring_.has_value(), "a channel of a spine that was not opened");
    return *ring_;
  }
  /// Requires: `.mtu`, and the spine is open; checked.
  [[nodiscard]] queue::DataCache& cache() noexcept {
    LEAT_CHECK(cache_.has_value(), "payloads of a channel that has none");
    return *cache_;
  }
  /// Its entry on the board.
  [[nodiscard]] std::uint32_t entry() const noexcept { return entry_; }

 private:
  template <class>
  friend class Spine;

  std::optional<queue::Ring<Record>> ring_;
  std::optional<queue::DataCache> cache_;
  std::uint32_t entry_ = 0;
};

template <class C>
concept IsChannel = std::is_base_of_v<ChannelTag, std::remove_cvref_t<C>>;

}  // namespace leat::tile
