#include <leat/actor/supervise/shutdown.hpp>

#include <leat/actor/mailbox/post.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/sim/simulation.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/actor/supervise/supervisor.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using Names = std::vector<std::string>;

// Waits for ever, and says that it was ended.
auto lasting(Names& ends, std::string name) {
  return [&ends, name = std::move(name)] {
    const struct Ends {
      Names& ends;
      const std::string& name;
      ~Ends() { ends.push_back(name); }
    } says{ends, name};
    sleep_for(std::chrono::hours(1000));
  };
}

void tree(Names& ends) {
  spawn({.name = "store"}, lasting(ends, "store")).detach();
  spawn({.name = "log", .daemon = true}, lasting(ends, "log")).detach();
  (void)Supervisor::start({.name = "clients"},
                          {{.name = "first", .run = lasting(ends, "first")},
                           {.name = "second", .run = lasting(ends, "second")}});
  spawn({.name = "door"}, lasting(ends, "door")).detach();
  spawn(lasting(ends, "nameless")).detach();
  yield_now();
}
const Names kOrder = {"nameless", "door", "second", "first", "store", "log"};

TEST(Shutdown, EndsAllInTheReverseOrderOfStartingAndDaemonsLast) {
  Names ends;
  const SimulationReport simulated = simulate({.workers = 1, .switches = 0}, [&] {
    tree(ends);
    sleep_for(std::chrono::milliseconds(1));
    const ShutdownReport report = shut_down_others();
    EXPECT_TRUE(report.ok()) << report.text();
    EXPECT_EQ(report.told, 5U);  // children of a supervisor are ended by it
    EXPECT_EQ(report.killed, 0U);
  });
  EXPECT_TRUE(simulated.ok) << simulated.failure;
  EXPECT_EQ(ends, kOrder);
}

TEST(Shutdown, IsAskedForByAPlainThreadAlso) {
  Runtime runtime(Config::virtual_time());
  Names ends;
  (void)runtime.spawn({.name = "main"}, [&] {
    tree(ends);  // some of which ends when its parent does
    sleep_for(std::chrono::hours(1000));
  });
  const ShutdownReport report = runtime.shut_down({.drain = std::chrono::milliseconds(1)});
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_EQ(ends, kOrder);
  runtime.run([] {});  // it can be used again
}

TEST(Shutdown, HoldsInEachSchedule) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Names ends;
    const SimulationReport report = simulate({.seed = seed, .workers = 2}, [&] {
      tree(ends);
      sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(shut_down_others().ok());
    });
    EXPECT_TRUE(report.ok) << report.failure;
    EXPECT_EQ(ends, kOrder) << seed;
  }
}

TEST(Shutdown, WhoFinishesByItselfIsLeftToItWhileItDrains) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    auto works = spawn({.name = "works"}, [] {
      sleep_for(std::chrono::milliseconds(50));
      return 7;
    });
    const ShutdownReport report = shut_down_others({.drain = std::chrono::milliseconds(100)});
    EXPECT_EQ(report.told, 0U);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(works.join(), 7);
  });
}

TEST(Shutdown, GraceThenKillThenItIsSaidWhoGoesOnAndWhere) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    const Nanos begin = now_here();
    // Gets its exits as letters, and does not read them.
    auto deaf = spawn({.name = "deaf"}, [] {
      trap_exit(true);
      for (;;) sleep_for(std::chrono::hours(1));
    });
    auto stubborn = spawn({.name = "stubborn"}, [] {
      const CancelShield whole;
      (void)receive<int>();
    });
    yield_now();
    const ShutdownReport report = shut_down_others({.grace = std::chrono::milliseconds(300),
                                                    .each = std::chrono::milliseconds(100),
                                                    .patience = std::chrono::milliseconds(50)});
    EXPECT_EQ(now_here() - begin, std::chrono::milliseconds(350));
    EXPECT_EQ(report.told, 2U);
    EXPECT_EQ(report.killed, 2U);
    EXPECT_EQ(deaf.join_result().exit.kind(), ExitKind::killed);
    ASSERT_EQ(report.stragglers.size(), 1U);
    EXPECT_EQ(report.stragglers[0].name, "stubborn");
    EXPECT_GT(report.stragglers[0].calls.size(), 2U);
    EXPECT_NE(report.text().find("killed 2, 1 goes on\n"), std::string::npos) << report.text();
    EXPECT_NE(report.text().find("\"stubborn\": waits for a message to it, is told to end"),
              std::string::npos)
        << report.text();
    (void)send(stubborn.pid(), 1);
    (void)stubborn.join_result();
  });
}

TEST(Shutdown, WhoIsStartedMeanwhileIsToldToo) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    spawn([] {
      const struct Restarts {
        ~Restarts() {
          spawn({.name = "again"}, [] { sleep_for(std::chrono::hours(1)); }).detach();
        }
      } restarts;
      sleep_for(std::chrono::hours(1));
    }).detach();
    yield_now();
    const ShutdownReport report = shut_down_others();
    EXPECT_TRUE(report.ok()) << report.text();
    EXPECT_EQ(report.told, 2U);
  });
}

// An actor of one worker never waits; the report comes from the other one, with its calls.
TEST(Shutdown, OneThatNeverWaitsDoesNotHoldUpTheReport) {
  Runtime runtime(Config::exact(2));
  struct go : Edge {};  // the test -> the busy actor
  Atomic<bool> over{false};
  Atomic<bool> runs{false};
  auto busy = runtime.spawn({.name = "busy"}, [&] {
    const NoPreempt whole;
    runs.store_release(true, go{});
    while (!over.load_acquire(go{})) {
    }
  });
  while (!runs.load_acquire(go{})) std::this_thread::yield();
  const ShutdownReport report = runtime.shut_down({.grace = std::chrono::milliseconds(2),
                                                   .each = std::chrono::milliseconds(1),
                                                   .patience = std::chrono::milliseconds(1)});
  over.store_release(true, go{});
  ASSERT_EQ(report.stragglers.size(), 1U);
  EXPECT_EQ(report.stragglers[0].pid, busy.pid());
  busy.join();
}

TEST(Shutdown, TimesBelowZeroAndCallsFromTheWrongPlaceAreRefused) {
  Runtime runtime;
  EXPECT_THROW((void)shut_down_others(), UsageError);
  EXPECT_THROW((void)runtime.shut_down({.grace = Nanos{-1}}), UsageError);
  runtime.run([&] { EXPECT_THROW((void)runtime.shut_down(), UsageError); });
}

}  // namespace
}  // namespace leat::actor
