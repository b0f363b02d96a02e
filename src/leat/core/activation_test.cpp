#include <leat/core/activation.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace leat::core {
namespace {

std::vector<std::uint32_t> bits(const ActivationSet& set) {
  std::vector<std::uint32_t> found;
  for (auto i = set.next_from(0); i != ActivationSet::kNone; i = set.next_from(i + 1)) {
    found.push_back(i);
  }
  return found;
}

TEST(ActivationSet, StartsWithNobodyActive) {
  ActivationSet set;
  EXPECT_FALSE(set.any());
  EXPECT_EQ(set.next_from(0), ActivationSet::kNone);
  EXPECT_EQ(set.next_from(1000), ActivationSet::kNone);
  EXPECT_FALSE(set.is_set(3));
  set.clear(3);
}

TEST(ActivationSet, SaysWhetherABitWasClear) {
  ActivationSet set;
  EXPECT_TRUE(set.activate(5));
  EXPECT_FALSE(set.activate(5));
  EXPECT_TRUE(set.is_set(5));
  set.clear(5);
  EXPECT_FALSE(set.any());
  EXPECT_TRUE(set.activate(5));
}

TEST(ActivationSet, GivesActiveChildrenInTheirOrder) {
  ActivationSet set;
  for (std::uint32_t i : {64u, 3u, 0u, 63u, 65u, 4095u, 4096u, 99999u}) set.activate(i);
  EXPECT_EQ(bits(set), (std::vector<std::uint32_t>{0, 3, 63, 64, 65, 4095, 4096, 99999}));
  EXPECT_EQ(set.next_from(66), 4095u);
  EXPECT_EQ(set.next_from(4097), 99999u);
  EXPECT_EQ(set.next_from(100000), ActivationSet::kNone);
}

TEST(ActivationSet, EqualsASetOfNumbers) {
  ActivationSet set;
  std::set<std::uint32_t> numbers;
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const auto child = static_cast<std::uint32_t>(rng.below(20000));
    if (rng.below(3) != 0) {
      EXPECT_EQ(set.activate(child), numbers.insert(child).second);
    } else {
      set.clear(child);
      numbers.erase(child);
    }
    const auto position = static_cast<std::uint32_t>(rng.below(20100));
    const auto next = numbers.lower_bound(position);
    ASSERT_EQ(set.next_from(position), next == numbers.end() ? ActivationSet::kNone : *next);
    ASSERT_EQ(set.any(), !numbers.empty());
  }
}

TEST(ActivationSet, ActivatingWalksUpUntilItMeetsABitThatIsSet) {
  ActivationSet root;
  ActivationSet middle(Activation(root, 2));
  ActivationSet inner(Activation(middle, 7));
  inner.activate(100);
  EXPECT_TRUE(middle.is_set(7));
  EXPECT_TRUE(root.is_set(2));
  // As if the root had taken the bit: the walk stops at the first bit that is set.
  root.clear(2);
  inner.activate(101);
  EXPECT_TRUE(inner.is_set(101));
  EXPECT_FALSE(root.is_set(2));
}

TEST(ActivationSet, ARunningScopeKeepsActivationsInsideAndRunsAgainForWhatIsLeft) {
  ActivationSet root;
  ActivationSet scope(Activation(root, 0));
  scope.activate(4);
  root.clear(0);
  scope.enter_run();
  EXPECT_EQ(scope.next_from(0), 4u);
  scope.clear(4);
  scope.activate(9);  // ahead: runs in this run
  EXPECT_EQ(scope.next_from(5), 9u);
  scope.clear(9);
  scope.activate(1);  // behind: waits for the next
  EXPECT_EQ(scope.next_from(10), ActivationSet::kNone);
  EXPECT_FALSE(root.is_set(0));
  scope.leave_run();
  EXPECT_TRUE(root.is_set(0));
}

TEST(ActivationSet, AScopeWithNothingLeftRests) {
  ActivationSet root;
  ActivationSet scope(Activation(root, 0));
  scope.activate(1);
  root.clear(0);
  scope.enter_run();
  scope.clear(1);
  scope.leave_run();
  EXPECT_FALSE(root.any());
}

TEST(ActivationSet, TakesActiveChildrenInTheirOrder) {
  for (const std::uint32_t most : {63u, 5000u}) {
    ActivationSet set;
    for (const std::uint32_t child : {most, 7u, 0u}) set.activate(child);
    EXPECT_EQ(set.take_from(0), 0u);
    EXPECT_EQ(set.take_from(1), 7u);
    set.activate(3);  // behind
    EXPECT_EQ(set.take_from(8), most);
    EXPECT_EQ(set.take_from(most + 1), ActivationSet::kNone);
    EXPECT_EQ(bits(set), (std::vector<std::uint32_t>{3}));
  }
}

TEST(ActivationSet, KnowsWhetherAChildWasPutOffInThisRun) {
  ActivationSet root;
  ActivationSet scope(Activation(root, 0));
  scope.put_off(4);
  EXPECT_TRUE(root.is_set(0));
  root.enter_run();
  scope.enter_run();  // what was put off before it may run in it
  EXPECT_TRUE(scope.all_at_once());
  scope.activate(3);
  EXPECT_TRUE(scope.all_at_once());
  Activation(scope, 3).put_off();
  EXPECT_FALSE(scope.all_at_once());
  EXPECT_TRUE(root.all_at_once());
  scope.leave_run();
  EXPECT_FALSE(root.all_at_once());  // one of its children has something to do, but not at once
  EXPECT_TRUE(root.is_set(0));
}

TEST(ActivationSet, PutsOffInEveryScopeAround) {
  ActivationSet root;
  ActivationSet middle(Activation(root, 2));
  ActivationSet inner(Activation(middle, 7));
  root.enter_run();
  inner.activate(1);
  inner.put_off(1);  // was active already
  EXPECT_FALSE(inner.all_at_once());
  EXPECT_FALSE(middle.all_at_once());
  EXPECT_FALSE(root.all_at_once());
}

TEST(Activation, NobodysActivationDoesNothing) {
  Activation nobody;
  EXPECT_TRUE(nobody.is_nobodys());
  nobody.activate();
  nobody.put_off();
}

TEST(Activation, ActivatesItsChild) {
  ActivationSet set;
  const Activation child(set, 12);
  child.activate();
  EXPECT_EQ(bits(set), (std::vector<std::uint32_t>{12}));
}

}  // namespace
}  // namespace leat::core
