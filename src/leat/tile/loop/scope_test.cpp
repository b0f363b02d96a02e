#include <leat/tile/loop/scope.hpp>

#include <leat/base/os/affinity.hpp>
#include <leat/base/os/cpu_time.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace leat::tile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A tile made of what a test wants it to do.
struct Made {
  std::function<bool(TileContext&)> init = [](TileContext&) { return true; };
  std::function<void(TileContext&)> pass = [](TileContext&) {};
  std::function<void(TileContext&)> end = [](TileContext&) {};

  bool try_init(TileContext& tile) { return init(tile); }
  void loop(TileContext& tile) { pass(tile); }
  void teardown(TileContext& tile) { end(tile); }
};

/// Says nothing on standard error.
ScopeOptions quiet() {
  ScopeOptions options;
  options.on_failure = [](const TileFailure&) {};
  options.on_stuck = [](const StuckTile&) {};
  return options;
}

TEST(TileScope, ATileIsInitialisedUntilItIsReadyRunsAndIsTornDownOnce) {
  int inits = 0;
  int passes = 0;
  int ends = 0;
  TileScope scope(quiet());
  scope.add(Made{.init =
                     [&](TileContext&) {
                       EXPECT_EQ(passes, 0);
                       return ++inits == 3;
                     },
                 .pass =
                     [&](TileContext& tile) {
                       EXPECT_EQ(inits, 3);
                       if (++passes == 5) tile.request_stop("five are enough");
                     },
                 .end = [&](TileContext&) { ++ends; }},
            {.name = "t"});
  const ScopeOutcome outcome = scope.run();
  EXPECT_EQ(inits, 3);
  EXPECT_GE(passes, 5);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(outcome.stopped_by, "tile \"t\"");
  EXPECT_EQ(outcome.why, "five are enough");
  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_TRUE(outcome.drained);
}

TEST(TileScope, ATileThatIsStoppedBeforeItWasReadyIsTornDownOnceAndNeverRuns) {
  std::promise<void> began;
  bool said = false;
  int passes = 0;
  int ends = 0;
  TileScope scope(quiet());
  scope.add(Made{.init =
                     [&](TileContext&) {
                       if (!std::exchange(said, true)) began.set_value();
                       return false;
                     },
                 .pass = [&](TileContext&) { ++passes; },
                 .end = [&](TileContext&) { ++ends; }},
            {.name = "never ready"});
  scope.start();
  began.get_future().wait();
  scope.request_stop("test", "early");
  static_cast<void>(scope.wait());
  EXPECT_EQ(passes, 0);
  EXPECT_EQ(ends, 1);
}

TEST(TileScope, NobodyRunsBeforeAllAreReady) {
  std::atomic<bool> second_ready = false;
  std::atomic<bool> wrong = false;
  TileScope scope(quiet());
  scope.add(Made{.pass =
                     [&](TileContext& tile) {
                       if (!second_ready) wrong = true;
                       tile.request_stop("done");
                     }},
            {.name = "first"});
  int tries = 0;
  scope.add(Made{.init =
                     [&](TileContext&) {
                       if (++tries < 20) return false;
                       second_ready = true;
                       return true;
                     }},
            {.name = "second"});
  static_cast<void>(scope.run());
  EXPECT_FALSE(wrong);
}

TEST(TileScope, AStopReachesTilesThatAreParkedAndThoseThatWaitForTheirPeriod) {
  std::vector<std::promise<void>> passed(2);
  std::vector<int> passes(2, 0);
  TileScope scope(quiet());
  const auto tile = [&](std::size_t i, int at) {
    return Made{.pass = [&, i, at](TileContext&) {
      if (++passes[i] == at) passed[i].set_value();
    }};
  };
  const IdleOptions parks{
      .parks = true, .looks_before_park = 0, .park_at_most = std::chrono::hours(1)};
  scope.add(tile(0, 1), {.name = "parked", .idle = parks});
  scope.add(tile(1, 1), {.name = "slow", .min_loop = std::chrono::hours(1)});
  scope.start();
  for (auto& one : passed) one.get_future().wait();
  const auto parked = [&] {
    for (const TileFacts& facts : scope.board().tiles()) {
      if (facts.state != TileState::parked) return false;
    }
    return true;
  };
  while (!parked()) std::this_thread::yield();
  scope.request_stop("test", "enough");
  const ScopeOutcome outcome = scope.wait();
  EXPECT_TRUE(outcome.killed.empty());
  EXPECT_EQ(passes[1], 1 + 1) << "one more pass, that it ends after";
}

TEST(TileScope, SomebodyOutsideWakesATileThatIsParked) {
  std::atomic<int> letters = 0;
  std::promise<TileWaker> waker;
  bool said = false;
  TileScope scope(quiet());
  scope.add(
      Made{.pass =
               [&](TileContext& tile) {
                 if (!std::exchange(said, true)) waker.set_value(tile.waker());
                 if (letters.load() == 100) tile.request_stop("all came");
               }},
      {.name = "reader",
       .idle = {.parks = true, .looks_before_park = 0, .park_at_most = std::chrono::hours(1)}});
  scope.start();
  const TileWaker wakes = waker.get_future().get();
  for (int i = 0; i < 100; ++i) {
    letters.fetch_add(1);
    wakes.wake();
  }
  EXPECT_EQ(scope.wait().why, "all came");
}

TEST(TileScope, ATileThatThrowsStopsItsScopeAndTheOthersAreTornDown) {
  int ends = 0;
  bool ended_after_its_throw = false;
  TileFailure told;
  ScopeOptions options = quiet();
  options.on_failure = [&](const TileFailure& failure) { told = failure; };
  TileScope scope(std::move(options));
  scope.add(Made{.end = [&](TileContext&) { ++ends; }}, {.name = "bystander"});
  scope.add(Made{.pass = [](TileContext&) { throw std::runtime_error("no bytes"); },
                 .end = [&](TileContext&) { ended_after_its_throw = true; }},
            {.name = "thrower", .exit_code = 42});
  const ScopeOutcome outcome = scope.run();
  EXPECT_EQ(ends, 1);
  EXPECT_FALSE(ended_after_its_throw);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].tile, "thrower");
  EXPECT_EQ(outcome.failures[0].where, "loop");
  EXPECT_EQ(outcome.failures[0].what, "no bytes");
  EXPECT_THROW(std::rethrow_exception(outcome.failures[0].exception), std::runtime_error);
  EXPECT_EQ(outcome.exit_code(), 42);
  EXPECT_EQ(told.tile, "thrower");
}

TEST(TileScope, WhatIsThrownAtTheBeginningOrTheEndIsToldWithItsPlace) {
  for (const std::string where : {"try_init", "teardown"}) {
    TileScope scope(quiet());
    const auto thrower = [](TileContext&) { throw 7; };
    Made tile;
    tile.pass = [](TileContext& t) { t.request_stop("done"); };
    if (where == "try_init") {
      tile.init = [&](TileContext& t) {
        thrower(t);
        return true;
      };
    } else {
      tile.end = thrower;
    }
    scope.add(std::move(tile), {.name = "t"});
    const ScopeOutcome outcome = scope.run();
    ASSERT_EQ(outcome.failures.size(), 1U);
    EXPECT_EQ(outcome.failures[0].where, where);
    EXPECT_EQ(outcome.failures[0].what, "something that is no std::exception");
    EXPECT_EQ(outcome.exit_code(), 1);
  }
}

TEST(TileScope, ATileThatIsStuckIsNamedOnceAndKilledAfterItsGrace) {
  SettableClock clock;
  std::promise<void> entered;
  std::promise<void> leave;
  std::promise<StuckTile> stuck;
  int times = 0;
  std::promise<std::vector<StuckTile>> killed;
  ScopeOptions options = quiet();
  options.clock = &clock;
  options.stuck_after = seconds(1);
  options.drain_at_most = seconds(5);
  options.grace = seconds(10);
  options.on_stuck = [&](const StuckTile& tile) {
    if (++times == 1) stuck.set_value(tile);
  };
  options.on_kill = [&](const std::vector<StuckTile>& tiles) { killed.set_value(tiles); };
  TileScope scope(std::move(options));
  scope.add(Made{.pass =
                     [&](TileContext&) {
                       entered.set_value();
                       leave.get_future().wait();
                     }},
            {.name = "blocked"});
  scope.add(Made{}, {.name = "fine", .idle = {.yields = true}});
  scope.start();
  entered.get_future().wait();
  clock.advance(seconds(2));
  EXPECT_EQ(stuck.get_future().get().name, "blocked");
  scope.request_stop("test", "enough");
  auto future = killed.get_future();
  // The clock stands while the watchdog looks; each look is a chance to see the end of the grace.
  while (future.wait_for(milliseconds(1)) != std::future_status::ready) clock.advance(seconds(1));
  const auto tiles = future.get();
  ASSERT_EQ(tiles.size(), 1U);
  EXPECT_EQ(tiles[0].name, "blocked");
  leave.set_value();
  const ScopeOutcome outcome = scope.wait();
  EXPECT_EQ(outcome.exit_code(), kStuckExitCode);
  EXPECT_FALSE(outcome.drained);
  EXPECT_EQ(times, 1) << "once for one pass";
}

// The process is ended: in a child, that is.
TEST(TileScopeDeathTest, WithoutAHandlerTheProcessEndsAndSaysWhoWasStuck) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ScopeOptions options;
        options.drain_at_most = milliseconds(1);
        options.grace = milliseconds(1);
        TileScope scope(std::move(options));
        scope.add(Made{.pass =
                           [](TileContext& tile) {
                             tile.request_stop("now");
                             while (true) std::this_thread::yield();
                           }},
                  {.name = "endless"});
        static_cast<void>(scope.run());
      },
      testing::ExitedWithCode(kStuckExitCode), "tile \"endless\" has been in one pass");
}

TEST(TileScopeDeathTest, EachOfTheThreeSignalsEndsAllInOrder) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
    EXPECT_EXIT(
        {
          ScopeOptions options;
          options.handle_signals = true;
          TileScope scope(std::move(options));
          int ends = 0;
          bool sent = false;
          const auto count = [&](TileContext&) { ++ends; };
          scope.add(Made{.end = count},
                    {.name = "parked", .idle = {.parks = true, .looks_before_park = 0}});
          scope.add(Made{.pass =
                             [&](TileContext&) {
                               if (!std::exchange(sent, true)) kill(getpid(), signal);
                             },
                         .end = count},
                    {.name = "sender", .min_loop = std::chrono::hours(1), .on_caller = true});
          const ScopeOutcome outcome = scope.run();
          std::_Exit(ends == 2 && outcome.signal == signal && outcome.exit_code() == 0 ? 42 : 1);
        },
        testing::ExitedWithCode(42), "");
  }
}

TEST(TileScope, ATileMayRunOnItsCallersThread) {
  const std::string before = os::thread_name();
  std::thread::id where;
  std::string name;
  int passes = 0;
  TileScope scope(quiet());
  scope.add(Made{.pass =
                     [&](TileContext& tile) {
                       where = std::this_thread::get_id();
                       name = os::thread_name();
                       if (++passes == 3) tile.request_stop("done");
                     }},
            {.name = "foreground", .on_caller = true});
  scope.add(Made{}, {.name = "background", .idle = {.yields = true}});
  static_cast<void>(scope.run());
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(name, "foreground");
  EXPECT_EQ(os::thread_name(), before);
}

TEST(TileScope, ATileKeepsToItsCoreUnderItsName) {
  const int core = os::cpus_allowed().back();
  std::vector<int> cpus;
  std::string name;
  TileScope scope(quiet());
  scope.add(Made{.pass =
                     [&](TileContext& tile) {
                       cpus = os::cpus_allowed();
                       name = os::thread_name();
                       tile.request_stop("done");
                     }},
            {.name = "pinned", .core = core});
  const ScopeOutcome outcome = scope.run();
  EXPECT_EQ(cpus, std::vector<int>{core});
  EXPECT_EQ(name, "pinned");
  EXPECT_TRUE(outcome.warnings.empty());
}

TEST(TileScope, APlacementThatIsRefusedIsAWarningOrAFailureAsOneLikes) {
  for (const bool strict : {false, true}) {
    TileScope scope(quiet());
    scope.add(Made{.pass = [](TileContext& tile) { tile.request_stop("done"); }},
              {.name = "far", .core = 1'000'000, .strict_placement = strict});
    const ScopeOutcome outcome = scope.run();
    EXPECT_EQ(outcome.failures.empty(), !strict);
    const std::string said = strict ? outcome.failures.at(0).what : outcome.warnings.at(0);
    EXPECT_NE(said.find("CPU 1000000"), std::string::npos) << said;
    if (strict) {
      EXPECT_EQ(outcome.failures[0].where, "placement");
    }
  }
}

/// A clock that goes on by a millisecond each time it is looked at.
class LookedAtClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const noexcept override { return milliseconds(looks_.fetch_add(1)); }

 private:
  mutable std::atomic<int> looks_ = 0;
};

TEST(TileScope, APeriodIsKeptAndItsSleepIsNoWork) {
  const LookedAtClock clock;
  std::vector<Nanos> begins;
  ScopeOptions options = quiet();
  options.clock = &clock;
  options.stuck_after = Nanos{0};
  std::vector<TileFacts> facts;
  TileScope scope(std::move(options));
  scope.add(Made{.pass =
                     [&](TileContext& tile) {
                       if (begins.size() < 5) begins.push_back(tile.pass_began());
                       tile.mark_work();
                       if (begins.size() == 5) tile.request_stop("done");
                     },
                 .end = [&](TileContext& tile) { facts = tile.board().tiles(); }},
            {.name = "paced", .min_loop = milliseconds(10)});
  static_cast<void>(scope.run());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    EXPECT_GE(begins[i] - begins[i - 1], milliseconds(10));
  }
  ASSERT_EQ(facts.size(), 1U);
  // From its beginning to its end a pass is one look, here and there two with the watchdog's.
  EXPECT_LE(facts[0].busy_max, milliseconds(5));
  EXPECT_GE(facts[0].asleep, 4 * milliseconds(6));
}

// Passes that do something take 3 ms of the clock, the others 7: 30 of a hundred.
TEST(TileScope, FiguresAreTrueToALoadOfKnownSize) {
  SettableClock clock;
  int passes = 0;
  ScopeOptions options = quiet();
  options.clock = &clock;
  options.stuck_after = Nanos{0};
  TileScope scope(std::move(options));
  scope.add(Made{.pass =
                     [&](TileContext& tile) {
                       const bool works = ++passes % 2 == 0;
                       clock.advance(milliseconds(works ? 3 : 7));
                       if (works) tile.mark_work();
                       EXPECT_EQ(tile.did_work(), works);
                       if (passes == 1000) tile.request_stop("done");
                     }},
            {.name = "calibrated"});
  std::vector<TileFacts> last;
  scope.start();
  while (true) {
    last = scope.board().tiles();
    if (last.at(0).state == TileState::halt) break;
    std::this_thread::yield();
  }
  static_cast<void>(scope.wait());
  EXPECT_NEAR(last[0].utilisation(), 0.30, 0.006);
  EXPECT_EQ(last[0].passes, static_cast<std::uint64_t>(passes));
  EXPECT_EQ(last[0].busy_min, milliseconds(3));
  EXPECT_EQ(last[0].busy_max, milliseconds(3));
}

TEST(TileScope, OptionsOutOfTheirRangeAreRefusedWithTheRange) {
  const auto refuses = [](TileOptions options, const std::string& words) {
    options.name = "t";
    TileScope scope;
    try {
      scope.add(Made{}, options);
      ADD_FAILURE() << "not refused: " << words;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refuses({.idle = {.pauses = 256}}, "idle.pauses 256; found a range of 0 to 255");
  refuses({.niceness = 20}, "niceness 20; found a range of -20 to 19");
  refuses({.real_time = RealTime::fifo}, "priority 0; found a range of 1 to 99");
  refuses({.priority = 5}, "priority 5; found a range of 0 to 0");
  refuses({.min_loop = Nanos{-1}}, "min_loop -1");
  refuses({.exit_code = 0}, "exit_code 0; found a range of 1 to 125");
  TileScope scope;
  scope.add(Made{}, {.name = "t", .idle = {.pauses = 255}});
  EXPECT_THROW(TileScope().run(), UsageError) << "no tile";
  scope.add(Made{}, {.name = "here", .on_caller = true});
  EXPECT_THROW(scope.add(Made{}, {.name = "there", .on_caller = true}), UsageError);
  EXPECT_THROW(scope.start(), UsageError) << "the caller's thread is wanted";
}

struct Ticker {
  static constexpr std::string_view kName = "ticker";
  void loop(TileContext& tile) { tile.request_stop("done"); }
};
struct Nameless {
  void loop(TileContext& tile) { tile.request_stop("done"); }
};

TEST(TileScope, ATileWithoutANameIsCalledWhatItCallsItselfOrItsType) {
  EXPECT_EQ(default_tile_name<Ticker>(), "ticker");
  EXPECT_EQ(default_tile_name<Nameless>(), "Nameless");
  TileScope scope;
  scope.add(Ticker{});
  EXPECT_EQ(scope.run().stopped_by, "tile \"ticker\"");
}

TEST(TileScope, WhoIsDestroyedWhileItRunsEndsItsTiles) {
  int ends = 0;
  {
    TileScope scope(quiet());
    scope.add(Made{.end = [&](TileContext&) { ++ends; }}, {.name = "t", .idle = {.yields = true}});
    scope.start();
  }
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace leat::tile
