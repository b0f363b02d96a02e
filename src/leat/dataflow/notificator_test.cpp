#include <leat/dataflow/notificator.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::World;

using Time = std::uint64_t;
using Pair = progress::Product<std::uint64_t, std::uint64_t>;

// A notificator, and capabilities to ask it with.
template <class T>
struct Asking {
  World world;
  Capability<T> capability;
  Notificator<T> notificator;

  Asking() {
    capability = world[0].template dataflow<T>(
        [](auto& scope) { return std::move(unordered_input<int>(scope).capability); });
  }
  void ask(const T& time) { notificator.notify_at(capability.delayed(time)); }

  // Everything that is available, in the order it is delivered.
  template <class... Frontiers>
  std::vector<T> delivered(const Frontiers&... frontiers) {
    notificator.look_again();
    std::vector<T> times;
    while (auto done = notificator.next(frontiers...)) times.push_back(done->time());
    return times;
  }
};

template <class T>
progress::Antichain<T> at(std::initializer_list<T> times) {
  progress::Antichain<T> frontier;
  for (const T& time : times) frontier.insert(time);
  return frontier;
}

using Times = std::vector<Time>;

TEST(Notificator, DeliversATimeOnceNothingBeforeOrAtItCanCome) {
  Asking<Time> asking;
  asking.ask(4);
  EXPECT_EQ(asking.delivered(at<Time>({3})), Times{});
  EXPECT_EQ(asking.delivered(at<Time>({4})), Times{});
  EXPECT_EQ(asking.delivered(at<Time>({5})), Times{4});
  EXPECT_EQ(asking.delivered(at<Time>({5})), Times{});
  EXPECT_TRUE(asking.notificator.empty());
}

TEST(Notificator, DeliversEverythingUnderAnEmptyFrontier) {
  Asking<Time> asking;
  for (const Time time : Times{7, 2, 9}) asking.ask(time);
  EXPECT_EQ(asking.delivered(at<Time>({})), (Times{2, 7, 9}));
}

TEST(Notificator, DeliversInAscendingOrderAlsoWhatIsAskedInBetween) {
  Asking<Time> asking;
  for (const Time time : Times{7, 2, 9}) asking.ask(time);
  const auto frontier = at<Time>({8});
  EXPECT_EQ(asking.notificator.next(frontier)->time(), 2u);
  asking.ask(5);
  asking.ask(3);
  EXPECT_EQ(asking.delivered(frontier), (Times{3, 5, 7}));
  EXPECT_FALSE(asking.notificator.empty());
  EXPECT_EQ(asking.delivered(at<Time>({})), Times{9});
}

TEST(Notificator, DeliversATimeOnceAndSaysHowOftenItWasAskedFor) {
  Asking<Time> asking;
  for (const Time time : Times{1, 2, 1, 1}) asking.ask(time);
  const auto frontier = at<Time>({});
  const auto first = asking.notificator.next(frontier);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->time(), 1u);
  EXPECT_EQ(first->count, 3u);
  const auto second = asking.notificator.next(frontier);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->count, 1u);
}

TEST(Notificator, WaitsForAllInputs) {
  Asking<Time> asking;
  asking.ask(3);
  EXPECT_EQ(asking.delivered(at<Time>({9}), at<Time>({2})), Times{});
  EXPECT_EQ(asking.delivered(at<Time>({1}), at<Time>({})), Times{});
  EXPECT_EQ(asking.delivered(at<Time>({9}), at<Time>({4})), Times{3});
}

TEST(Notificator, DeliversTheCapabilityItWasGiven) {
  Asking<Time> asking;
  asking.ask(3);
  const auto done = asking.notificator.next(at<Time>({}));
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->capability);
  EXPECT_EQ(done->capability.token(), asking.capability.token());
}

TEST(Notificator, DeliversTimesInTwoDimensionsInALinearOrder) {
  Asking<Pair> asking;
  for (const Pair time : {Pair{3, 5}, Pair{5, 4}, Pair{1, 2}, Pair{1, 1}, Pair{1, 1}, Pair{5, 8},
                          Pair{6, 0}, Pair{6, 2}}) {
    asking.ask(time);
  }
  EXPECT_EQ(asking.delivered(at<Pair>({{5, 7}, {6, 1}})),
            (std::vector<Pair>{{1, 1}, {1, 2}, {3, 5}, {5, 4}, {6, 0}}));

  const auto later = at<Pair>({{6, 10}});
  asking.notificator.look_again();
  EXPECT_EQ(asking.notificator.next(later)->time(), (Pair{5, 8}));
  asking.ask({5, 9});
  EXPECT_EQ(asking.notificator.next(later)->time(), (Pair{5, 9}));
  EXPECT_EQ(asking.notificator.next(later)->time(), (Pair{6, 2}));
  EXPECT_FALSE(asking.notificator.next(later));
  EXPECT_TRUE(asking.notificator.empty());
}

TEST(Notificator, KeepsTimesThatAreNotComparableApart) {
  Asking<Pair> asking;
  asking.ask({0, 5});
  asking.ask({5, 0});
  EXPECT_EQ(asking.delivered(at<Pair>({{0, 5}})), (std::vector<Pair>{{5, 0}}));
  EXPECT_EQ(asking.delivered(at<Pair>({{6, 0}})), (std::vector<Pair>{{0, 5}}));
}

TEST(Notificator, CallsForEachCompleteTimeAlsoThoseAskedForMeanwhile) {
  Asking<Time> asking;
  for (const Time time : {Time{4}, Time{1}, Time{1}, Time{9}}) asking.ask(time);
  EXPECT_EQ(asking.notificator.pending(), 4u);
  std::vector<std::pair<Time, std::size_t>> seen;
  asking.notificator.for_each(
      [&](Notification<Time> done) {
        seen.emplace_back(done.time(), done.count);
        if (done.time() == 1) asking.ask(2);
      },
      at<Time>({6}));
  EXPECT_EQ(seen, (std::vector<std::pair<Time, std::size_t>>{{1, 2}, {2, 1}, {4, 1}}));
  EXPECT_EQ(asking.notificator.pending(), 1u);
}

TEST(Notificator, NeedsNobodyToTellItThatFrontiersMove) {
  Asking<Pair> asking;
  asking.ask({0, 5});
  asking.ask({3, 0});
  EXPECT_FALSE(asking.notificator.next(at<Pair>({{0, 0}})));
  const auto moved = at<Pair>({{1, 0}});
  EXPECT_EQ(asking.notificator.next(moved)->time(), (Pair{0, 5}));
  EXPECT_FALSE(asking.notificator.next(moved));
  EXPECT_EQ(asking.notificator.next(at<Pair>({}))->time(), (Pair{3, 0}));
}

// --- in an operator

// A loop that asks for the next time when one is delivered, up to 100. Starts with the times 0 and 1.
void barrier(Scope<Time>& scope, std::size_t& deliveries, std::size_t& most_at_once) {
  auto [handle, loop] = feedback<int>(scope, 1);
  std::move(loop) |
      unary_notify<int>(pipeline, "barrier",
                        [&](Capability<Time> capability, const OperatorInfo&) {
                          return [&, first = std::move(capability)](auto& input, auto&,
                                                                    auto& notificator) mutable {
                            if (first) {
                              notificator.notify_at(first.delayed(1));
                              notificator.notify_at(std::move(first));
                            }
                            input.for_each([](auto&) {});
                            std::size_t now = 0;
                            while (auto done = notificator.next(input.frontier())) {
                              ++now;
                              if (done->time() < 100) {
                                notificator.notify_at(done->capability.delayed(done->time() + 1));
                              }
                            }
                            deliveries += now;
                            most_at_once = std::max(most_at_once, now);
                          };
                        }) |
      connect_loop(std::move(handle));
}

TEST(BarrierSync, DeliversAtMostOneTimePerScheduling) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
      World world(peers, mode);
      std::size_t deliveries = 0;
      std::size_t most_at_once = 0;
      for (std::size_t index = 0; index < peers; ++index) {
        world[index].dataflow([&](auto& scope) { barrier(scope, deliveries, most_at_once); });
      }
      EXPECT_TRUE(world.ends());
      EXPECT_EQ(deliveries, 101 * peers);
      EXPECT_EQ(most_at_once, 1u);
    }
  }
}

TEST(BarrierSync, DeliversAtMostOneTimePerSchedulingOnThreads) {
  for (std::size_t peers = 1; peers <= 3; ++peers) {
    core::Config config;
    config.workers = peers;
    auto outcome = execute(config, [](Worker& worker) {
      std::size_t deliveries = 0;
      std::size_t most_at_once = 0;
      worker.dataflow([&](auto& scope) { barrier(scope, deliveries, most_at_once); });
      worker.step_or_park_while([&] { return worker.has_dataflows(); });
      return std::pair(deliveries, most_at_once);
    });
    ASSERT_EQ(outcome.exit_code(), 0);
    for (std::size_t index = 0; index < peers; ++index) {
      EXPECT_EQ(outcome.value(index), (std::pair<std::size_t, std::size_t>{101, 1}));
    }
  }
}

}  // namespace
}  // namespace leat::dataflow
