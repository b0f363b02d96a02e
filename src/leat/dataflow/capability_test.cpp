#include <leat/dataflow/capability.hpp>

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::listed;
using test::place;
using test::says;
using test::usage_error;
using test::World;

using Pair = progress::Product<std::uint64_t, std::uint64_t>;

// A worker, a capability of an operator on it, and what may still come out of that operator.
template <class T>
struct Holding {
  World world;
  Probe<T> seen;
  Capability<T> capability;
  int line = 0;

  Holding() {
    capability = world[0].template dataflow<T>([&](auto& scope) {
      line = __LINE__ + 1;
      auto input = unordered_input<int>(scope);
      input.stream | probe(seen);
      return std::move(input.capability);
    });
    world.steps();
  }
  std::vector<T> frontier() {
    world.steps();
    return listed(seen.frontier());
  }
};

using Times = std::vector<std::uint64_t>;

TEST(Capability, StandsAtTheLeastTimeAndHoldsItUntilReleased) {
  Holding<std::uint64_t> holding;
  EXPECT_TRUE(holding.capability);
  EXPECT_EQ(holding.capability.time(), 0u);
  EXPECT_EQ(holding.frontier(), Times{0});
  holding.capability.release();
  EXPECT_FALSE(holding.capability);
  EXPECT_EQ(holding.frontier(), Times{});
  EXPECT_TRUE(holding.world.ends());
}

TEST(Capability, DowngradeMovesWhatItHolds) {
  Holding<std::uint64_t> holding;
  holding.capability.downgrade(5);
  EXPECT_EQ(holding.capability.time(), 5u);
  EXPECT_EQ(holding.frontier(), Times{5});
  holding.capability.downgrade(5);
  EXPECT_EQ(holding.frontier(), Times{5});
}

TEST(Capability, DelayedIsAnotherOneAtALaterTime) {
  Holding<std::uint64_t> holding;
  auto later = holding.capability.delayed(7);
  EXPECT_EQ(holding.frontier(), Times{0});
  holding.capability.release();
  EXPECT_EQ(holding.frontier(), Times{7});
  later.release();
  EXPECT_EQ(holding.frontier(), Times{});
}

TEST(Capability, CloneHoldsTheTimeUntilBothAreGone) {
  Holding<std::uint64_t> holding;
  {
    const auto clone = holding.capability.clone();
    holding.capability.downgrade(9);
    EXPECT_EQ(holding.frontier(), Times{0});
  }
  EXPECT_EQ(holding.frontier(), Times{9});
}

TEST(Capability, MoveAssignmentReleasesWhatWasHeld) {
  Holding<std::uint64_t> holding;
  holding.capability = holding.capability.delayed(3);
  EXPECT_EQ(holding.frontier(), Times{3});
}

TEST(Capability, TryFormsRefuseEarlierTimesAndChangeNothing) {
  Holding<std::uint64_t> holding;
  holding.capability.downgrade(5);
  EXPECT_FALSE(holding.capability.try_delayed(4).has_value());
  EXPECT_FALSE(holding.capability.try_downgrade(4));
  EXPECT_EQ(holding.capability.time(), 5u);
  EXPECT_TRUE(holding.capability.try_delayed(6).has_value());
  EXPECT_TRUE(holding.capability.try_downgrade(6));
  EXPECT_EQ(holding.frontier(), Times{6});
}

TEST(Capability, BackwardsIsRefusedWithOperatorAndTimes) {
  Holding<std::uint64_t> holding;
  holding.capability.downgrade(5);
  const auto name = place("unordered_input", holding.line);
  EXPECT_TRUE(says(usage_error([&] { holding.capability.downgrade(3); }),
                   {name, "to time 3", "at time 5"}));
  EXPECT_TRUE(says(usage_error([&] { (void)holding.capability.delayed(4); }),
                   {name, "to time 4", "at time 5"}));
  EXPECT_EQ(holding.frontier(), Times{5});
}

TEST(Capability, TimesThatAreNotComparableAreNotLater) {
  Holding<Pair> holding;
  holding.capability.downgrade({2, 2});
  EXPECT_TRUE(says(usage_error([&] { holding.capability.downgrade({3, 1}); }),
                   {"to time (3, 1)", "at time (2, 2)"}));
  EXPECT_FALSE(holding.capability.try_delayed({1, 9}).has_value());
  EXPECT_EQ(holding.frontier(), (std::vector<Pair>{{2, 2}}));
}

TEST(Capability, IsOfNoUseAfterItWasMovedOrReleased) {
  Holding<std::uint64_t> holding;
  auto taken = std::move(holding.capability);
  // NOLINTNEXTLINE(bugprone-use-after-move): what is tested
  EXPECT_TRUE(says(usage_error([&] { (void)holding.capability.time(); }), {"moved from"}));
  taken.release();
  EXPECT_TRUE(says(usage_error([&] { (void)taken.clone(); }), {"released"}));
  EXPECT_TRUE(says(usage_error([&] { taken.downgrade(8); }), {"released"}));
}

TEST(Capability, IsRefusedOnAnotherThread) {
  Holding<std::uint64_t> holding;
  std::string said;
  std::thread([&] { said = usage_error([&] { holding.capability.downgrade(1); }); }).join();
  EXPECT_TRUE(says(said, {place("unordered_input", holding.line), "another thread"}));
}

TEST(CapabilityDeathTest, DroppedByAnotherThreadEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Holding<std::uint64_t> holding;
        std::thread([&] { holding.capability.release(); }).join();
      },
      "dropped by a thread that is not its worker");
}

TEST(Capability, HasNoEffectAfterItsDataflowIsGone) {
  Holding<std::uint64_t> holding;
  holding.world[0].drop_dataflow(0);
  auto later = holding.capability.delayed(4);
  holding.capability.downgrade(2);
  later.release();
  EXPECT_EQ(holding.capability.time(), 2u);
  EXPECT_FALSE(holding.world[0].step());
}

TEST(Capability, MayOutliveItsWorker) {
  auto holding = std::make_unique<Holding<std::uint64_t>>();
  auto capability = std::move(holding->capability);
  holding.reset();
  const auto later = capability.delayed(4);
  EXPECT_EQ(later.time(), 4u);
}

// --- sets

TEST(CapabilitySet, KeepsOnlyTheLeastTimes) {
  Holding<Pair> holding;
  CapabilitySet<Pair> set;
  EXPECT_TRUE(set.empty());
  set.insert(holding.capability.delayed({2, 2}));
  set.insert(holding.capability.delayed({3, 3}));  // superfluous
  set.insert(holding.capability.delayed({1, 5}));
  EXPECT_EQ(set.members().size(), 2u);
  set.insert(holding.capability.delayed({1, 1}));  // makes both superfluous
  ASSERT_EQ(set.members().size(), 1u);
  holding.capability.release();
  EXPECT_EQ(holding.frontier(), (std::vector<Pair>{{1, 1}}));
  set.clear();
  EXPECT_EQ(holding.frontier(), std::vector<Pair>{});
}

TEST(CapabilitySet, GivesCapabilitiesAfterAnyOfItsMembers) {
  Holding<Pair> holding;
  CapabilitySet<Pair> set;
  set.insert(holding.capability.delayed({0, 3}));
  set.insert(holding.capability.delayed({3, 0}));
  EXPECT_EQ(set.delayed({4, 1}).time(), (Pair{4, 1}));
  EXPECT_EQ(set.delayed({1, 4}).time(), (Pair{1, 4}));
  EXPECT_TRUE(says(usage_error([&] { (void)set.delayed({2, 2}); }),
                   {place("unordered_input", holding.line), "at time (2, 2)", "no member"}));
  set.clear();
  EXPECT_TRUE(says(usage_error([&] { (void)set.delayed({2, 2}); }), {"an empty set"}));
}

TEST(CapabilitySet, DowngradesToAFrontierWhollyOrNotAtAll) {
  Holding<Pair> holding;
  CapabilitySet<Pair> set;
  set.insert(holding.capability.delayed({1, 1}));
  holding.capability.release();
  progress::Antichain<Pair> frontier;
  frontier.insert({3, 1});
  frontier.insert({0, 9});  // not after (1, 1)
  EXPECT_TRUE(says(usage_error([&] { set.downgrade(frontier); }), {"at time (0, 9)"}));
  EXPECT_EQ(holding.frontier(), (std::vector<Pair>{{1, 1}}));

  progress::Antichain<Pair> reachable;
  reachable.insert({3, 1});
  reachable.insert({1, 2});
  set.downgrade(reachable);
  auto times = holding.frontier();
  std::sort(times.begin(), times.end());
  EXPECT_EQ(times, (std::vector<Pair>{{1, 2}, {3, 1}}));
  set.downgrade(progress::Antichain<Pair>());
  EXPECT_EQ(holding.frontier(), std::vector<Pair>{});
}

}  // namespace
}  // namespace leat::dataflow
