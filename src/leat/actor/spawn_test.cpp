#include <leat/actor/spawn.hpp>

#include <leat/actor/local.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/scope.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/signals.hpp>
#include <leat/base/sanitizers.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& e) {
    return e.what();
  }
  return {};
}

// Each on a runtime in the caller's thread, on one thread and on two.
class Everywhere : public testing::TestWithParam<int> {
 protected:
  static Config config() {
    return GetParam() == 0 ? Config::current_thread()
                           : Config::exact(static_cast<std::size_t>(GetParam()));
  }
  Runtime runtime{config().on_lost_failure([this](Pid, std::string_view name, const Exit& exit) {
    const std::lock_guard lock(mutex);
    lost.push_back(std::string(name) + ": " + exit.text());
  })};
  std::mutex mutex;
  std::vector<std::string> lost;
};
INSTANTIATE_TEST_SUITE_P(Threads, Everywhere, testing::Values(0, 1, 2));

TEST_P(Everywhere, AValueMayBeMovableOnlyAndLarge) {
  runtime.run([] {
    EXPECT_EQ(*spawn([] { return std::make_unique<int>(5); }).join(), 5);
    std::array<int, 100> large{};
    large[99] = 3;
    EXPECT_EQ(spawn([large] { return large; }).join()[99], 3);
    auto owned = std::make_unique<int>(9);
    EXPECT_EQ(spawn([owned = std::move(owned)] { return *owned; }).join(), 9);
  });
}

TEST_P(Everywhere, WhatAnActorOwnsEndsOnceHoweverItEnds) {
  auto owned = std::make_shared<int>(0);
  runtime.run([&] {
    spawn([owned] {}).join();
    (void)spawn([owned] { throw 1; }).join_result();
    spawn([owned] { return owned; }).detach();
    (void)spawn([owned] { return owned; });
    auto sleeper = spawn([owned] { sleep_for(std::chrono::hours(1)); });
    yield_now();
    sleeper.cancel();
    EXPECT_EQ(sleeper.join_result().exit.kind(), ExitKind::cancelled);
  });
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_P(Everywhere, AnyExceptionIsKeptAndTold) {
  struct Strange {};
  runtime.run([] {
    EXPECT_EQ(spawn([] { throw 7; }).join_result().exit.text(), "int: 7");
    EXPECT_EQ(spawn([] { throw "text"; }).join_result().exit.text(), "const char*: text");
    EXPECT_EQ(spawn([] { throw std::runtime_error("why"); }).join_result().exit.text(),
              "std::runtime_error: why");
    EXPECT_NE(spawn([] { throw Strange(); }).join_result().exit.text().find("Strange"),
              std::string::npos);
    const Exit exit = spawn([] {
                        try {
                          throw std::runtime_error("inner");
                        } catch (...) {
                          std::throw_with_nested(std::logic_error("outer"));
                        }
                      })
                          .join_result()
                          .exit;
    try {
      exit.raise();
    } catch (const std::logic_error& outer) {
      EXPECT_THROW(std::rethrow_if_nested(outer), std::runtime_error);
    }
  });
}

TEST_P(Everywhere, AnActorMayFailByValue) {
  runtime.run([] {
    auto handle = spawn([] { return Exit::failed("by value"); });
    EXPECT_EQ(handle.join_result().exit.text(), "by value");
    EXPECT_THROW(spawn([] { return Exit::failed("x"); }).join(), Failure);
    spawn([] { return Exit::normal(); }).join();
  });
}

TEST_P(Everywhere, AThreadThatIsUnwoundByForceLosesItsActorOnly) {
#if LEAT_ASAN || LEAT_TSAN
  GTEST_SKIP() << "the sanitizer follows the thread's end";
#endif
  runtime.run([] {
    bool unwound = false;
    struct Sets {
      bool& flag;
      ~Sets() { flag = true; }
    };
    const Exit exit = spawn([&unwound] {
                        const Sets sets{unwound};
                        pthread_exit(nullptr);
                      })
                          .join_result()
                          .exit;
    EXPECT_EQ(exit.kind(), ExitKind::killed);
    EXPECT_TRUE(unwound);
    EXPECT_EQ(spawn([] { return 1; }).join(), 1);
  });
}

TEST_P(Everywhere, AFailureThatNobodyJoinsIsTold) {
  runtime.run([] {
    spawn({.name = "lonely"}, [] { throw std::runtime_error("oh"); }).detach();
    (void)spawn([] { throw std::runtime_error("seen"); }).join_result();
  });
  EXPECT_EQ(lost, std::vector<std::string>{"lonely: std::runtime_error: oh"});
}

TEST_P(Everywhere, AHandleJoinsOnce) {
  runtime.run([] {
    auto handle = spawn([] {});
    handle.join();
    EXPECT_FALSE(handle);
    EXPECT_NE(message_of([&] { handle.join(); }).find("join each handle once"), std::string::npos);
  });
}

TEST_P(Everywhere, APlainThreadSpawnsAndJoins) {
  if (GetParam() == 0) GTEST_SKIP() << "nobody runs it";
  auto handle = runtime.spawn([] { return 11; });
  EXPECT_EQ(handle.join(), 11);
  if (GetParam() == 1) return;  // the only worker would wait for the thread that waits for it
  runtime.run([this] {
    std::thread([this] { EXPECT_EQ(runtime.spawn([] { return 12; }).join(), 12); }).join();
  });
}

TEST(Spawn, OnAPlainThreadSaysWhatToDo) {
  EXPECT_NE(message_of([] { (void)spawn([] {}); }).find("use Runtime::spawn"), std::string::npos);
}

TEST(Runtime, InAnActorOfAnotherItSaysWhatToDo) {
  Runtime outer;
  Runtime inner;
  outer.run([&] {
    EXPECT_NE(message_of([&] { inner.run([] {}); }).find("the caller is an actor"),
              std::string::npos);
  });
  inner.run([] {});
}

TEST_P(Everywhere, RunWaitsForDetachedActorsButNotForDaemons) {
  bool done = false;
  runtime.run([&] {
    spawn([&done] {
      for (int i = 0; i < 10; ++i) yield_now();
      done = true;
    }).detach();
    spawn({.daemon = true}, [] {
      for (;;) yield_now();
    }).detach();
  });
  EXPECT_TRUE(done);
}

TEST_P(Everywhere, APidNamesOneActorForEver) {
  runtime.run([this] {
    auto first = spawn([] {});
    const Pid pid = first.pid();
    EXPECT_TRUE(runtime.is_alive(pid));
    first.join();
    for (int i = 0; i < 200; ++i) {
      auto next = spawn([] { yield_now(); });
      EXPECT_NE(next.pid(), pid);
      EXPECT_FALSE(runtime.is_alive(pid));
      EXPECT_FALSE(runtime.cancel(pid));
      next.join();
    }
  });
}

TEST_P(Everywhere, CancellationReachesWhoWaitsAndComesAgainIfSwallowed) {
  runtime.run([] {
    int seen = 0;
    auto handle = spawn([&seen] {
      for (int i = 0; i < 3; ++i) {
        try {
          sleep_for(std::chrono::hours(1));
        } catch (const std::exception&) {
          ADD_FAILURE() << "taken for an error";
        } catch (const Cancelled&) {
          ++seen;
        }
      }
      sleep_for(std::chrono::hours(1));
    });
    yield_now();
    EXPECT_TRUE(handle.cancel());
    EXPECT_EQ(handle.join_result().exit.kind(), ExitKind::cancelled);
    EXPECT_EQ(seen, 3);
  });
}

TEST_P(Everywhere, ADestructorMayWaitWhileItsActorIsCancelled) {
  runtime.run([] {
    bool waited = false;
    struct Waits {
      bool& flag;
      ~Waits() {
        spawn([] { yield_now(); }).join();
        flag = true;
      }
    };
    auto handle = spawn([&waited] {
      const Waits waits{waited};
      sleep_for(std::chrono::hours(1));
    });
    yield_now();
    handle.cancel();
    (void)handle.join_result();
    EXPECT_TRUE(waited);
  });
}

TEST_P(Everywhere, AShieldPutsCancellationOff) {
  runtime.run([] {
    bool finished = false;
    std::atomic<bool> asked = false;  // also where it runs beside us
    auto handle = spawn([&] {
      {
        const CancelShield shield;
        do yield_now();
        while (!asked.load());
        finished = true;
      }
      yield_now();
      ADD_FAILURE() << "it went on";
    });
    handle.cancel();
    asked.store(true);
    EXPECT_EQ(handle.join_result().exit.kind(), ExitKind::cancelled);
    EXPECT_TRUE(finished);
  });
}

TEST_P(Everywhere, AChildsEndIsToldToItsParentOnce) {
  runtime.run([] {
    const Pid good = [] {
      auto h = spawn_under(self(), [] {});
      return h.pid();
    }();
    const Signal first = next_signal();
    EXPECT_EQ(first.child, good);
    EXPECT_TRUE(first.exit.ok());
    spawn_under(self(), [] { throw std::runtime_error("x"); }).detach();
    EXPECT_EQ(next_signal().exit.text(), "std::runtime_error: x");
    EXPECT_FALSE(next_signal_until(now_here()));
  });
  EXPECT_TRUE(lost.empty());
}

TEST_P(Everywhere, AScopeLeavesNobodyBehind) {
  runtime.run([] {
    int count = 0;
    {
      Scope scope;
      for (int i = 0; i < 5; ++i) {
        scope.spawn([] { sleep_for(std::chrono::hours(1)); });
      }
      struct Counts {
        int& count;
        ~Counts() { ++count; }
      };
      scope.spawn([&count] {
        const Counts counts{count};
        sleep_for(std::chrono::hours(1));
      });
      yield_now();
      yield_now();
      yield_now();
    }
    Scope scope;
    scope.spawn([] { sleep_for(std::chrono::hours(1)); });
    scope.spawn([] { throw std::out_of_range("first"); });
    EXPECT_THROW(scope.join(), std::out_of_range);
  });
}

TEST_P(Everywhere, APinnedActorStaysOnItsWorker) {
  runtime.run([] {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 20; ++i) {
      handles.push_back(spawn({.pinned = true}, [] {
        const Worker* const home = this_worker();
        for (int n = 0; n < 50; ++n) {
          yield_now();
          EXPECT_EQ(this_worker(), home);
        }
      }));
    }
    for (auto& handle : handles) handle.join();
  });
}

TEST(Runtime, DestroyedItEndsItsDaemons) {
  bool ended = false;
  struct Sets {
    bool& flag;
    ~Sets() { flag = true; }
  };
  {
    Runtime runtime;
    runtime.run([&ended] {
      spawn({.daemon = true}, [&ended] {
        const Sets sets{ended};
        sleep_for(std::chrono::hours(1));
      }).detach();
      yield_now();
    });
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

TEST(Runtime, SeveralWithDifferentKnobsAtATime) {
  Runtime a(Config::exact(1).alloc_interval(1).timeslice_cycles(0));
  Runtime b(Config::exact(2).stack(StackClass::k16KiB));
  std::thread other([&a] { EXPECT_EQ(a.run([] { return spawn([] { return 1; }).join(); }), 1); });
  EXPECT_EQ(b.run([] { return spawn([] { return 2; }).join(); }), 2);
  other.join();
}

int deeper(int n) {
  volatile char frame[512] = {};
  frame[0] = static_cast<char>(n);
  return n <= 0 ? frame[0] : deeper(n - 1) + frame[0];
}

TEST(Faults, AnActorThatOverflowsItsStackEndsAloneIfAskedFor) {
#if LEAT_ASAN || LEAT_TSAN
  GTEST_SKIP() << "the sanitizer has its own handler";
#endif
  Runtime runtime(Config::current_thread().contain_faults(true));
  runtime.run([] {
    for (int i = 0; i < 20; ++i) {
      const Exit exit = spawn([] { return deeper(10'000'000); }).join_result().exit;
      EXPECT_EQ(exit.kind(), ExitKind::killed);
      EXPECT_EQ(exit.text(), "it overflowed its stack");
    }
    EXPECT_EQ(spawn([] { return 4; }).join(), 4);
  });
}

TEST(Faults, OtherwiseTheProcessEndsAndSaysWhoItWas) {
#if LEAT_ASAN || LEAT_TSAN
  GTEST_SKIP() << "the sanitizer has its own handler";
#endif
  EXPECT_DEATH(Runtime().run([] {
    (void)spawn({.name = "deep"}, [] { return deeper(10'000'000); }).join_result();
  }),
               "actor [0-9]+.[0-9]+ \"deep\"");
}

[[gnu::noinline]] void throws() { throw std::runtime_error("too far"); }
[[gnu::noinline]] void throws_where_it_must_not() noexcept { throws(); }

TEST(Faults, AnActorThatTerminatesEndsAloneIfAskedFor) {
  Runtime runtime(Config::current_thread().contain_faults(true));
  runtime.run([] {
    for (int i = 0; i < 20; ++i) {
      const Exit exit = spawn([] { throws_where_it_must_not(); }).join_result().exit;
      EXPECT_EQ(exit.kind(), ExitKind::killed);
      EXPECT_NE(exit.text().find("too far"), std::string::npos) << exit.text();
    }
    EXPECT_EQ(spawn([] { return 4; }).join(), 4);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TEST(Faults, OtherwiseTheProcessSaysWhoTerminatedIt) {
  EXPECT_DEATH(Runtime().run([] {
    spawn({.name = "boss"}, [] {
      spawn({.name = "deep", .parent = self()}, [] { throws_where_it_must_not(); }).join();
    }).join();
  }),
               "actor [0-9]+.[0-9]+ \"deep\", a child of [0-9]+.[0-9]+, with "
               "std::runtime_error: too far");
}

[[gnu::noinline]] std::thread::id thread_now() { return std::this_thread::get_id(); }
[[gnu::noinline]] int errno_now() { return errno; }

TEST(Runtime, HasActorsGoOnElsewhereAfterEachWaitIfAskedFor) {
  static const ActorLocal<int> local;
  Runtime runtime(Config::exact(2).migrate_always(true));
  runtime.run([] {
    std::vector<JoinHandle<void>> handles;
    for (int who = 1; who <= 4; ++who) {
      handles.push_back(spawn([who] {
        local.get() = who;
        const Pid mine = self();
        for (int i = 0; i < 20; ++i) {
          errno = who;
          const std::thread::id before = thread_now();
          yield_now();
          EXPECT_NE(thread_now(), before);
          EXPECT_EQ(errno_now(), who);
          EXPECT_EQ(self(), mine);
          EXPECT_EQ(local.get(), who);
        }
      }));
    }
    for (auto& handle : handles) handle.join();
  });
}

[[gnu::noinline]] int uses(std::size_t bytes) {
  volatile char room[1024];
  room[0] = 1;
  return bytes <= sizeof room ? room[0] : uses(bytes - sizeof room) + room[0];
}

TEST(Runtime, TellsHowDeepStacksOfEachKindWereUsed) {
  Runtime runtime(Config::current_thread().measure_stacks(1));
  runtime.run([] {
    for (int i = 0; i < 3; ++i) {
      (void)spawn([] { return uses(40'000); }).join();
      (void)spawn([] { return uses(10'000); }).join();  // on the same stack
    }
  });
  const std::vector<StackUse> all = runtime.stack_use();
  ASSERT_EQ(all.size(), 3U);  // and the first actor
  EXPECT_GT(all[0].most_bytes, 40'000U);
  EXPECT_EQ(all[0].actors, 3U);
  EXPECT_NE(all[0].kind.find("TellsHowDeep"), std::string::npos) << all[0].kind;
  EXPECT_GT(all[1].most_bytes, 10'000U);
  EXPECT_LT(all[1].most_bytes, 30'000U);
  EXPECT_TRUE(Runtime().stack_use().empty());
}

TEST(Runtime, GoesByATickIfAskedFor) {
  Runtime runtime(
      Config::current_thread().alloc_interval(1).timeslice_tick(std::chrono::microseconds(50)));
  runtime.run([] {
    bool other_ran = false;
    auto other = spawn([&] { other_ran = true; });
    while (!other_ran) checkpoint();  // neither waits nor yields
    other.join();
  });
  EXPECT_THROW((void)Config::current_thread().timeslice_tick(Nanos{0}), UsageError);
}

TEST(Config, RefusesWhatCannotBeAndSaysWhy) {
  EXPECT_NE(message_of([] { (void)Config::exact(0); }).find("current_thread"), std::string::npos);
  EXPECT_NE(message_of([] { (void)Config::exact(5000); }).find("5000"), std::string::npos);
  EXPECT_THROW((void)Config::current_thread().idle_spin(Nanos{-1}), UsageError);
}

TEST(Config, TakesKnobsFromTheEnvironment) {
  ::setenv("LEAT_ALLOC_INTERVAL", "17", 1);
  ::setenv("LEAT_TIMESLICE_CYCLES", "12345", 1);
  Config config = Config::current_thread();
  config.from_environment();
  EXPECT_EQ(config.alloc_interval(), 17U);
  EXPECT_EQ(config.timeslice_cycles(), 12345U);
  ::setenv("LEAT_ALLOC_INTERVAL", "many", 1);
  EXPECT_NE(message_of([] { Config::current_thread().from_environment(); }).find("\"many\""),
            std::string::npos);
  ::unsetenv("LEAT_ALLOC_INTERVAL");
  ::unsetenv("LEAT_TIMESLICE_CYCLES");
}

TEST(Time, StandsUntilNobodyCanRunAndThenJumps) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    const Nanos start = now_here();
    auto late = spawn([start] {
      sleep_for(std::chrono::hours(2));
      EXPECT_EQ(now_here() - start, std::chrono::hours(2));
    });
    sleep_for(milliseconds(5));
    EXPECT_EQ(now_here() - start, milliseconds(5));
    late.join();
    EXPECT_FALSE(late);
  });
}

TEST(Time, ADeadlineEndsWhatWaitsAndIsInherited) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    auto parent = spawn([] {
      const Deadline deadline(deadline_after(milliseconds(10)));
      auto child = spawn([] { sleep_for(std::chrono::hours(1)); });
      EXPECT_EQ(child.join_result().exit.kind(), ExitKind::cancelled);
    });
    const Exit exit = parent.join_result().exit;
    EXPECT_TRUE(exit.ok() || exit.kind() == ExitKind::cancelled);
    EXPECT_GE(now_here(), milliseconds(10));
    EXPECT_LT(now_here(), milliseconds(20));
  });
}

TEST(Time, AJoinGivesUpAtItsDeadlineAndMayBeTriedAgain) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    auto handle = spawn([] {
      sleep_for(milliseconds(100));
      return 3;
    });
    EXPECT_FALSE(handle.join_until(deadline_after(milliseconds(10))));
    EXPECT_EQ(now_here(), milliseconds(10));
    EXPECT_EQ(handle.join(), 3);
  });
}

}  // namespace
}  // namespace leat::actor
