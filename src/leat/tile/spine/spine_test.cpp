#include <leat/tile/spine/spine.hpp>

#include <leat/core/segment/test_segments.hpp>
#include <leat/tile/spine/spine_scope.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace leat::tile {
namespace {

using std::chrono::milliseconds;

struct Quote {
  std::uint64_t number = 0;
  std::int64_t price = 0;
};
LEAT_FIELDS(Quote, number, price);
struct Trade {
  std::uint64_t number = 0;
};
LEAT_FIELDS(Trade, number);
struct Total {
  std::uint64_t count = 0;
};
LEAT_FIELDS(Total, count);
struct Packet {
  std::uint64_t bytes = 0;
};
LEAT_FIELDS(Packet, bytes);

struct Market {
  Channel<"quotes", Quote, {.size = 256, .reliable = true, .wakeable = true}> quotes;
  Channel<"trades", Trade, {.size = 256, .reliable = true, .wakeable = true}> trades;
  Channel<"totals", Total, {.size = 64, .flavour = Flavour::one, .wakeable = true}> totals;
  Channel<"fast", Quote, {.size = 16}> fast;
  Channel<"packets", Packet, {.size = 64, .mtu = 1500}> packets;
};
static_assert(kChannels<Market> == 5);
static_assert(ChannelAt<Market, 2>::kName == "totals");

/// A tile made of what a test wants it to do.
struct Made {
  std::function<void(Adapter<Market>&)> init = [](Adapter<Market>&) {};
  std::function<void(Adapter<Market>&)> pass = [](Adapter<Market>&) {};
  std::function<void(Adapter<Market>&)> end = [](Adapter<Market>&) {};

  bool try_init(Adapter<Market>& tile) {
    init(tile);
    return true;
  }
  void loop(Adapter<Market>& tile) { pass(tile); }
  void teardown(Adapter<Market>& tile) { end(tile); }
};

Spine<Market> private_spine(const Clock* clock = nullptr) {
  return Spine<Market>::open({.shared = false, .clock = clock}).value();
}

ScopeOptions quiet() {
  ScopeOptions options;
  options.on_failure = [](const TileFailure&) {};
  options.on_stuck = [](const StuckTile&) {};
  options.drain_at_most = std::chrono::seconds(60);
  return options;
}

void subscribe_quotes(Adapter<Market>& tile) { tile.subscribe<"quotes">({.reliable = true}); }
void subscribe_trades(Adapter<Market>& tile) { tile.subscribe<Trade>({.reliable = true}); }

TEST(Spine, MessagesGoThroughThreeTilesInOrderWithTheOriginTheyHad) {
  constexpr std::uint64_t kMessages = 2000;
  std::uint64_t sent = 0;
  std::vector<std::uint64_t> received;
  std::vector<Nanos> origins_sent;
  std::vector<Nanos> origins_received;
  TileId trader;
  bool wrong = false;
  SpineScope<Market> scope(private_spine(), quiet());
  scope.add(Made{.pass =
                     [&](Adapter<Market>& tile) {
                       if (sent == kMessages) {
                         tile.request_stop("all sent");
                         return;
                       }
                       if (tile.produce<"quotes">({sent, 1}) == Sent::yes) {
                         ++sent;
                         origins_sent.push_back(tile.pass_began());
                       }
                     }},
            {.name = "feed", .idle = {.yields = true}});
  scope.add(Made{.init =
                     [&](Adapter<Market>& tile) {
                       trader = tile.id();  // before anybody runs
                       subscribe_quotes(tile);
                     },
                 .pass =
                     [&](Adapter<Market>& tile) {
                       tile.consume<"quotes">([&](const Quote& quote) {
                         while (tile.produce(Trade{quote.number}) == Sent::full) {
                           std::this_thread::yield();
                         }
                       });
                     }},
            {.name = "trader", .idle = {.yields = true}});
  scope.add(Made{.init = subscribe_trades,
                 .pass =
                     [&](Adapter<Market>& tile) {
                       tile.consume<Trade>([&](const Envelope<Trade>& trade) {
                         received.push_back(trade.message.number);
                         origins_received.push_back(trade.stamp.origin());
                         const Nanos now = tile.now();
                         const Nanos published = trade.stamp.published(now);
                         wrong = wrong || trade.stamp.tile() != trader || published > now ||
                                 published < trade.stamp.origin();
                         tile.produce(Total{received.size()});
                       });
                     }},
            {.name = "book", .idle = {.yields = true}});
  const ScopeOutcome outcome = scope.run();
  ASSERT_TRUE(outcome.failures.empty()) << outcome.failures[0].what;
  ASSERT_EQ(received.size(), kMessages) << "sources end first, and what they sent is consumed";
  for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_EQ(received[i], i);
  EXPECT_EQ(origins_received, origins_sent);
  EXPECT_FALSE(wrong);
  EXPECT_TRUE(outcome.drained);
}

// After an idle spell, and when all end: the last messages come, whatever a tile does meanwhile.
TEST(Spine, MessagesComeAfterIdleSpellsAndAtTheEndHoweverATileWaits) {
  struct Idle {
    IdleOptions options;
    const char* what;
  };
  const std::vector<Idle> all{{{.yields = true}, "no pauses"},
                              {{.pauses = 16, .yields = true}, "16 pauses"},
                              {{.pauses = 32, .yields = true}, "32 pauses"},
                              {{.pauses = 255, .yields = true}, "255 pauses"},
                              {{.parks = true, .looks_before_park = 0}, "parked"},
                              {{.pauses = 16, .parks = true, .looks_before_park = 3}, "both"}};
  for (const Idle& idle : all) {
    const auto spine = private_spine();
    std::atomic<std::uint64_t> received = 0;
    SpineScope<Market> scope(spine, quiet());
    scope.add(Made{.init = subscribe_quotes,
                   .pass =
                       [&](Adapter<Market>& tile) {
                         tile.consume<"quotes">([&](const Quote&) { received.fetch_add(1); });
                       }},
              {.name = "consumer", .idle = idle.options});
    scope.start();
    auto producer = spine.producer<"quotes">();
    // The scope has begun when the consumer has: whoever is early is not heard.
    while (spine.board()->tiles().at(0).state < TileState::run) std::this_thread::yield();
    for (std::uint64_t i = 0; i < 30; ++i) {
      ASSERT_EQ(producer.produce({i, 0}), Sent::yes);
      if (i % 3 == 0) {
        while (received.load() != i + 1) std::this_thread::yield();
      }
    }
    scope.request_stop("test", "the last one is on its way");
    const ScopeOutcome outcome = scope.wait();
    EXPECT_EQ(received.load(), 30U) << idle.what;
    EXPECT_TRUE(outcome.drained) << idle.what;
  }
}

TEST(Spine, ATileThatIsWokenByEachMessageLosesNoWakeUp) {
  constexpr std::uint64_t kRounds = 3000;
  const auto spine = private_spine();
  std::uint64_t pings = 0;
  std::uint64_t pongs = 0;
  const IdleOptions parks{
      .parks = true, .looks_before_park = 0, .park_at_most = std::chrono::hours(1)};
  SpineScope<Market> scope(spine, quiet());
  scope.add(Made{.init =
                     [&](Adapter<Market>& tile) {
                       subscribe_trades(tile);
                       static_cast<void>(tile.produce<"quotes">({0, 0}));
                     },
                 .pass =
                     [&](Adapter<Market>& tile) {
                       tile.consume<Trade>([&](const Trade&) {
                         if (++pings == kRounds) {
                           tile.request_stop("done");
                         } else {
                           static_cast<void>(tile.produce<"quotes">({pings, 0}));
                         }
                       });
                     }},
            {.name = "ping", .idle = parks});
  scope.add(
      Made{.init =
               [](Adapter<Market>& tile) {
                 tile.subscribe<"quotes">({.start = queue::StartAt::oldest(), .reliable = true});
               },
           .pass =
               [&](Adapter<Market>& tile) {
                 tile.consume<"quotes">([&](const Quote& quote) {
                   ++pongs;
                   static_cast<void>(tile.produce(Trade{quote.number}));
                 });
               }},
      {.name = "pong", .idle = parks});
  static_cast<void>(scope.run());
  EXPECT_EQ(pings, kRounds);
  EXPECT_GE(pongs, kRounds);
}

TEST(Spine, TheOriginSurvivesAProcessBorderAndPublishersAreKnownThere) {
  const core::TestFolder folder;
  const SpineOptions options{.app = "market", .base = folder.path()};
  auto spine = Spine<Market>::open(options).value();
  std::vector<Envelope<Trade>> received;
  std::vector<std::string> publishers;
  SpineScope<Market> scope(spine, quiet());
  scope.add(
      Made{.init = subscribe_trades,
           .pass =
               [&](Adapter<Market>& tile) {
                 tile.consume<Trade>([&](const Envelope<Trade>& trade) {
                   received.push_back(trade);
                   const auto publisher = tile.spine().board()->find(trade.stamp.tile());
                   publishers.push_back(publisher ? publisher->name : "?");
                   if (received.size() == 3) tile.request_stop("all came");
                 });
               }},
      {.name = "reader",
       .idle = {.parks = true, .looks_before_park = 0, .park_at_most = std::chrono::hours(1)}});
  // Before any thread is started: a forked process with threads may do very little.
  core::ChildProcess child([&](const core::ChildProcess& self) {
    auto far = Spine<Market>::open(options).value();
    const auto reader_runs = [&] {
      for (const TileFacts& tile : far.board()->tiles()) {
        if (tile.name == "reader" && tile.state >= TileState::run) return true;
      }
      return false;
    };
    while (!reader_runs()) std::this_thread::yield();
    SpineScope<Market> theirs(far, quiet());
    int sent = 0;
    theirs.add(Made{.pass =
                        [&](Adapter<Market>& tile) {
                          if (sent == 3) return;
                          static_cast<void>(
                              tile.produce_from(Nanos{1000 + sent}, Trade{std::uint64_t(sent)}));
                          ++sent;
                        }},
               {.name = "far", .idle = {.yields = true}});
    theirs.start();
    self.say('.');
    core::ChildProcess::wait_for_ever();
  });
  scope.start();
  ASSERT_EQ(child.listen(), '.');
  const ScopeOutcome outcome = scope.wait();
  EXPECT_EQ(outcome.why, "all came");
  ASSERT_EQ(received.size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(received[i].message.number, i);
    EXPECT_EQ(received[i].stamp.origin(), Nanos(1000 + static_cast<std::int64_t>(i)));
    EXPECT_EQ(publishers[i], "far");
  }
}

TEST(Stamp, APublishDeltaThatCameRoundIsReadRightWithinThreeDays) {
  constexpr std::int64_t kRound = std::int64_t{1} << 48;
  const TileId tile{7};
  for (const std::int64_t delta :
       {std::int64_t{0}, std::int64_t{5}, kRound - 1, kRound, kRound + 5, 3 * kRound + 9}) {
    const Nanos origin{12345};
    const Nanos published = origin + Nanos(delta);
    const Stamp stamp = Stamp::make(origin, tile, published);
    EXPECT_EQ(stamp.tile(), tile);
    EXPECT_EQ(stamp.origin(), origin);
    for (const std::int64_t later : {std::int64_t{0}, std::int64_t{1000}, kRound - 1 - 3 * 9}) {
      EXPECT_EQ(stamp.published(published + Nanos(later)), published) << delta << " " << later;
    }
  }
  EXPECT_EQ(Stamp::make(Nanos{10}, tile, Nanos{9}).delta(), Nanos{0}) << "never before its origin";
}

TEST(Spine, EachWayToConsumeTakesWhatItSays) {
  const auto spine = private_spine();
  std::vector<std::uint64_t> order;
  std::vector<std::size_t> counts;
  const auto note = [&](const Quote& quote) { order.push_back(quote.number); };
  SpineScope<Market> scope(spine, quiet());
  scope.add(Made{.init =
                     [](Adapter<Market>& tile) {
                       tile.subscribe<"fast">();
                       for (std::uint64_t i = 0; i < 10; ++i) tile.produce<"fast">({i, 0});
                     },
                 .pass =
                     [&](Adapter<Market>& tile) {
                       if (!counts.empty()) return;
                       counts.push_back(tile.consume_n<"fast">(3, note));
                       counts.push_back(tile.consume_one<"fast">(note));
                       counts.push_back(tile.consume_last<"fast">(note));
                       counts.push_back(tile.consume<"fast">(note));
                       tile.request_stop("done");
                     }},
            {.name = "t"});
  static_cast<void>(scope.run());
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 3, 9}));
  EXPECT_EQ(counts, (std::vector<std::size_t>{3, 1, 1, 0}));
}

TEST(Spine, WhatAHandlerSaysDecidesAboutWorkAndTimers) {
  SettableClock clock;
  std::vector<bool> worked;
  std::vector<TimerFacts> timers;
  SpineScope<Market> scope(private_spine(&clock), quiet());
  scope.add(Made{.init =
                     [&](Adapter<Market>& tile) {
                       tile.subscribe<"fast">();
                       for (std::uint64_t i = 0; i < 3; ++i) tile.produce<"fast">({i, 0});
                       clock.advance(milliseconds(2));
                     },
                 .pass =
                     [&](Adapter<Market>& tile) {
                       if (worked.size() == 3) {
                         timers = tile.timers();
                         tile.request_stop("done");
                         return;
                       }
                       tile.consume_one<"fast">([&](const Quote& quote) {
                         clock.advance(milliseconds(1));
                         return quote.number == 0   ? Handled::counted
                                : quote.number == 1 ? Handled::untimed
                                                    : Handled::ignored;
                       });
                       worked.push_back(tile.did_work());
                     }},
            {.name = "t", .stuck_after = Nanos{0}});
  static_cast<void>(scope.run());
  EXPECT_EQ(worked, (std::vector<bool>{true, true, false}));
  ASSERT_EQ(timers.size(), 1U);
  EXPECT_EQ(timers[0].name, "fast");
  EXPECT_EQ(timers[0].latency.count(), 1U);
  EXPECT_EQ(timers[0].latency.max(), milliseconds(2));
  EXPECT_EQ(timers[0].processing.count(), 1U);
  EXPECT_EQ(timers[0].processing.max(), milliseconds(1));
}

TEST(Spine, TimersAreTrueToALoadOfKnownSizeAndCanBeTurnedOff) {
  for (const bool on : {true, false}) {
    SettableClock clock;
    std::vector<TimerFacts> timers;
    std::uint64_t handled = 0;
    std::vector<Nanos> deltas;
    SpineScope<Market> scope(private_spine(&clock), quiet());
    scope.add(Made{.init = [](Adapter<Market>& tile) { tile.subscribe<"fast">(); },
                   .pass =
                       [&](Adapter<Market>& tile) {
                         for (int i = 0; i < 4; ++i) tile.produce<"fast">({1, 0});
                         clock.advance(Nanos{10'000});
                         tile.consume<"fast">([&](const Envelope<Quote>& quote) {
                           clock.advance(Nanos{1'000});
                           deltas.push_back(quote.stamp.delta());
                           ++handled;
                         });
                         if (handled == 400) {
                           timers = tile.timers();
                           tile.request_stop("done");
                         }
                       }},
              {.name = "t", .stuck_after = Nanos{0}}, on);
    static_cast<void>(scope.run());
    if (!on) {
      EXPECT_TRUE(timers.empty());
      continue;
    }
    ASSERT_EQ(timers.size(), 1U);
    const TimerFacts& found = timers[0];
    EXPECT_EQ(found.processing.count(), 400U);
    EXPECT_NEAR(found.processing.mean_ns(), 1'000, 20);
    EXPECT_NEAR(static_cast<double>(found.processing.quantile(0.99).count()), 1'000, 20);
    // The four of a pass wait 10, 11, 12 and 13 microseconds.
    EXPECT_NEAR(found.latency.mean_ns(), 11'500, 230);
    EXPECT_NEAR(static_cast<double>(found.latency.quantile(0.25).count()), 10'000, 200);
    EXPECT_EQ(found.latency.max(), Nanos{13'000});
  }
}

TEST(ScopedTimer, RecordsOnceAndAnAddingTimerTheSum) {
  SettableClock clock;
  auto book = TimerBook::make_private("t", 2).value();
  SharedHistogram& to = book.entry("work")->processing;
  EXPECT_EQ(book.entry("work"), book.entry("work"));
  ASSERT_NE(book.entry("other"), nullptr);
  EXPECT_EQ(book.entry("no room"), nullptr);
  {
    ScopedTimer timer(clock, &to);
    clock.advance(Nanos{100});
    timer.stop();
    clock.advance(Nanos{100});
  }
  {
    ScopedTimer forgotten(clock, &to);
    forgotten.forget();
  }
  EXPECT_EQ(to.copy().count(), 1U);
  EXPECT_EQ(to.copy().max(), Nanos{100});
  AddingTimer adds(clock);
  for (int i = 0; i < 3; ++i) {
    adds.start();
    clock.advance(Nanos{10});
    adds.stop();
    clock.advance(Nanos{1000});
  }
  adds.record(&to);
  EXPECT_EQ(to.copy().count(), 2U);
  EXPECT_EQ(to.copy().sum(), Nanos{130});
  EXPECT_EQ(adds.sum(), Nanos{0});
}

TEST(Spine, MembersOfAGroupShareMessagesAndAReaderSeesAll) {
  constexpr std::uint64_t kMessages = 400;
  const auto spine = private_spine();
  std::array<std::atomic<std::uint64_t>, 3> counts{};
  std::array<std::atomic<std::uint64_t>, 3> sums{};
  SpineScope<Market> scope(spine, quiet());
  for (std::size_t i = 0; i < 2; ++i) {
    scope.add(
        Made{.init = [](Adapter<Market>& tile) { tile.join<"quotes">("work", {.reliable = true}); },
             .pass =
                 [&, i](Adapter<Market>& tile) {
                   tile.consume_shared<"quotes">([&](const Quote& quote) {
                     counts[i].fetch_add(1);
                     sums[i].fetch_add(quote.number);
                   });
                 }},
        {.name = "member" + std::to_string(i), .idle = {.yields = true}});
  }
  scope.add(Made{.init = subscribe_quotes,
                 .pass =
                     [&](Adapter<Market>& tile) {
                       tile.consume<"quotes">([&](const Quote& quote) {
                         counts[2].fetch_add(1);
                         sums[2].fetch_add(quote.number);
                       });
                     }},
            {.name = "all", .idle = {.yields = true}});
  std::uint64_t sent = 0;
  scope.add(Made{.pass =
                     [&](Adapter<Market>& tile) {
                       if (sent == kMessages) return tile.request_stop("all sent");
                       if (tile.produce<"quotes">({sent, 0}) == Sent::yes) ++sent;
                     }},
            {.name = "feed", .idle = {.yields = true}});
  const ScopeOutcome outcome = scope.run();
  ASSERT_TRUE(outcome.failures.empty()) << outcome.failures[0].what;
  constexpr std::uint64_t kSum = kMessages * (kMessages - 1) / 2;
  EXPECT_EQ(counts[0] + counts[1], kMessages);
  EXPECT_EQ(sums[0] + sums[1], kSum);
  EXPECT_EQ(counts[2], kMessages);
  EXPECT_EQ(sums[2], kSum);
}

TEST(Spine, PayloadsComeWholeAndTooLargeOnesAreRefused) {
  const auto spine = private_spine();
  std::vector<std::size_t> sizes;
  bool wrong = false;
  std::string refused;
  SpineScope<Market> scope(spine, quiet());
  scope.add(
      Made{.init =
               [&](Adapter<Market>& tile) {
                 tile.subscribe<"packets">();
                 for (const std::size_t size :
                      {std::size_t{0}, std::size_t{1}, std::size_t{1500}}) {
                   EXPECT_TRUE(tile.produce_with_payload<"packets">(
                       {size}, size, [&](std::span<std::byte> bytes) {
                         std::memset(bytes.data(), static_cast<int>(size % 251), bytes.size());
                       }));
                 }
                 try {
                   static_cast<void>(tile.produce_with_payload<"packets">(
                       {1}, 1501, [](std::span<std::byte>) {}));
                 } catch (const UsageError& error) {
                   refused = error.what();
                 }
               },
           .pass =
               [&](Adapter<Market>& tile) {
                 tile.consume_payloads<"packets">(
                     [&](const Packet& packet, std::span<const std::byte> bytes, Payload look) {
                       wrong = wrong || look != Payload::ok || bytes.size() != packet.bytes;
                       for (const std::byte byte : bytes) {
                         wrong = wrong || byte != static_cast<std::byte>(packet.bytes % 251);
                       }
                       sizes.push_back(bytes.size());
                     });
                 tile.request_stop("done");
               }},
      {.name = "t"});
  const ScopeOutcome outcome = scope.run();
  ASSERT_TRUE(outcome.failures.empty()) << outcome.failures[0].what;
  EXPECT_EQ(sizes, (std::vector<std::size_t>{0, 1, 1500}));
  EXPECT_FALSE(wrong);
  EXPECT_NE(refused.find("1501 bytes; found an mtu of 1500"), std::string::npos) << refused;
}

TEST(Spine, WhatATileLosesIsCounted) {
  std::uint64_t lost = 0;
  std::uint64_t got = 0;
  SpineScope<Market> scope(private_spine(), quiet());
  scope.add(Made{.init =
                     [](Adapter<Market>& tile) {
                       tile.subscribe<"fast">();
                       for (std::uint64_t i = 0; i < 100; ++i) tile.produce<"fast">({i, 0});
                     },
                 .pass =
                     [&](Adapter<Market>& tile) {
                       got += tile.consume<"fast">([](const Quote&) {});
                       lost = tile.lost<"fast">();
                       tile.request_stop("done");
                     }},
            {.name = "t"});
  static_cast<void>(scope.run());
  EXPECT_GT(lost, 0U);
  EXPECT_EQ(got + lost, 100U);
}

TEST(Spine, MisuseIsAFailureOfTheTileThatSaysWhatToDo) {
  SpineScope<Market> parks(private_spine(), quiet());
  parks.add(Made{.init = [](Adapter<Market>& tile) { tile.subscribe<"fast">(); }},
            {.name = "sleeper", .idle = {.parks = true}});
  auto outcome = parks.run();
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_NE(outcome.failures[0].what.find("to park until \"fast\" has something; found a channel "
                                          "that is not wakeable"),
            std::string::npos)
      << outcome.failures[0].what;

  SpineScope<Market> twice(private_spine(), quiet());
  for (const char* name : {"a", "b"}) {
    twice.add(Made{.init = [](Adapter<Market>& tile) { tile.produce(Total{1}); }}, {.name = name});
  }
  outcome = twice.run();
  ASSERT_EQ(outcome.failures.size(), 1U) << "one producer, and no second";
  EXPECT_NE(outcome.failures[0].what.find("to produce into the channel \"totals\""),
            std::string::npos);
}

TEST(Spine, InstancesOfAnotherSuffixNeverMeetAndAllOfOneIsRemoved) {
  const core::TestFolder folder;
  const SpineOptions one{.app = "market", .suffix = "one", .base = folder.path()};
  const SpineOptions two{.app = "market", .suffix = "two", .base = folder.path()};
  auto first = Spine<Market>::open(one).value();
  auto second = Spine<Market>::open(two).value();
  auto consumer = second.channel<"quotes">().ring().consumer().value();
  auto producer = first.producer<"quotes">();
  ASSERT_EQ(producer.produce({1, 2}), Sent::yes);
  Envelope<Quote> got{};
  EXPECT_EQ(consumer.try_pop(got), queue::Pull::empty);
  EXPECT_FALSE(Spine<Market>::remove(one)) << "somebody lives there";
  EXPECT_TRUE(Spine<Market>::remove(one, core::Force::yes).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "market.one"));
}

TEST(SpineConfig, AFileChangesSizesAndPlacesOfTiles) {
  const auto config = SpineConfig::parse(R"(
    [channels.quotes]
    size = 1000
    [channels.packets]
    mtu = 9000
    [tiles.trader]
    niceness = 5
    pauses = 16
    min_loop = "1ms"
    policy = "none"
    [recorder]
    folder = "/var/lib/market"
    sync = "each"
    keep_for = "24h"
  )",
                                         "market.toml");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  auto spine = Spine<Market>::open({.shared = false, .config = *config}).value();
  EXPECT_EQ(spine.channels().quotes.ring().shape().slots, 1024U);
  EXPECT_EQ(spine.channels().trades.ring().shape().slots, 256U);
  EXPECT_EQ(spine.channels().packets.cache().payload_max(), 9000U);
  TileOptions options{.name = "trader"};
  config->tiles.at("trader").apply(options);
  EXPECT_EQ(options.niceness, 5);
  EXPECT_EQ(options.idle.pauses, 16U);
  EXPECT_EQ(options.min_loop, milliseconds(1));
  EXPECT_EQ(config->recorder.folder, "/var/lib/market");
  EXPECT_EQ(config->recorder.keep_for, std::chrono::hours(24));

  SpineScope<Market> scope(spine, quiet());
  scope.add(Made{}, {.name = "somebody else"});
  try {
    static_cast<void>(scope.run());
    ADD_FAILURE() << "a tile that is not there was not missed";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("the tile \"trader\""), std::string::npos);
  }
}

TEST(SpineConfig, WhatIsWrongIsRefusedWithItsPlace) {
  const auto refuses = [](const std::string& text, const std::string& words) {
    const auto config = SpineConfig::parse(text, "f.toml");
    ASSERT_FALSE(config) << text;
    EXPECT_NE(config.error().message.find(words), std::string::npos) << config.error().message;
  };
  refuses("[channels.quotes]\nsise = 5\n",
          "f.toml:2:8: unknown key \"channels.quotes.sise\"; known here: size, mtu");
  refuses("[chanels]\n", "unknown key \"chanels\"; known here: channels, tiles, recorder");
  refuses("[channels.quotes]\nsize = 0\n", "channels.quotes.size expects a number from 1 to");
  refuses("[channels.quotes]\nsize = \"big\"\n", "f.toml:2:8: channels.quotes.size expects");
  refuses("[tiles.t]\npauses = 256\n", "tiles.t.pauses expects a number from 0 to 255");
  refuses("[tiles.t]\nmin_loop = 5\n", "tiles.t.min_loop expects a time, as in \"10ms\"");
  refuses("[tiles.t]\npolicy = \"best\"\n", "expects \"none\", \"fifo\" or \"round_robin\"");
  refuses("[recorder]\nsync = \"soon\"\n", "recorder.sync expects");
  refuses("[tiles.t\n", "f.toml:1:");
  refuses("tiles = 3\n", "tiles expects a table");
  EXPECT_FALSE(SpineConfig::load("/nonexistent.toml"));

  SpineConfig unknown;
  unknown.channels["quoets"].size = 5;
  const auto opened = Spine<Market>::open({.shared = false, .config = unknown});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("no channel of that name"), std::string::npos);
  SpineConfig no_mtu;
  no_mtu.channels["quotes"].mtu = 5;
  EXPECT_FALSE(Spine<Market>::open({.shared = false, .config = no_mtu}));
}

TEST(SharedHistogram, EveryValueIsWithinItsBucketAndBucketsAreNarrow) {
  for (std::uint64_t value = 1; value < SharedHistogram::kLongest; value = value * 9 / 8 + 1) {
    const std::size_t bucket = SharedHistogram::bucket_of(value);
    const std::uint64_t last = SharedHistogram::last_of(bucket);
    ASSERT_GE(last, value);
    ASSERT_LE(last - value, value / 64 + 1);
    ASSERT_EQ(SharedHistogram::bucket_of(last), bucket);
    ASSERT_EQ(SharedHistogram::bucket_of(last + 1), bucket + 1);
  }
}

}  // namespace
}  // namespace leat::tile
