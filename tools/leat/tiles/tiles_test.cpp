#include "tiles/run.hpp"

#include <leat/base/fields.hpp>
#include <leat/core/segment/test_segments.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/spine/spine_scope.hpp>
#include "tiles/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

using namespace leat::tile;

struct Quote {
  std::uint64_t number = 0;
};
LEAT_FIELDS(Quote, number);

struct Market {
  Channel<"quotes", Quote, {.size = 64, .reliable = true, .wakeable = true}> quotes;
  Channel<"fast", Quote, {.size = 16}> fast;
};

struct Reader {
  std::uint64_t* count;
  std::uint64_t until;
  bool try_init(Adapter<Market>& tile) {
    tile.subscribe<"quotes">({.reliable = true});
    return true;
  }
  void loop(Adapter<Market>& tile) {
    tile.consume<"quotes">([&](const Quote&) {
      if (++*count == until) tile.request_stop("all came");
    });
  }
};

class TilesTest : public testing::Test {
 protected:
  template <class Parsed>
  static auto parsed(const Parsed& found) {
    if (const auto* failure = std::get_if<Failure>(&found)) {
      ADD_FAILURE() << failure->message;
    }
    return std::get<0>(found);
  }
  RunTiles tiles(std::vector<std::string_view> words) {
    words.push_back("--base");
    words.push_back(base_);
    return parsed(parse_tiles(words));
  }
  template <class Options>
  ExitCode run(ExitCode (*command)(const Options&, TilesWorld&), const Options& options) {
    out_.clear();
    err_.clear();
    TilesWorld world{clock_,
                     [this](std::string_view text) { out_ += text; },
                     [this](std::string_view text) { err_ += text; },
                     [](Nanos) { std::this_thread::yield(); },
                     [] { return false; },
                     [this] { return lines_-- > 0; }};
    return command(options, world);
  }
  [[nodiscard]] SpineOptions market() const { return {.app = "market", .base = folder_.path()}; }

  core::TestFolder folder_;
  std::string base_ = folder_.path().string();
  RealClock clock_;
  std::string out_;
  std::string err_;
  int lines_ = 0;
};

TEST_F(TilesTest, TilesAreListedWithTheirStateTheirTimersAndWhoIsSlow) {
  auto spine = Spine<Market>::open(market()).value();
  std::uint64_t count = 0;
  SpineScope<Market> scope(spine, {});
  scope.add(Reader{&count, 60}, {.name = "reader", .idle = {.parks = true}});
  scope.start();
  while (spine.board()->tiles().at(0).state < TileState::run) std::this_thread::yield();
  auto producer = spine.producer<"quotes">();
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_EQ(producer.produce({i}), Sent::yes);
  while (spine.board()->tiles().at(0).consumed < 50) std::this_thread::yield();

  EXPECT_EQ(run(run_tiles, tiles({"market"})), ExitCode::ok);
  EXPECT_NE(out_.find("market/reader"), std::string::npos) << out_;
  EXPECT_EQ(out_.find("slow consumer"), std::string::npos);
  EXPECT_EQ(run(run_tiles, tiles({"--json"})), ExitCode::ok);
  EXPECT_NE(out_.find("\"tile\": \"reader\""), std::string::npos) << out_;
  EXPECT_NE(out_.find("\"consumed\": 50"), std::string::npos) << out_;
  EXPECT_EQ(run(run_tiles, tiles({"timers", "--json"})), ExitCode::ok);
  EXPECT_NE(out_.find("\"message\": \"quotes\", \"what\": \"latency\", \"count\": 50"),
            std::string::npos)
      << out_;
  EXPECT_EQ(run(run_tiles, tiles({"watch", "--count=2", "--interval=1ms"})), ExitCode::ok);
  EXPECT_EQ(run(run_tiles, tiles({"halt", "market", "nobody"})), ExitCode::runtime);
  EXPECT_EQ(run(run_tiles, tiles({"halt", "market", "reader"})), ExitCode::ok);
  static_cast<void>(scope.wait());
  EXPECT_EQ(run(run_tiles, tiles({"elsewhere"})), ExitCode::runtime);
  EXPECT_NE(err_.find("asked for the application \"elsewhere\""), std::string::npos) << err_;
}

TEST_F(TilesTest, TheSlowestIsWhoLosesThenWhoIsFurthestBehind) {
  std::vector<TileLook> looks(3);
  for (std::size_t i = 0; i < looks.size(); ++i) {
    looks[i].facts.name = std::to_string(i);
    looks[i].facts.id.number = static_cast<std::uint16_t>(i + 1);
    looks[i].facts.is_alive = true;
    looks[i].facts.backlog_slots = 100;
  }
  EXPECT_EQ(slowest(looks, {}), nullptr);
  looks[0].facts.backlog = 30;
  looks[1].facts.backlog = 90;
  EXPECT_EQ(slowest(looks, {}), &looks[1]);
  looks[2].facts.lost = 1;
  EXPECT_EQ(slowest(looks, {}), &looks[2]);
  EXPECT_EQ(slowest(looks, looks), &looks[1]) << "what was lost before is over";
}

TEST_F(TilesTest, WhatIsRecordedFromARingIsPlayedBackIntoIt) {
  auto spine = Spine<Market>::open(market()).value();
  auto producer = spine.producer<"quotes">();
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(producer.produce({i}), Sent::yes);
  const std::string log = (folder_.path() / "log").string();
  const std::vector<std::string_view> record{"market/quotes", "--into", log,      "--from=oldest",
                                             "--count=40",    "--json", "--base", base_};
  EXPECT_EQ(run(run_record, parsed(parse_record(record))), ExitCode::ok) << err_;
  EXPECT_NE(out_.find("\"messages\": 40, \"lost\": 0"), std::string::npos) << out_;

  const std::vector<std::string_view> info{log, "--info", "--json"};
  EXPECT_EQ(run(run_replay, parsed(parse_replay(info))), ExitCode::ok) << err_;
  EXPECT_NE(out_.find("\"stream\": \"quotes\""), std::string::npos) << out_;
  EXPECT_NE(out_.find("\"messages\": 40, \"missing\": 0"), std::string::npos) << out_;
  lines_ = 2;
  const std::vector<std::string_view> steps{log, "--pace=steps", "--from=10"};
  EXPECT_EQ(run(run_replay, parsed(parse_replay(steps))), ExitCode::ok) << err_;
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2) << out_;
  EXPECT_TRUE(out_.starts_with("10  ")) << out_;

  auto consumer = spine.channel<"quotes">().ring().consumer({.reliable = true}).value();
  const std::vector<std::string_view> back{log, "--into", "market/quotes", "--base", base_};
  EXPECT_EQ(run(run_replay, parsed(parse_replay(back))), ExitCode::ok) << err_;
  EXPECT_EQ(out_, "played 40 messages\n");
  for (std::uint64_t i = 0; i < 40; ++i) {
    Envelope<Quote> got{};
    ASSERT_EQ(consumer.try_pop(got), queue::Pull::ok);
    EXPECT_EQ(got.message.number, i);
  }
  // A ring of one that many may produce into and that overwrites.
  const std::vector<std::string_view> other{log, "--into", "market/fast", "--base", base_};
  auto fast = spine.channel<"fast">().ring().consumer().value();
  EXPECT_EQ(run(run_replay, parsed(parse_replay(other))), ExitCode::ok) << err_;
  Envelope<Quote> got{};
  EXPECT_EQ(fast.try_pop(got), queue::Pull::lost);
  EXPECT_EQ(fast.try_pop(got), queue::Pull::ok);

  const std::string log2 = log + "2";
  const std::vector<std::string_view> late{"market/fast", "--into",     log2,     "--from=oldest",
                                           "--idle=1ms",  "--reliable", "--base", base_};
  EXPECT_EQ(run(run_record, parsed(parse_record(late))), ExitCode::runtime);
  const std::vector<std::string_view> none{"market/none", "--into", log, "--base", base_};
  EXPECT_EQ(run(run_record, parsed(parse_record(none))), ExitCode::runtime);
}

TEST(TileOptions, WhatIsWrongIsRefusedAndHelpIsGiven) {
  using Line = std::vector<std::string_view>;
  const auto refused = [](const auto& found, const std::string& words) {
    const auto* const failure = std::get_if<Failure>(&found);
    ASSERT_NE(failure, nullptr) << words;
    EXPECT_EQ(failure->code, ExitCode::usage);
    EXPECT_NE(failure->message.find(words), std::string::npos) << failure->message;
  };
  refused(parse_tiles(Line{"--colour"}), "unknown option \"--colour\"");
  refused(parse_tiles(Line{"a", "b"}), "unexpected word \"b\"");
  refused(parse_tiles(Line{"halt"}), "expects an application");
  refused(parse_tiles(Line{"watch", "--count", "0"}), "expects a number from 1 on, found \"0\"");
  refused(parse_tiles(Line{"--json=yes"}), "takes no value");
  refused(parse_record(Line{"quotes", "--into", "x"}), "expects one APP/NAME, found \"quotes\"");
  refused(parse_record(Line{"a/b"}), "expects --into FOLDER");
  refused(parse_record(Line{"a/b", "--into", "x", "--sync", "soon"}),
          "expects none, each, or a time");
  refused(parse_replay(Line{}), "expects a folder");
  refused(parse_replay(Line{"x", "--pace", "slow"}), "expects full or original or steps");
  refused(parse_replay(Line{"x", "--speed", "0"}), "a number above 0");
  EXPECT_TRUE(std::holds_alternative<ShowTileHelp>(parse_tiles(Line{"--help"})));
  EXPECT_TRUE(std::holds_alternative<ShowTileHelp>(parse_record(Line{"--help"})));
  EXPECT_TRUE(std::holds_alternative<ShowTileHelp>(parse_replay(Line{"--help"})));
}

}  // namespace
}  // namespace leat::tool
