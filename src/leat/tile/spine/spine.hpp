// What      Spine<S>: an application's channels, open. `S` is a plain struct of Channels; whoever opens
//           it with the same name, in whatever process, has the same channels.
// Shape     struct Market {
//             Channel<"quotes", Quote, {.size = 4096, .persist = true}> quotes;
//             Channel<"trades", Trade> trades;
//           };
//           auto spine = Spine<Market>::open({.app = "market"});
//           Channels are named by their name, `<"quotes">`, or by what they carry, `<Quote>`, where
//           that is one channel's alone.
//           In shared memory: segments in the namespace `<app>` or `<app>.<suffix>`: one for each channel
//           (channel.hpp), `tiles` for the board, `timers.<n>` for each tile's timers.
// Source    Flux's spine, which a macro makes.
#pragma once

#include <leat/base/time/tick_clock.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/tile/control/board.hpp>
#include <leat/tile/spine/config.hpp>
#include <leat/tile/spine/members.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace leat::tile {

struct SpineOptions {
  /// The namespace of all its segments.
  std::string app = "leat";
  /// Behind a point at the end of the namespace: instances that differ in it never meet.
  std::string suffix{};
  /// Empty: `default_segment_base()`.
  std::filesystem::path base{};
  /// Whether other processes may join; else it is this process's own.
  bool shared = true;
  /// What a file said: `SpineConfig::load`.
  SpineConfig config{};
  core::SegmentOptions segment{};
  /// Null: a TickClock that the processes of this user share.
  const Clock* clock = nullptr;
};

/// What a reliable channel answers to who produces into it.
enum class [[nodiscard]] Sent : std::uint8_t {
  yes,
  full,  ///< a consumer that must not lose has yet to read what stands there
};

namespace internal {

/// A producer into one channel, that wakes who sleeps there.
template <class C>
class ChannelProducer {
  using Producer = std::conditional_t<C::kOptions.flavour == Flavour::one,
                                      queue::SingleProducer<typename C::Record>,
                                      queue::SharedProducer<typename C::Record>>;

 public:
  /// Errors: UsageError if the channel has one producer and that lives, or no seat is left.
  ChannelProducer(C& channel, const std::string& who, TileBoard& board)
      : producer_(take(channel, who)), board_(&board), entry_(channel.entry()) {
    if constexpr (C::kHasPayload) {
      auto writer = channel.cache().writer();
      if (!writer) throw UsageError(who, "to produce payloads", writer.error().message, "end one");
      writer_.emplace(*std::move(writer));
    }
  }

  [[nodiscard]] queue::Push push(const typename C::Record& record) noexcept {
    const queue::Push pushed = producer_.try_push(record);
    if constexpr (C::kOptions.wakeable) {
      if (pushed == queue::Push::ok) board_->wake_sleepers(entry_);
    }
    return pushed;
  }
  [[nodiscard]] auto& writer() noexcept { return *writer_; }

 private:
  static Producer take(C& channel, const std::string& who) {
    const std::string label = who.substr(0, kTileNameMax);
    auto made = [&] {
      if constexpr (C::kOptions.flavour == Flavour::one) {
        return channel.ring().single_producer(label);
      } else {
        return channel.ring().shared_producer(label);
      }
    }();
    if (!made) {
      throw UsageError(who, "to produce into the channel \"" + std::string(C::kName) + "\"",
                       made.error().message, "end the other, or make the channel .flavour = many");
    }
    return *std::move(made);
  }

  Producer producer_;
  TileBoard* board_;
  std::uint32_t entry_;
  std::optional<queue::DataCacheWriter> writer_;
};

}  // namespace internal

/// Produces into a channel from a thread or process that has no tile: origins are the moments of
/// producing, and the publisher is nobody.
///
/// Threads: one at a time.
template <class C>
class StandaloneProducer {
 public:
  StandaloneProducer(C& channel, const std::string& label, std::shared_ptr<TileBoard> board,
                     const Clock& clock)
      : board_(std::move(board)), producer_(channel, label, *board_), clock_(&clock) {}

  /// Returns: nothing for a channel that overwrites; Sent for a reliable one.
  auto produce(const typename C::Message& message)
    requires(!C::kHasPayload)
  {
    return produce_from(clock_->now(), message);
  }
  /// The same for something that came into the system at `origin`.
  auto produce_from(Nanos origin, const typename C::Message& message)
    requires(!C::kHasPayload)
  {
    const queue::Push pushed =
        producer_.push({Stamp::make(origin, TileId{}, clock_->now()), message});
    if constexpr (C::kOptions.reliable) return pushed == queue::Push::ok ? Sent::yes : Sent::full;
  }

 private:
  std::shared_ptr<TileBoard> board_;
  internal::ChannelProducer<C> producer_;
  const Clock* clock_;
};

/// A handle; copies are of the same spine.
///
/// Threads: any, but for `channels`.
template <class S>
class Spine {
  static_assert(internal::CheckedSpine<S>::kHolds);

 public:
  /// Opens all channels, those that are not there are made.
  ///
  /// Errors: what is there differs, and in what; a channel that the configuration names and the spine
  ///         has not; no room.
  [[nodiscard]] static Result<Spine> open(SpineOptions options) {
    auto state = std::make_shared<State>();
    if (options.clock == nullptr) {
      state->own_clock = std::make_unique<TickClock>();
      options.clock = state->own_clock.get();
    }
    state->options = std::move(options);
    if (auto known = check_config(state->options.config); !known) return known.error();
    if (state->options.shared) {
      auto board = TileBoard::open(state->name(TileBoard::kSegmentName), state->options.segment);
      if (!board) return board.error();
      state->board = *std::move(board);
    } else {
      state->board = TileBoard::make_private();
    }
    std::optional<Error> error;
    for_each_channel(state->channels, [&](auto& channel) {
      if (error) return;
      if (auto opened = open_channel(*state, channel); !opened) error = opened.error();
    });
    if (error) return *std::move(error);
    return Spine(std::move(state));
  }

  [[nodiscard]] S& channels() const noexcept { return state_->channels; }
  template <ChannelName kName>
  [[nodiscard]] auto& channel() const noexcept {
    return std::get<internal::channel_named<S, kName>()>(internal::tie_members(state_->channels));
  }
  template <class T>
  [[nodiscard]] auto& channel() const noexcept {
    return std::get<internal::channel_carrying<S, T>()>(internal::tie_members(state_->channels));
  }

  /// A producer for who has no tile. Errors: UsageError if it cannot be had.
  template <ChannelName kName>
  [[nodiscard]] auto producer(const std::string& label = "producer") const {
    auto& into = channel<kName>();
    return StandaloneProducer<std::remove_reference_t<decltype(into)>>(into, label, state_->board,
                                                                       clock());
  }
  template <class T>
  [[nodiscard]] auto producer(const std::string& label = "producer") const {
    auto& into = channel<T>();
    return StandaloneProducer<std::remove_reference_t<decltype(into)>>(into, label, state_->board,
                                                                       clock());
  }

  [[nodiscard]] const std::shared_ptr<TileBoard>& board() const noexcept { return state_->board; }
  [[nodiscard]] const Clock& clock() const noexcept { return *state_->options.clock; }
  [[nodiscard]] const SpineOptions& options() const noexcept { return state_->options; }
  /// A segment of this application.
  [[nodiscard]] core::SegmentName name(const std::string& segment) const {
    return state_->name(segment);
  }

  /// Removes all segments of the application. Errors: somebody lives in one, unless `force`.
  [[nodiscard]] static Result<void> remove(const SpineOptions& options,
                                           core::Force force = core::Force::no) {
    State state;
    state.options = options;
    Result<void> all;
    const auto take_away = [&](const std::string& segment) {
      const auto path = core::segment_path(state.name(segment));
      if (!path || !std::filesystem::exists(*path)) return;
      if (auto gone = core::destroy_segment(state.name(segment), force); !gone && all) all = gone;
    };
    for_each_channel(state.channels, [&](const auto& channel) {
      take_away("channel." + std::string(channel.kName));
      take_away("payload." + std::string(channel.kName));
    });
    take_away(TileBoard::kSegmentName);
    return all;
  }

 private:
  struct State {
    SpineOptions options;
    std::unique_ptr<TickClock> own_clock;
    std::shared_ptr<TileBoard> board;
    S channels{};

    [[nodiscard]] core::SegmentName name(const std::string& segment) const {
      std::string space = options.app;
      if (!options.suffix.empty()) space += "." + options.suffix;
      return {segment, space, options.base};
    }
  };

  explicit Spine(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

  [[nodiscard]] static Result<void> check_config(const SpineConfig& config) {
    for (const auto& entry : config.channels) {
      const std::string& name = entry.first;
      const ChannelConfig& asked = entry.second;
      std::optional<Error> error = Error{"configuration: asked for the channel \"" + name +
                                         "\"; found no channel of that name in the spine"};
      S probe{};
      for_each_channel(probe, [&](const auto& channel) {
        if (channel.kName != name) return;
        error.reset();
        if (asked.mtu && !channel.kHasPayload) {
          error = Error{"configuration: asked for payloads of the channel \"" + name +
                        "\"; found that it is declared without .mtu"};
        }
      });
      if (error) return *std::move(error);
    }
    return {};
  }

  template <class C>
  [[nodiscard]] static Result<void> open_channel(State& state, C& channel) {
    std::uint32_t size = C::kOptions.size;
    std::uint32_t mtu = C::kOptions.mtu;
    if (const auto it = state.options.config.channels.find(C::kName);
        it != state.options.config.channels.end()) {
      size = it->second.size.value_or(size);
      mtu = it->second.mtu.value_or(mtu);
    }
    queue::RingOptions ring;
    ring.kind = C::kOptions.flavour == Flavour::one ? queue::RingKind::single_producer
                                                    : queue::RingKind::many_producers;
    ring.slots = size;
    ring.reliable = C::kOptions.reliable;
    ring.wakeable = C::kOptions.wakeable;
    ring.seats = 64;
    const std::string name(C::kName);
    auto made = state.options.shared
                    ? queue::create_or_join_ring<typename C::Record>(state.name("channel." + name),
                                                                     ring, state.options.segment)
                    : queue::Ring<typename C::Record>::make(ring);
    if (!made) return made.error();
    channel.ring_.emplace(*std::move(made));
    if constexpr (C::kHasPayload) {
      queue::Where where;
      if (state.options.shared) where.name = state.name("payload." + name);
      where.options = state.options.segment;
      constexpr std::uint64_t kInFlight = 16;
      auto cache = queue::DataCache::open(
          where,
          {.capacity_bytes = queue::data_cache_bytes(size, kInFlight, mtu), .payload_max = mtu});
      if (!cache) return cache.error();
      channel.cache_.emplace(*std::move(cache));
    }
    auto entry = state.board->channel(name);
    if (!entry) return entry.error();
    channel.entry_ = *entry;
    return {};
  }

  std::shared_ptr<State> state_;
};

}  // namespace leat::tile
