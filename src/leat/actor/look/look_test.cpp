#include <leat/actor/look/census.hpp>

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/names.hpp>
#include <leat/actor/supervise/supervisor.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/sanitizers.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::hours;

struct Ping {};
struct Get {
  using Reply = int;
};

void idle() { sleep_for(hours(1000)); }
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Census, TheTreeSaysWhoIsUnderWhomAndWhatTheyWaitFor) {
  Runtime runtime(Config::virtual_time());
  runtime.run([] {
    auto tree = Supervisor::start(
        {.name = "top"},
        {{.name = "sleeper", .run = idle},
         {.name = "listener",
          .run =
              [] {
                register_name("ears");
                (void)receive<Get>();
              }},
         supervisor_child({.name = "inner"}, {{.name = "leaf \"quoted\"", .run = idle}})});
    sleep_for(std::chrono::milliseconds(1));
    (void)send("ears", Ping{});
    sleep_for(std::chrono::milliseconds(1));  // it looks at what it does not want
    const Census census = take_census();
    EXPECT_EQ(census.size(), 6U);
    const std::string text = tree_text(census);
    EXPECT_TRUE(contains(text, "  1.1 \"top\": waits for a message to it")) << text;
    EXPECT_TRUE(contains(text, "\"sleeper\": sleeps")) << text;
    EXPECT_TRUE(contains(text, "\"listener\" (ears): waits for a message to it, 1 messages"))
        << text;
    EXPECT_TRUE(contains(text, "      ")) << text;
    EXPECT_TRUE(contains(text, ": runs")) << text;
    const std::string json = tree_json(census);
    EXPECT_TRUE(contains(json, "\"name\":\"leaf \\\"quoted\\\"\"")) << json;
    EXPECT_TRUE(contains(json, "\"children\":[\n{\"pid\"")) << json;
    EXPECT_EQ(std::count(json.begin(), json.end(), '['), std::count(json.begin(), json.end(), ']'));
    EXPECT_EQ(std::count(json.begin(), json.end(), '{'), 6);
    EXPECT_EQ(std::count(json.begin(), json.end(), '}'), 6);
    EXPECT_TRUE(find_stuck(census).empty());
    (void)tree.stop();
  });
  EXPECT_TRUE(take_census(runtime).empty());
}

[[gnu::noinline]] void deep(int levels) {
  if (levels == 0) {
    (void)receive<Get>();
  } else {
    deep(levels - 1);
  }
  asm volatile("");  // no call is the last thing it does
}

TEST(Census, SaysWhichCallsAreUnderWayInWhoWaits) {
  for (const std::size_t threads : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    Runtime runtime(threads == 0 ? Config::current_thread() : Config::exact(threads));
    auto waits = runtime.spawn({.name = "waits"}, [] { deep(6); });
    const auto look = [&](const Census& census) {
      std::size_t calls = 0;
      for (const ActorReport& actor : census) {
        if (actor.name == "waits") calls = actor.calls.size();
      }
      return calls;
    };
    runtime.run([&] {
      // Of who runs on another worker, or lies in a queue, it may know less.
      while (look(take_census(Detail::calls)) < 9) yield_now();
      const std::string text = tree_text(take_census(Detail::calls));
      EXPECT_TRUE(contains(text, "\"waits\": waits for a message to it")) << text;
      EXPECT_TRUE(contains(text, " reductions\n    ")) << text;
      // It goes on as if nobody had looked.
      (void)send(waits.pid(), Get{});
    });
    if (threads != 0) {
      EXPECT_TRUE(take_census(runtime, Detail::calls).empty());
    }
    waits.join();
  }
}

// The looker holds who waits for a moment: a wake that comes then is not lost.
TEST(Census, LosesNoWakeOfWhoIsLookedAt) {
  Runtime runtime(Config::exact(2));
  runtime.run([] {
    auto echo = spawn([] {
      for (int i = 0; i < 2000; ++i) {
        const Pid from = receive<Pid>();
        (void)send(from, i);
      }
    });
    auto asks = spawn([to = echo.pid()] {
      for (int i = 0; i < 2000; ++i) {
        (void)send(to, self());
        EXPECT_EQ(receive<int>(), i);
      }
    });
    while (!asks.is_done()) {
      (void)take_census(Detail::calls);
      yield_now();
    }
    asks.join();
    echo.join();
  });
}

// On two threads others look while actors run; whoever is stuck stays so, and is let go at the end.
TEST(Stuck, APairThatWaitsForEachOtherIsNamedWithWhatItWaitsFor) {
  for (const int threads : {0, 2}) {
    Runtime runtime(threads == 0 ? Config::current_thread() : Config::exact(2));
    runtime.run([] {
      Mutex a;
      Mutex b;
      auto one = spawn({.name = "one"}, [&] {
        const std::lock_guard first(a);
        while (b.try_lock()) {
          b.unlock();
          yield_now();
        }
        const std::lock_guard second(b);
      });
      auto two = spawn({.name = "two"}, [&] {
        const std::lock_guard first(b);
        while (a.try_lock()) {
          a.unlock();
          yield_now();
        }
        const std::lock_guard second(a);
      });
      std::vector<Stuck> stuck;
      while ((stuck = find_stuck(take_census())).empty()) yield_now();
      ASSERT_EQ(stuck.size(), 1U);
      EXPECT_EQ(stuck[0].kind, Stuck::Kind::deadlock);
      EXPECT_EQ(stuck[0].actors.size(), 2U);
      EXPECT_TRUE(contains(stuck[0].text, "\"one\": waits for a mutex that ")) << stuck[0].text;
      EXPECT_TRUE(contains(stuck[0].text, "\"two\": waits for a mutex that ")) << stuck[0].text;
      one.cancel();
      (void)one.join_result();
      two.join();
    });
  }
}

TEST(Stuck, ARingOfQuestionsIsADeadlock) {
  Runtime runtime;
  runtime.run([] {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 3; ++i) {
      handles.push_back(spawn([] {
        const Pid next = receive<Pid>();
        (void)ask(next, Get{});  // everybody asks, nobody answers
      }));
    }
    for (std::size_t i = 0; i < 3; ++i) (void)send(handles[i].pid(), handles[(i + 1) % 3].pid());
    std::vector<Stuck> stuck;
    while ((stuck = find_stuck(take_census())).empty()) yield_now();
    EXPECT_EQ(stuck[0].actors.size(), 3U);
    EXPECT_TRUE(contains(stuck[0].text, "waits for an answer of ")) << stuck[0].text;
    for (auto& handle : handles) handle.cancel();
    for (auto& handle : handles) (void)handle.join_result();
  });
}

TEST(Stuck, AnActorThatWaitsForNobodyIsALeak) {
  Runtime runtime(Config::exact(1));
  auto ends = channel<int>();
  auto leaked = runtime.spawn({.name = "leaked"}, [from = std::move(ends.receiver)]() mutable {
    return from.receive().value_or(-1);
  });
  std::vector<Stuck> stuck;
  while ((stuck = find_stuck(take_census(runtime))).empty()) std::this_thread::yield();
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_EQ(stuck[0].kind, Stuck::Kind::leak);
  EXPECT_EQ(stuck[0].actors[0], leaked.pid());
  EXPECT_TRUE(contains(stuck[0].text, "\"leaked\": waits for a message on a channel"))
      << stuck[0].text;
  (void)ends.sender.send(5);
  EXPECT_EQ(leaked.join(), 5);
}

TEST(Stall, AnActorThatDoesNotLetOthersRunIsNamedWithItsCalls) {
#if LEAT_TSAN
  GTEST_SKIP() << "under the sanitizer a signal waits until the thread calls the C library";
#endif
  struct tells : Edge {};  // the watch's thread -> the actor: what was told is whole
  Atomic<bool> told{false};
  Stall stall;
  Runtime runtime(Config::exact(1).on_stall(std::chrono::milliseconds(5), [&](const Stall& what) {
    if (told.load_relaxed()) return;  // ours alone
    stall = what;
    told.store_release(true, tells{});
  }));
  Pid greedy;
  runtime.run([&] {
    auto handle = spawn({.name = "greedy"}, [&] {
      while (!told.load_acquire(tells{})) {
      }
    });
    greedy = handle.pid();
    handle.join();
  });
  EXPECT_EQ(stall.pid, greedy);
  EXPECT_EQ(stall.name, "greedy");
  EXPECT_EQ(stall.worker, 0U);
  EXPECT_GE(stall.time, std::chrono::milliseconds(5));
  EXPECT_GT(stall.calls.size(), 2U);
}

TEST(Stall, NeedsTheWorldsTime) {
  EXPECT_THROW(Config::virtual_time().on_stall(std::chrono::seconds(1), [](const Stall&) {}),
               UsageError);
}

}  // namespace
}  // namespace leat::actor
