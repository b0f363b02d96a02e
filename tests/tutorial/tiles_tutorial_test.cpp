// What docs/tutorial-tiles.md quotes, run and checked.
#include <leat/tile.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

// [messages]
struct Quote {
  std::uint64_t number = 0;
  std::int64_t price = 0;
};
LEAT_FIELDS(Quote, number, price);

struct Trade {
  std::int64_t price = 0;
};
LEAT_FIELDS(Trade, price);
// [/messages]

// [spine]
namespace t = leat::tile;
using namespace std::chrono_literals;

struct Market {
  t::Channel<"quotes", Quote, {.size = 4096, .persist = true, .reliable = true}> quotes;
  t::Channel<"trades", Trade, {.wakeable = true}> trades;
};
// [/spine]

// [source]
struct Feed {
  std::uint64_t sent = 0;

  void loop(t::Adapter<Market>& tile) {
    if (sent == 1000) return tile.request_stop("the day is over");
    const Quote quote{sent, 100 + static_cast<std::int64_t>(sent % 7)};
    if (tile.produce<"quotes">(quote) != t::Sent::full) ++sent;  // else again in the next pass
  }
};
// [/source]

// [middle]
struct Trader {
  bool try_init(t::Adapter<Market>& tile) {
    tile.subscribe<Quote>({.reliable = true});  // from here on nothing is missed
    return true;
  }
  void loop(t::Adapter<Market>& tile) {
    tile.consume<Quote>([&](const Quote& quote) {
      if (quote.price > 105) tile.produce(Trade{quote.price});
    });
  }
};
// [/middle]

// [sink]
struct Book {
  std::vector<std::int64_t>* prices;
  leat::Nanos* slowest;

  bool try_init(t::Adapter<Market>& tile) {
    tile.subscribe<Trade>();
    return true;
  }
  void loop(t::Adapter<Market>& tile) {
    // With the envelope: whose origin is the pass in which Feed sent the quote.
    tile.consume<Trade>([&](const t::Envelope<Trade>& trade) {
      prices->push_back(trade.message.price);
      *slowest = std::max(*slowest, tile.now() - trade.stamp.origin());
    });
  }
};
// [/sink]

class TilesTutorial : public testing::Test {
 protected:
  TilesTutorial() {
    std::string pattern = testing::TempDir() + "leat-tutorial-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TilesTutorial() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(TilesTutorial, ThreeTilesOneAfterTheOther) {
  std::vector<std::int64_t> prices;
  leat::Nanos slowest{0};
  // [run]
  auto spine = t::Spine<Market>::open({.app = "market", .shared = false}).value();
  t::SpineScope<Market> scope(spine, {.drain_at_most = 5min, .handle_signals = true});
  scope.add(Feed{}, {.name = "feed", .idle = {.yields = true}});
  scope.add(Trader{}, {.name = "trader", .niceness = 1, .idle = {.pauses = 16, .yields = true}});
  scope.add(Book{&prices, &slowest}, {.name = "book", .idle = {.parks = true}});
  const t::ScopeOutcome outcome = scope.run();
  // [/run]
  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.why, "the day is over");
  EXPECT_EQ(prices.size(), 1000U / 7) << "all that were sent";
  EXPECT_GT(slowest, leat::Nanos{0});
}

TEST_F(TilesTutorial, AConfigurationChangesWhatTheProgramSays) {
  // [config]
  const auto config = t::SpineConfig::parse(R"(
    [channels.quotes]
    size = 65536

    [tiles.trader]
    pauses = 0
    parks = false
  )",
                                            "market.toml");
  auto spine = t::Spine<Market>::open({.shared = false, .config = config.value()}).value();
  // [/config]
  EXPECT_EQ(spine.channel<"quotes">().ring().shape().slots, 65536U);
}

TEST_F(TilesTutorial, WhatIsRecordedIsPlayedBack) {
  const auto spine = [] { return t::Spine<Market>::open({.shared = false}).value(); };
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> again;
  leat::Nanos slowest{0};
  const t::TileOptions polite{.idle = {.yields = true}};
  const std::filesystem::path& folder = folder_;
  {
    // [record]
    t::SpineScope<Market> scope(spine(), {.drain_at_most = 5min});
    t::RecorderOptions recorder;
    recorder.log.folder = folder;     // quotes go into <folder>/quotes
    recorder.reliable_reader = true;  // the feed waits for the disk
    t::add_recorders(scope, recorder, polite);
    // [/record]
    scope.add(Feed{}, polite);
    scope.add(Trader{}, polite);
    scope.add(Book{&first, &slowest}, polite);
    EXPECT_EQ(scope.run().exit_code(), 0);
  }
  {
    // [replay]
    t::SpineScope<Market> scope(spine(), {.drain_at_most = 5min});
    scope.add(t::Replay<Market, "quotes">({.folder = folder / "quotes"}), polite);
    // [/replay]
    scope.add(Trader{}, polite);
    scope.add(Book{&again, &slowest}, polite);
    EXPECT_EQ(scope.run().exit_code(), 0);
  }
  EXPECT_EQ(again, first);
  EXPECT_FALSE(first.empty());
}

TEST_F(TilesTutorial, AValueIsKeptAsAWhole) {
  const std::filesystem::path& folder = folder_;
  // [value]
  const t::ValueStore<Quote> last(folder / "last");
  if (const auto saved = last.save("leat", {7, 101}); !saved) FAIL() << saved.error().message;
  const std::optional<Quote> found = last.load("leat").value();
  // [/value]
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->price, 101);
}

}  // namespace
