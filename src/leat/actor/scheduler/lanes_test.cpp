#include <leat/actor/scheduler/lanes.hpp>

#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/usage_error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::microseconds;

constexpr Group kFew{1};
constexpr Group kMany{2};

// An actor that works, by a clock that only work moves, until it is told to end.
JoinHandle<void> works(SettableClock& clock, Nanos each, Group group, bool& over) {
  return spawn({.group = group}, [&clock, each, &over] {
    while (!over) {
      clock.advance(each);
      yield_now();
    }
  });
}

double part(const Runtime& runtime, Group group) {
  const std::vector<Nanos> times = runtime.stats().time_of_group;
  const auto all = times[1] + times[2];
  return static_cast<double>(times[static_cast<std::size_t>(group)].count()) /
         static_cast<double>(all.count());
}

TEST(Groups, GetTheirSharesWhateverTheirTurnsAre) {
  SettableClock clock;
  Runtime runtime(Config::current_thread().clock(clock).group(kFew, 100).group(kMany, 300));
  runtime.run([&] {
    bool over = false;
    std::vector<JoinHandle<void>> actors;
    actors.push_back(works(clock, microseconds(70), kFew, over));
    for (int i = 0; i < 5; ++i) actors.push_back(works(clock, microseconds(20), kFew, over));
    for (int i = 0; i < 2; ++i) actors.push_back(works(clock, microseconds(50), kMany, over));
    while (clock.now() < std::chrono::milliseconds(100)) yield_now();
    over = true;
    for (auto& actor : actors) actor.join();
  });
  EXPECT_NEAR(part(runtime, kMany), 0.75, 0.02);
}

TEST(Groups, LeaveWhatTheyDoNotNeedToOthersAndGetNoneOfItLater) {
  SettableClock clock;
  Runtime runtime(Config::current_thread().clock(clock).group(kFew, 100).group(kMany, 100));
  runtime.run([&] {
    bool over = false;
    auto first = works(clock, microseconds(10), kFew, over);
    while (clock.now() < std::chrono::milliseconds(10)) yield_now();
    const Nanos alone = runtime.stats().time_of_group[1];
    EXPECT_GT(alone, std::chrono::milliseconds(9));
    auto second = works(clock, microseconds(10), kMany, over);
    while (clock.now() < std::chrono::milliseconds(20)) yield_now();
    over = true;
    first.join();
    second.join();
    const std::vector<Nanos> times = runtime.stats().time_of_group;
    EXPECT_NEAR(static_cast<double>((times[1] - alone).count()),
                static_cast<double>(times[2].count()), 1e5);
  });
}

TEST(Groups, AreInheritedAndMustBeKnown) {
  Runtime runtime(Config::current_thread().group(kFew, 10));
  runtime.run([&] {
    spawn({.group = kFew}, [] { spawn([] { EXPECT_EQ(this_actor()->group, 1); }).join(); }).join();
    EXPECT_EQ(this_actor()->group, 0);
    EXPECT_THROW((void)spawn({.group = kMany}, [] {}), UsageError);
  });
  EXPECT_THROW((void)Config::current_thread().group(Group{16}, 1), UsageError);
  EXPECT_THROW((void)Config::current_thread().group(kFew, 0), UsageError);
  EXPECT_TRUE(Runtime().stats().time_of_group.empty());
}

TEST(Groups, NobodyIsLostAmongSeveralWorkers) {
  Runtime runtime(Config::exact(2).group(kFew, 1).group(kMany, 1000));
  int done = runtime.run([] {
    std::vector<JoinHandle<int>> actors;
    for (int i = 0; i < 600; ++i) {  // more than a queue holds
      actors.push_back(spawn({.group = i % 2 == 0 ? kFew : kMany}, [i] {
        for (int step = 0; step < 3; ++step) {
          if (i % 5 == 0) sleep_for(microseconds(1));
          yield_now();
        }
        return 1;
      }));
    }
    int sum = 0;
    for (auto& actor : actors) sum += actor.join();
    return sum;
  });
  EXPECT_EQ(done, 600);
}

}  // namespace
}  // namespace leat::actor
