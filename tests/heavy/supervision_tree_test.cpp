// A tree of very many children that starts, is dumped, and stops in order; and a supervisor whose children fail
// very often.
#include <leat/actor.hpp>

#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/os/memory.hpp>
#include <leat/base/sanitizers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leat::actor {
namespace {

// LEAT_ACTORS says how many: ./dev test --full sets it to a million.
std::uint64_t children() {
  const char* const text = std::getenv("LEAT_ACTORS");
  const std::uint64_t wanted = text == nullptr ? 100'000 : std::strtoull(text, nullptr, 10);
  if (LEAT_TSAN || LEAT_ASAN) return std::min<std::uint64_t>(wanted, 5'000);
  return std::min<std::uint64_t>(wanted, StackRegion::process().slots_max() - 1'100);
}

double seconds_since(Nanos begin) {
  return static_cast<double>((RealClock().now() - begin).count()) / 1e9;
}

// When each child ended, counted; those of one branch, in the order of starting.
using Ends = std::vector<std::uint64_t>;

ChildSpec leaf(Ends& ends, std::uint64_t& clock, std::uint64_t number) {
  ChildSpec spec;
  spec.run = [&ends, &clock, number] {
    const struct Ended {
      Ends& ends;
      std::uint64_t& clock;
      std::uint64_t number;
      ~Ended() { ends[number] = ++clock; }
    } says{ends, clock, number};
    sleep_for(std::chrono::hours(1000));
  };
  return spec;
}

TEST(SupervisionTree, StartsIsDumpedAndStopsInOrder) {
  const std::uint64_t n = children();
  const std::uint64_t branches = std::min<std::uint64_t>(1'000, n / 10 + 1);
  Ends ends(n, 0);
  std::uint64_t clock = 0;
  Runtime runtime(Config::current_thread().stack(StackClass::k16KiB));
  runtime.run([&] {
    const std::uint64_t before = os::current_rss_bytes();
    Nanos begin = RealClock().now();
    std::vector<ChildSpec> specs;
    for (std::uint64_t branch = 0; branch < branches; ++branch) {
      std::vector<ChildSpec> leaves;
      for (std::uint64_t i = branch; i < n; i += branches) leaves.push_back(leaf(ends, clock, i));
      specs.push_back(
          supervisor_child({.name = "branch " + std::to_string(branch)}, std::move(leaves)));
    }
    const Supervisor tree = Supervisor::start({.name = "tree"}, std::move(specs));
    const auto waiting = [](const Census& census) {
      return static_cast<std::uint64_t>(std::ranges::count_if(census, &ActorReport::waits));
    };
    while (waiting(take_census()) < n + branches + 1) yield_now();  // all but this one
    std::printf("%llu children of %llu supervisors: started in %.2f s, %.0f bytes each\n",
                static_cast<unsigned long long>(n), static_cast<unsigned long long>(branches),
                seconds_since(begin),
                static_cast<double>(os::current_rss_bytes() - before) / static_cast<double>(n));

    begin = RealClock().now();
    const Census census = take_census();
    const std::string text = tree_text(census);
    std::printf("as text in %.2f s, %zu bytes\n", seconds_since(begin), text.size());
    EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(text, '\n')), n + branches + 2);
    begin = RealClock().now();
    const std::string json = tree_json(census);
    std::printf("as JSON in %.2f s, %zu bytes\n", seconds_since(begin), json.size());
    EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(json, '{')), n + branches + 2);
    begin = RealClock().now();
    const Census with_calls = take_census(Detail::calls);
    std::printf("with the calls of all in %.2f s\n", seconds_since(begin));
    EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count_if(
                  with_calls, [](const ActorReport& a) { return !a.calls.empty(); })),
              n + branches + 2);

    begin = RealClock().now();
    EXPECT_EQ(tree.stop().kind(), ExitKind::shutdown);
    std::printf("stopped in %.2f s\n", seconds_since(begin));
  });
  // Branches from the last on, and in each the children from the last on.
  std::uint64_t at = 0;
  bool in_order = true;
  for (std::uint64_t branch = branches; branch-- > 0;) {
    const std::uint64_t in_branch = (n - branch + branches - 1) / branches;
    for (std::uint64_t i = in_branch; i-- > 0;) {
      in_order = in_order && ends[branch + i * branches] == ++at;
    }
  }
  EXPECT_TRUE(in_order);
  EXPECT_EQ(at, n);
}

TEST(SupervisionTree, OutlivesAsManyFailuresAsThereAre) {
  const std::uint64_t failures = children();
  std::uint64_t starts = 0;
  std::uint64_t restarts = 0;
  Runtime runtime(Config::exact(1).on_lost_failure([](Pid, std::string_view, const Exit&) {}));
  const Nanos begin = RealClock().now();
  runtime.run([&] {
    auto done = oneshot<bool>();
    auto promise = std::make_shared<Promise<bool>>(std::move(done.promise));
    const Supervisor tree = Supervisor::start(
        {.intensity = 1'000'000'000}, {{.name = "child", .run = [&starts, failures, promise] {
                                          if (++starts <= failures) {
                                            throw std::runtime_error("again");
                                          }
                                          (void)promise->send(true);
                                          sleep_for(std::chrono::hours(1000));
                                        }}});
    EXPECT_TRUE(done.answer.receive());
    restarts = tree.children().at(0).restarts;
    (void)tree.stop();
  });
  EXPECT_EQ(starts, failures + 1);
  EXPECT_EQ(restarts, failures);
  std::printf("%llu failures by exceptions, each restarted, in %.2f s\n",
              static_cast<unsigned long long>(failures), seconds_since(begin));
}

#if !LEAT_TSAN && !LEAT_ASAN
[[gnu::noinline]] int endless(int depth) {
  if (depth < 0) return 0;
  volatile int here[64] = {depth};
  const int below = endless(depth + 1);
  return below + here[depth % 64];
}

TEST(SupervisionTree, OutlivesAThousandOverflowsInARow) {
  std::uint64_t killed = 0;
  Runtime runtime(Config::exact(1).stack(StackClass::k16KiB).contain_faults(true));
  runtime.run([&] {
    for (int i = 0; i < 1'000; ++i) {
      auto child = spawn([] { return endless(0); });
      const Monitor watch = monitor(child.pid());
      child.detach();
      killed += await_end_of(watch).kind() == ExitKind::killed ? 1 : 0;
    }
  });
  EXPECT_EQ(killed, 1'000U);
}
#endif

}  // namespace
}  // namespace leat::actor
