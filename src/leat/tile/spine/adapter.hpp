// What      Adapter<S>: what a tile of a spine sees of it in each pass: it consumes from channels and
//           produces into them; stamps, timers and counts come by themselves.
// Shape     struct Trader {
//             bool try_init(Adapter<Market>& tile) { tile.subscribe<Quote>(); return true; }
//             void loop(Adapter<Market>& tile) {
//               tile.consume<Quote>([&](const Quote& quote) {
//                 if (good(quote)) tile.produce(Trade{quote.price});
//               });
//             }
//           };
// Protocol  A channel is consumed from the moment of `subscribe`, or of the first look; who is to miss
//           nothing subscribes in `try_init`, before anybody runs. What is produced while a message is
//           handled, and until the end of the pass, has that message's origin; else that of the pass.
// Limits    Nothing waits. Channels are looked at in the order of the calls. A handler takes
//           `const T&`, or `const Envelope<T>&` if it wants the stamp; it returns nothing, or Handled.
// Cost      With timers one look at the clock per message consumed, and one per message produced;
//           without, none: stamps then have the moment at which the pass began.
// Source    Flux's adapter; its families of calls are one here, told apart by what a handler takes and
//           returns.
#pragma once

#include <leat/tile/loop/context.hpp>
#include <leat/tile/metrics/timers.hpp>
#include <leat/tile/spine/spine.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::tile {

/// What a handler says of the message that it got.
enum class Handled : std::uint8_t {
  counted,  ///< as if it had returned nothing
  untimed,  ///< it was work, but its time is not to be recorded
  ignored,  ///< it was no work: a pass of nothing else did nothing
};

/// What came of looking for a payload.
enum class Payload : std::uint8_t {
  ok,
  none,  ///< the message came without one
  lost,  ///< overwritten before it was read
};

struct AdapterOptions {
  /// Whether messages are timed, in full histograms.
  bool timers = true;
  bool parks = false;
};

namespace internal {

struct TimerPair {
  SharedHistogram* latency = nullptr;
  SharedHistogram* processing = nullptr;
};

/// What a tile has of one channel.
template <class C>
struct Ends {
  std::optional<queue::BroadcastConsumer<typename C::Record>> consumer{};
  std::optional<queue::GroupMember<typename C::Record>> member{};
  std::optional<ChannelProducer<C>> producer{};
  TimerPair timers{};
  std::uint64_t lost = 0;
};

template <class S, class Indices>
struct EndsOf;
template <class S, std::size_t... kIndices>
struct EndsOf<S, std::index_sequence<kIndices...>> {
  using Type = std::tuple<Ends<ChannelAt<S, kIndices>>...>;
};

}  // namespace internal

/// Threads: its tile's.
template <class S>
class Adapter {
  template <std::size_t kIndex>
  using At = ChannelAt<S, kIndex>;
  template <ChannelName kName>
  using Named = At<internal::channel_named<S, kName>()>;
  template <class T>
  using Carrying = At<internal::channel_carrying<S, T>()>;

 public:
  Adapter(Spine<S> spine, AdapterOptions options) : spine_(std::move(spine)), options_(options) {}
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  // The tile.

  [[nodiscard]] const std::string& name() const noexcept { return context_->name(); }
  [[nodiscard]] TileId id() const noexcept { return context_->id(); }
  [[nodiscard]] Nanos now() const noexcept { return context_->now(); }
  [[nodiscard]] Nanos pass_began() const noexcept { return context_->pass_began(); }
  void mark_work() noexcept { context_->mark_work(); }
  [[nodiscard]] bool did_work() const noexcept { return context_->did_work(); }
  void request_stop(const std::string& why) { context_->request_stop(why); }
  [[nodiscard]] bool is_ending() const noexcept { return context_->is_ending(); }
  [[nodiscard]] TileWaker waker() const { return context_->waker(); }
  [[nodiscard]] const Spine<S>& spine() const noexcept { return spine_; }
  /// The origin that what is produced now gets.
  [[nodiscard]] Nanos origin() const noexcept { return origin_; }

  // Consuming: every tile sees every message.

  /// Begins to consume a channel. Errors: UsageError if no seat is left; if the tile parks and the
  /// channel is not wakeable.
  template <ChannelName kName>
  void subscribe(queue::ConsumerOptions options = {}) {
    open_consumer<internal::channel_named<S, kName>()>(std::move(options));
  }
  template <class T>
  void subscribe(queue::ConsumerOptions options = {}) {
    open_consumer<internal::channel_carrying<S, T>()>(std::move(options));
  }

  /// Handles all messages that are there. Returns: how many.
  template <ChannelName kName, class F>
  std::size_t consume(F&& handle) {
    return take<internal::channel_named<S, kName>()>(kAll, handle);
  }
  template <class T, class F>
  std::size_t consume(F&& handle) {
    return take<internal::channel_carrying<S, T>()>(kAll, handle);
  }
  /// At most `count` of them.
  template <ChannelName kName, class F>
  std::size_t consume_n(std::size_t count, F&& handle) {
    return take<internal::channel_named<S, kName>()>(count, handle);
  }
  template <class T, class F>
  std::size_t consume_n(std::size_t count, F&& handle) {
    return take<internal::channel_carrying<S, T>()>(count, handle);
  }
  /// One. Returns: whether there was one.
  template <ChannelName kName, class F>
  bool consume_one(F&& handle) {
    return take<internal::channel_named<S, kName>()>(1, handle) == 1;
  }
  template <class T, class F>
  bool consume_one(F&& handle) {
    return take<internal::channel_carrying<S, T>()>(1, handle) == 1;
  }
  /// The newest; all before it are left out. Returns: whether there was one.
  template <ChannelName kName, class F>
  bool consume_last(F&& handle) {
    return take_last<internal::channel_named<S, kName>()>(handle);
  }
  template <class T, class F>
  bool consume_last(F&& handle) {
    return take_last<internal::channel_carrying<S, T>()>(handle);
  }

  // Sharing: each message to one member of a group.

  /// Joins a group, of this name or that of the tile.
  template <ChannelName kName>
  void join(const std::string& group = "", queue::MemberOptions options = {}) {
    open_member<internal::channel_named<S, kName>()>(group, std::move(options));
  }
  template <class T>
  void join(const std::string& group = "", queue::MemberOptions options = {}) {
    open_member<internal::channel_carrying<S, T>()>(group, std::move(options));
  }
  /// One message that no other member gets. Returns: whether there was one. Joins first if need be.
  template <ChannelName kName, class F>
  bool consume_shared(F&& handle) {
    return take_shared<internal::channel_named<S, kName>()>(handle);
  }
  template <class T, class F>
  bool consume_shared(F&& handle) {
    return take_shared<internal::channel_carrying<S, T>()>(handle);
  }

  // Payloads.

  /// As consume, with `handle(message, bytes, Payload)`. The bytes are a whole copy, the tile's until
  /// the handler returns; empty unless `ok`.
  template <ChannelName kName, class F>
  std::size_t consume_payloads(F&& handle) {
    return take_payloads<internal::channel_named<S, kName>()>(handle);
  }
  template <class T, class F>
  std::size_t consume_payloads(F&& handle) {
    return take_payloads<internal::channel_carrying<S, T>()>(handle);
  }

  // Producing. What is returned: nothing for a channel that overwrites, Sent for a reliable one.

  /// Publishes a message, of the present origin.
  template <ChannelName kName>
  auto produce(const typename Named<kName>::Message& message) {
    return give<internal::channel_named<S, kName>()>(origin_, message);
  }
  template <class T>
  auto produce(const T& message) {
    return give<internal::channel_carrying<S, T>()>(origin_, message);
  }
  /// Of another origin.
  template <ChannelName kName>
  auto produce_from(Nanos origin, const typename Named<kName>::Message& message) {
    return give<internal::channel_named<S, kName>()>(origin, message);
  }
  template <class T>
  auto produce_from(Nanos origin, const T& message) {
    return give<internal::channel_carrying<S, T>()>(origin, message);
  }
  /// Passes an envelope on as it is: its stamp stays.
  template <ChannelName kName>
  auto forward(const typename Named<kName>::Record& envelope) {
    return push<internal::channel_named<S, kName>()>(envelope);
  }
  template <class T>
  auto forward(const Envelope<T>& envelope) {
    return push<internal::channel_carrying<S, T>()>(envelope);
  }
  /// Publishes a message with a payload of `bytes` bytes, which `fill(std::span<std::byte>)` writes.
  ///
  /// Returns: whether it was published: not if there is no room for the payload at this moment.
  /// Errors: UsageError if it is larger than the channel's mtu.
  template <ChannelName kName, class F>
  [[nodiscard]] bool produce_with_payload(const typename Named<kName>::Message& message,
                                          std::size_t bytes, F&& fill) {
    return give_payload<internal::channel_named<S, kName>()>(message, bytes, fill);
  }
  template <class T, class F>
  [[nodiscard]] bool produce_with_payload(const T& message, std::size_t bytes, F&& fill) {
    return give_payload<internal::channel_carrying<S, T>()>(message, bytes, fill);
  }

  // Figures.

  /// Messages of a channel that were overwritten before this tile came to them.
  template <ChannelName kName>
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return std::get<internal::channel_named<S, kName>()>(ends_).lost;
  }
  template <class T>
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return std::get<internal::channel_carrying<S, T>()>(ends_).lost;
  }
  /// A histogram of the tile's own, for its timers; null without timers, or if there is no room.
  [[nodiscard]] SharedHistogram* timer(std::string_view name) {
    if (!book_) return nullptr;
    TimerEntry* const entry = book_->entry(name);
    return entry == nullptr ? nullptr : &entry->processing;
  }
  [[nodiscard]] std::vector<TimerFacts> timers() const {
    return book_ ? book_->timers() : std::vector<TimerFacts>{};
  }

  // For tiles that consume by hand.

  /// The consumer itself. Who takes from it says so by `note_consumed`, and `note_lost`.
  template <ChannelName kName>
  [[nodiscard]] auto& consumer_of() {
    return consumer<internal::channel_named<S, kName>()>();
  }
  void note_consumed(std::uint64_t messages) noexcept { consumed_ += messages; }
  template <ChannelName kName>
  void note_lost(std::uint64_t messages) noexcept {
    std::get<internal::channel_named<S, kName>()>(ends_).lost += messages;
  }

  // What the loop calls.

  void attach(TileContext& context) {
    context_ = &context;
    if (!options_.timers) return;
    constexpr std::size_t kOwn = 8;
    auto book = spine_.options().shared
                    ? TimerBook::make(spine_.name("timers." + std::to_string(context.place())),
                                      context.name(), kChannels<S> + kOwn, spine_.options().segment)
                    : TimerBook::make_private(context.name(), kChannels<S> + kOwn);
    if (!book) {
      throw UsageError("tile \"" + context.name() + "\"", "to time messages", book.error().message,
                       "make room, or turn .timers off");
    }
    book_.emplace(*std::move(book));
  }
  void detach() noexcept {
    std::apply(
        [](auto&... ends) {
          ((ends.consumer.reset(), ends.member.reset(), ends.producer.reset()), ...);
        },
        ends_);
    if (book_) book_->retire();
  }
  void begin_pass() noexcept {
    origin_ = context_->pass_began();
    stamp_now_ = origin_;
  }
  [[nodiscard]] TileProgress progress() noexcept {
    TileProgress progress;
    each([&](auto& ends, auto& channel) {
      progress.there += behind(ends, channel);
      progress.taken += next_of(ends);
    });
    return progress;
  }
  void publish(TileRow& row) noexcept {
    std::uint64_t most = 0;
    row.backlog_channel.set(0);
    std::uint64_t lost = 0;
    each([&](auto& ends, auto& channel) {
      const std::uint64_t lag = behind(ends, channel);
      lost += ends.lost;
      if (lag > most) {
        most = lag;
        row.backlog_channel.set(channel.entry() + 1U);
        row.backlog_slots.set(channel.ring().shape().slots);
      }
    });
    row.backlog.set(most);
    row.lost.set(lost);
    row.consumed.set(consumed_);
    row.produced.set(produced_);
  }
  void before_sleep() noexcept {
    each([&](auto& ends, auto& channel) {
      if (ends.consumer || ends.member) {
        spine_.board()->entry(channel.entry()).say_sleeps(context_->place());
      }
    });
  }
  void after_sleep() noexcept {
    each([&](auto& ends, auto& channel) {
      if (ends.consumer || ends.member) {
        spine_.board()->entry(channel.entry()).say_awake(context_->place());
      }
    });
  }
  [[nodiscard]] bool has_news() noexcept {
    bool news = false;
    each([&](auto& ends, auto&) { news = news || has_news_in(ends); });
    return news;
  }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  using AllEnds = typename internal::EndsOf<S, std::make_index_sequence<kChannels<S>>>::Type;

  template <class F>
  void each(F&& f) {
    auto channels = internal::tie_members(spine_.channels());
    [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
      (f(std::get<kIndices>(ends_), std::get<kIndices>(channels)), ...);
    }(std::make_index_sequence<kChannels<S>>());
  }
  template <std::size_t kIndex>
  [[nodiscard]] At<kIndex>& channel() const noexcept {
    return std::get<kIndex>(internal::tie_members(spine_.channels()));
  }
  [[nodiscard]] std::string who() const { return "tile \"" + context_->name() + "\""; }

  // -- Opening ------------------------------------------------------------------------------------

  template <std::size_t kIndex>
  void note_consumer() {
    using C = At<kIndex>;
    if (options_.parks && !C::kOptions.wakeable) {
      throw UsageError(who(), "to park until \"" + std::string(C::kName) + "\" has something",
                       "a channel that is not wakeable",
                       "declare it .wakeable = true, or let the tile not park");
    }
    TileRow& row = context_->row();
    row.consumes.set(row.consumes.get() | std::uint64_t{1} << channel<kIndex>().entry());
    time_channel<kIndex>();
  }
  template <std::size_t kIndex>
  void time_channel() {
    auto& ends = std::get<kIndex>(ends_);
    if (!book_ || ends.timers.latency != nullptr) return;
    if (TimerEntry* const entry = book_->entry(At<kIndex>::kName)) {
      ends.timers = {&entry->latency, &entry->processing};
    }
  }

  template <std::size_t kIndex>
  auto& open_consumer(queue::ConsumerOptions options) {
    auto& ends = std::get<kIndex>(ends_);
    if (ends.consumer) return *ends.consumer;
    note_consumer<kIndex>();
    if (options.label.empty()) options.label = context_->name();
    auto made = channel<kIndex>().ring().consumer(options);
    if (!made) {
      throw UsageError(who(), "to consume the channel \"" + std::string(At<kIndex>::kName) + "\"",
                       made.error().message, "make room");
    }
    return ends.consumer.emplace(*std::move(made));
  }
  template <std::size_t kIndex>
  auto& consumer() {
    auto& ends = std::get<kIndex>(ends_);
    if (ends.consumer) [[likely]]
      return *ends.consumer;
    return open_consumer<kIndex>({});
  }

  template <std::size_t kIndex>
  auto& open_member(const std::string& group, queue::MemberOptions options) {
    auto& ends = std::get<kIndex>(ends_);
    if (ends.member) return *ends.member;
    note_consumer<kIndex>();
    const std::string name = group.empty() ? context_->name() : group;
    if (options.label.empty()) options.label = context_->name();
    auto& ring = channel<kIndex>().ring();
    auto made = ring.member(name, options);
    if (!made) {
      throw UsageError(who(), "to join the group \"" + name + "\"", made.error().message,
                       "name another, or agree");
    }
    return ends.member.emplace(*std::move(made));
  }

  template <std::size_t kIndex>
  auto& producer() {
    auto& ends = std::get<kIndex>(ends_);
    if (!ends.producer) [[unlikely]] {
      ends.producer.emplace(channel<kIndex>(), who(), *spine_.board());
      TileRow& row = context_->row();
      row.produces.set(row.produces.get() | std::uint64_t{1} << channel<kIndex>().entry());
    }
    return *ends.producer;
  }

  // -- Handling -----------------------------------------------------------------------------------

  // Calls the handler as it likes to be called.
  template <class F, class Content>
  static Handled call(F& handle, const Envelope<Content>& envelope) {
    const auto answer = [](auto&& act) -> Handled {
      using Answer = decltype(act());
      if constexpr (std::is_void_v<Answer>) {
        act();
        return Handled::counted;
      } else {
        static_assert(std::is_same_v<Answer, Handled>,
                      "consume: a handler returns nothing, or Handled");
        return act();
      }
    };
    if constexpr (std::invocable<F&, const Envelope<Content>&>) {
      return answer([&] { return handle(envelope); });
    } else {
      static_assert(std::invocable<F&, const Content&>,
                    "consume: a handler takes const T&, or const Envelope<T>&, of its channel");
      return answer([&] { return handle(envelope.message); });
    }
  }

  // One message: origin, timers, counts.
  template <class Act>
  void deliver(const internal::TimerPair& timers, const Stamp& stamp, Act&& act) {
    origin_ = stamp.origin();
    if (timers.latency == nullptr) {
      if (act() != Handled::ignored) context_->mark_work();
      ++consumed_;
      return;
    }
    const Nanos before = stamp_now_;
    const Handled handled = act();
    const Nanos after = context_->now();
    if (handled == Handled::counted) {
      timers.latency->record(before - stamp.published(before));
      timers.processing->record(after - before);
    }
    if (handled != Handled::ignored) context_->mark_work();
    stamp_now_ = after;
    ++consumed_;
  }

  template <std::size_t kIndex, class F>
  std::size_t take(std::size_t count, F& handle) {
    auto& from = consumer<kIndex>();
    auto& ends = std::get<kIndex>(ends_);
    const internal::TimerPair timers = ends.timers;
    bool first = timers.latency != nullptr;
    const queue::Consumed consumed = from.consume(count, [&](const auto& envelope) {
      if (first) {
        first = false;
        stamp_now_ = context_->now();
      }
      deliver(timers, envelope.stamp, [&] { return call(handle, envelope); });
    });
    if (consumed.lost > 0) [[unlikely]]
      ends.lost += consumed.lost;
    return consumed.messages;
  }

  template <std::size_t kIndex, class F>
  bool take_last(F& handle) {
    auto& from = consumer<kIndex>();
    PrivateCopy<typename At<kIndex>::Record> copy;
    if (from.pop_last(*copy.place()) != queue::Pull::ok) return false;
    const internal::TimerPair timers = std::get<kIndex>(ends_).timers;
    if (timers.latency != nullptr) stamp_now_ = context_->now();
    deliver(timers, copy.value().stamp, [&] { return call(handle, copy.value()); });
    return true;
  }

  template <std::size_t kIndex, class F>
  bool take_shared(F& handle) {
    auto& ends = std::get<kIndex>(ends_);
    if (!ends.member) open_member<kIndex>("", {});
    PrivateCopy<typename At<kIndex>::Record> copy;
    for (;;) {
      const queue::Pull got = ends.member->try_pop(*copy.place());
      if (got == queue::Pull::lost) {
        ends.lost += ends.member->loss().count;
        continue;
      }
      if (got != queue::Pull::ok) return false;
      break;
    }
    if (ends.timers.latency != nullptr) stamp_now_ = context_->now();
    deliver(ends.timers, copy.value().stamp, [&] { return call(handle, copy.value()); });
    return true;
  }

  template <std::size_t kIndex, class F>
  std::size_t take_payloads(F& handle) {
    using C = At<kIndex>;
    static_assert(C::kHasPayload, "consume_payloads: the channel is declared without .mtu");
    auto& cache = channel<kIndex>().cache();
    auto with_bytes = [&](const typename C::Record& envelope) {
      const auto& [message, ref] = envelope.message;
      payload_in_.resize(cache.payload_max());
      const queue::Take taken = cache.read(ref, payload_in_);
      const bool whole = taken == queue::Take::ok;
      const std::span<const std::byte> bytes(payload_in_.data(), whole ? ref.bytes : 0);
      handle(message, bytes, whole ? Payload::ok : Payload::lost);
    };
    return take<kIndex>(kAll, with_bytes);
  }

  // -- Producing ----------------------------------------------------------------------------------

  [[nodiscard]] Stamp stamp_of(Nanos origin) noexcept {
    if (options_.timers) stamp_now_ = context_->now();
    return Stamp::make(origin, context_->id(), stamp_now_);
  }

  template <std::size_t kIndex>
  auto give(Nanos origin, const typename At<kIndex>::Message& message) {
    static_assert(!At<kIndex>::kHasPayload,
                  "produce: the channel carries payloads: use produce_with_payload");
    return push<kIndex>({stamp_of(origin), message});
  }

  template <std::size_t kIndex>
  auto push(const typename At<kIndex>::Record& record) {
    const queue::Push pushed = producer<kIndex>().push(record);
    if (pushed == queue::Push::ok) {
      ++produced_;
      context_->mark_work();
    }
    if constexpr (At<kIndex>::kOptions.reliable) {
      return pushed == queue::Push::ok ? Sent::yes : Sent::full;
    }
  }

  template <std::size_t kIndex, class F>
  bool give_payload(const typename At<kIndex>::Message& message, std::size_t bytes, F& fill) {
    using C = At<kIndex>;
    static_assert(C::kHasPayload, "produce_with_payload: the channel is declared without .mtu");
    const std::uint32_t most = channel<kIndex>().cache().payload_max();
    if (bytes > most) {
      throw UsageError(who(), "to produce a payload of " + std::to_string(bytes) + " bytes",
                       "an mtu of " + std::to_string(most), "cut it, or configure a larger mtu");
    }
    payload_out_.resize(bytes);
    fill(std::span(payload_out_));
    typename C::Content content{message, {}};
    if (producer<kIndex>().writer().write(payload_out_, content.payload) != queue::Put::ok) {
      return false;
    }
    const queue::Push pushed = producer<kIndex>().push({stamp_of(origin_), content});
    if (pushed != queue::Push::ok) return false;
    ++produced_;
    context_->mark_work();
    return true;
  }

  // -- Looking ------------------------------------------------------------------------------------

  template <class C>
  [[nodiscard]] static std::uint64_t behind(const internal::Ends<C>& ends, C& channel) noexcept {
    if (ends.consumer) return ends.consumer->lag();
    if (!ends.member) return 0;
    const std::uint64_t next = ends.member->next_sequence();  // first: it grows, too
    const std::uint64_t front = channel.ring().core().frontier();
    return front > next ? front - next : 0;
  }
  template <class C>
  [[nodiscard]] static std::uint64_t next_of(const internal::Ends<C>& ends) noexcept {
    if (ends.consumer) return ends.consumer->next_sequence();
    return ends.member ? ends.member->next_sequence() : 0;
  }

  template <class C>
  [[nodiscard]] static bool has_news_in(const internal::Ends<C>& ends) noexcept {
    if (ends.consumer) return ends.consumer->awaited().is_there();
    return ends.member && ends.member->awaited().is_there();
  }

  Spine<S> spine_;
  AdapterOptions options_;
  TileContext* context_ = nullptr;
  AllEnds ends_;
  std::optional<TimerBook> book_;
  std::vector<std::byte> payload_in_;
  std::vector<std::byte> payload_out_;
  Nanos origin_{0};
  Nanos stamp_now_{0};  // the last look at the clock in this pass
  std::uint64_t consumed_ = 0;
  std::uint64_t produced_ = 0;
};

}  // namespace leat::tile
