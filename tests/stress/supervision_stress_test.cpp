// Failures by the thousand, on two workers: the process lives, each is told to its supervisor, none twice. More of
// them by LEAT_FAILURES and LEAT_CHILDREN, for those who have the time.
#include <leat/actor/look/census.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/signals.hpp>
#include <leat/actor/supervise/links.hpp>
#include <leat/actor/supervise/supervisor.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/sanitizers.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::stress {
namespace {

using namespace leat::actor;

std::uint64_t number_of(const char* name, std::uint64_t usual) {
  const char* const text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

class SupervisionStress : public testing::TestWithParam<int> {
 protected:
  static Config config() {
    return (GetParam() == 0 ? Config::current_thread()
                            : Config::exact(static_cast<std::size_t>(GetParam())))
        .on_lost_failure([](Pid, std::string_view, const Exit&) {});
  }
};
// One thread first: a failure there is the program's.
INSTANTIATE_TEST_SUITE_P(Threads, SupervisionStress, testing::Values(0, 2));

SupervisorOptions patient() {
  SupervisorOptions options;
  options.intensity = 1'000'000'000;
  options.period = std::chrono::milliseconds(1);
  return options;
}

TEST_P(SupervisionStress, EachThrownExceptionIsToldAndItsChildStartedAnew) {
  const std::uint64_t count = number_of("LEAT_FAILURES", 2000);
  Runtime runtime(config());
  runtime.run([count] {
    auto starts = std::make_shared<Atomic<std::uint64_t>>(0);
    ChildSpec spec;
    spec.name = "fails";
    spec.run = [starts, count] {
      if (starts->fetch_add_relaxed(1) < count) throw std::runtime_error("once more");
      receive<Pid>();
    };
    const auto tree = Supervisor::start(patient(), {spec});
    while (starts->load_relaxed() <= count) sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(tree.children()[0].restarts, count);
    EXPECT_EQ(starts->load_relaxed(), count + 1);
    (void)tree.stop();
  });
}

TEST_P(SupervisionStress, AThousandOverflowsInARowAreSurvivedAndTold) {
#if LEAT_ASAN || LEAT_TSAN
  GTEST_SKIP() << "the sanitizer looks at the stack that overflows";
#endif
  Runtime runtime(config().contain_faults(true));
  runtime.run([] {
    struct Deep {
      static std::uint64_t down(std::uint64_t n) {
        volatile std::uint64_t block[64] = {n};
        return block[0] + (n == 0 ? 0 : down(n + 1)) + block[n % 64];
      }
    };
    auto starts = std::make_shared<Atomic<std::uint64_t>>(0);
    ChildSpec spec;
    spec.name = "deep";
    spec.run = [starts] {
      if (starts->fetch_add_relaxed(1) < 1000) (void)Deep::down(1);
      receive<Pid>();
    };
    const auto tree = Supervisor::start(patient(), {spec});
    while (starts->load_relaxed() <= 1000) sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(tree.children()[0].restarts, 1000U);
    (void)tree.stop();
  });
}

TEST_P(SupervisionStress, MonitorsOnSeveralWorkersTellOnceOrNever) {
  Runtime runtime(config());
  runtime.run([] {
    std::vector<JoinHandle<int>> watchers;
    for (int i = 0; i < 8; ++i) {
      watchers.push_back(spawn([] {
        int told = 0;
        for (int round = 0; round < 200; ++round) {
          auto target = spawn([] { yield_now(); });
          auto kept = monitor(target.pid());
          auto dropped = monitor(target.pid());
          if (round % 2 == 0) yield_now();
          dropped.demonitor();
          target.join();
          const auto down = receive<Down>();
          told += down.monitor == kept.id() ? 1 : 1000;
        }
        return told;
      }));
    }
    for (auto& watcher : watchers) EXPECT_EQ(watcher.join(), 200);
  });
}

TEST_P(SupervisionStress, LinkedPairsEndTogether) {
  Runtime runtime(config());
  runtime.run([] {
    for (int round = 0; round < 300; ++round) {
      auto first = spawn([round] {
        auto second = spawn_linked([round] {
          if (round % 3 == 0) yield_now();
          throw round;
        });
        sleep_for(std::chrono::hours(1));
      });
      EXPECT_EQ(first.join_result().exit.text(), "int: " + std::to_string(round));
    }
  });
}

TEST_P(SupervisionStress, ATreeOfManyChildrenStartsIsShownAndStops) {
  const std::uint64_t count = number_of("LEAT_CHILDREN", 1000);
  Runtime runtime(config());
  runtime.run([count] {
    const auto tree = Supervisor::start({});
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(tree.start_child({.run = [] { receive<Pid>(); }, .restart = Restart::temporary}));
    }
    EXPECT_EQ(tree.count().active, count);
    const Census census = take_census();
    EXPECT_EQ(census.size(), count + 2);
    EXPECT_GT(tree_text(census).size(), count);
    EXPECT_GT(tree_json(census).size(), count);
    EXPECT_EQ(tree.stop().kind(), ExitKind::shutdown);
    EXPECT_EQ(take_census().size(), 1U);
  });
}

}  // namespace
}  // namespace leat::stress
