// Ends of spines: what was sent comes to all who consume it, whoever knows of whom.
#include <leat/tile/spine/spine_scope.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace leat::tile {
namespace {

struct Ball {
  std::uint64_t number = 0;
};
LEAT_FIELDS(Ball, number);

struct Court {
  Channel<"a", Ball, {.size = 256, .reliable = true, .wakeable = true}> a;
  Channel<"b", Ball, {.size = 256, .reliable = true, .wakeable = true}> b;
  Channel<"c", Ball, {.size = 256, .reliable = true, .wakeable = true}> c;
  Channel<"ticks", Ball, {.size = 16}> ticks;
};

/// A tile made of what a test wants it to do.
struct Made {
  std::function<void(Adapter<Court>&)> init = [](Adapter<Court>&) {};
  std::function<void(Adapter<Court>&)> pass = [](Adapter<Court>&) {};
  std::function<void(Adapter<Court>&)> end = [](Adapter<Court>&) {};

  bool try_init(Adapter<Court>& tile) {
    init(tile);
    return true;
  }
  void loop(Adapter<Court>& tile) { pass(tile); }
  void teardown(Adapter<Court>& tile) { end(tile); }
};

template <ChannelName kName>
void subscribe(Adapter<Court>& tile) {
  tile.subscribe<kName>({.reliable = true});
}

template <ChannelName kName>
void send(Adapter<Court>& tile, const Ball& ball) {
  EXPECT_EQ(tile.produce<kName>(ball), Sent::yes);
}

/// Whose time for looks is never over.
ScopeOptions patient() {
  ScopeOptions options;
  options.drain_at_most = std::chrono::hours(24);
  options.stuck_after = Nanos{0};
  return options;
}

class SpineStop : public testing::Test {
 protected:
  void add(const char* name, Made tile, TileOptions options = {.idle = {.yields = true}}) {
    options.name = name;
    scope_.add(std::move(tile), std::move(options));
  }
  /// Sends all it has in its first pass, and asks for the end before.
  void add_feed(std::uint64_t balls) {
    add("feed", {.pass =
                     [balls, sent = false](Adapter<Court>& tile) mutable {
                       if (std::exchange(sent, true)) return;
                       tile.request_stop("all is sent");
                       for (std::uint64_t i = 0; i < balls; ++i) send<"a">(tile, {i});
                     },
                 .end = [this](Adapter<Court>&) { feed_ended_ = true; }});
  }
  /// Makes idle passes first, also after the feed has ended.
  template <ChannelName kFrom, ChannelName kTo>
  void add_link(const char* name) {
    add(name, {.init = subscribe<kFrom>, .pass = [this, idle = 20](Adapter<Court>& tile) mutable {
                 if (!feed_ended_ || --idle > 0) return;
                 tile.consume<kFrom>(
                     [&](const Ball& ball) { EXPECT_EQ(tile.produce<kTo>(ball), Sent::yes); });
               }});
  }
  template <ChannelName kFrom>
  void add_sink(const char* name) {
    add(name, {.init = subscribe<kFrom>, .pass = [this](Adapter<Court>& tile) {
                 tile.consume<kFrom>([&](const Ball&) { ++came_; });
               }});
  }
  void run() {
    const ScopeOutcome outcome = scope_.run();
    ASSERT_TRUE(outcome.failures.empty()) << outcome.failures[0].what;
    EXPECT_TRUE(outcome.drained);
  }

  SpineScope<Court> scope_{Spine<Court>::open({.shared = false}).value(), patient()};
  std::atomic<bool> feed_ended_ = false;
  std::atomic<std::uint64_t> came_ = 0;
};

TEST_F(SpineStop, WhoHasProducedNothingYetIsWaitedForByThoseWhoConsumeIt) {
  add_feed(100);
  add_link<"a", "b">("link");
  add_sink<"b">("sink");
  run();
  EXPECT_EQ(came_, 100U);
}

TEST_F(SpineStop, AllComesThroughAChainInWhichNobodyProducedBefore) {
  add_sink<"c">("sink");
  add_link<"b", "c">("second");
  add_link<"a", "b">("first");
  add_feed(100);
  run();
  EXPECT_EQ(came_, 100U);
}

TEST_F(SpineStop, ABallThatGoesRoundInACircleIsPassedToTheEnd) {
  constexpr std::uint64_t kPasses = 200;
  std::vector<std::uint64_t> came(2, 0);
  const auto pass_on = [&](std::size_t i, auto pass) {
    return [&came, i, pass](Adapter<Court>& tile, const Ball& ball) {
      came[i] = ball.number;
      if (ball.number < kPasses) pass(tile, {ball.number + 1});
    };
  };
  const auto to_a = [](Adapter<Court>& tile, const Ball& ball) { send<"a">(tile, ball); };
  const auto to_b = [](Adapter<Court>& tile, const Ball& ball) { send<"b">(tile, ball); };
  add("server",
      {.init = subscribe<"b">,
       .pass = [to_a, back = pass_on(0, to_a), served = false](Adapter<Court>& tile) mutable {
         if (!std::exchange(served, true)) {
           tile.request_stop("it is served");
           to_a(tile, {1});
         }
         tile.consume<"b">([&](const Ball& ball) { back(tile, ball); });
       }});
  add("other", {.init = subscribe<"a">,
                .pass = [back = pass_on(1, to_b), idle = 20](Adapter<Court>& tile) mutable {
                  if (!tile.is_ending() || --idle > 0) return;
                  tile.consume<"a">([&](const Ball& ball) { back(tile, ball); });
                }});
  run();
  EXPECT_EQ(came[0], kPasses);
  EXPECT_EQ(came[1], kPasses - 1);
}

TEST_F(SpineStop, ItReachesWhoSleepsWithWhatIsThere) {
  std::vector<std::uint64_t> came(2, 0);
  const auto count = [&](std::size_t i) {
    return [&came, i](Adapter<Court>& tile) { came[i] += tile.consume<"a">([](const Ball&) {}); };
  };
  add("slow", {.init = subscribe<"a">, .pass = count(0)}, {.min_loop = std::chrono::hours(1)});
  add("parked", {.init = subscribe<"a">, .pass = count(1)},
      {.idle = {.parks = true, .looks_before_park = 0, .park_at_most = std::chrono::hours(1)}});
  add("feed", {.pass = [&, sent = false](Adapter<Court>& tile) mutable {
        int asleep = 0;
        for (const TileFacts& facts : tile.spine().board()->tiles()) {
          if (facts.state == TileState::parked) ++asleep;
        }
        if (asleep < 2 || std::exchange(sent, true)) return;
        for (std::uint64_t i = 0; i < 10; ++i) send<"a">(tile, {i});
        tile.request_stop("all is sent");
      }});
  run();
  EXPECT_EQ(came[0], 10U);
  EXPECT_EQ(came[1], 10U);
}

TEST_F(SpineStop, WhatIsSentAtAnEndComes) {
  add("counter", {.init = subscribe<"a">,
                  .pass = [](Adapter<Court>& tile) { tile.consume<"a">([](const Ball&) {}); },
                  .end = [](Adapter<Court>& tile) { send<"b">(tile, {7}); }});
  add_sink<"b">("sink");
  add_feed(10);
  run();
  EXPECT_EQ(came_, 1U);
}

TEST_F(SpineStop, WhoMakesMessagesOfNothingHoldsItNotUp) {
  add("ticker", {.init = subscribe<"a">, .pass = [](Adapter<Court>& tile) {
                   tile.consume<"a">([](const Ball&) {});
                   tile.produce<"ticks">({1});
                 }});
  add("listener",
      {.init = [](Adapter<Court>& tile) { tile.subscribe<"ticks">(); },
       .pass = [](Adapter<Court>& tile) { tile.consume<"ticks">([](const Ball&) {}); }});
  add_feed(10);
  run();
}

}  // namespace
}  // namespace leat::tile
