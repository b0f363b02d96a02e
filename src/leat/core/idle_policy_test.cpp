#include <leat/core/idle_policy.hpp>

#include <gtest/gtest.h>

namespace leat::core {
namespace {

using std::chrono::microseconds;

void miss(IdlePolicy& policy, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) policy.missed();
}

/// Misses until the budget is gone.
void exhaust(IdlePolicy& policy) {
  while (policy.budget() > Nanos{0}) policy.missed();
}

TEST(IdlePolicy, StartsWithTheWholeBudgetOfTenMicroseconds) {
  EXPECT_EQ(IdlePolicy().budget(), Nanos{10'000});
  EXPECT_EQ(IdlePolicy(microseconds(3)).budget(), microseconds(3));
}

TEST(IdlePolicy, AnIdleSpinOfZeroNeverPolls) {
  for (const Nanos idle_spin : {Nanos{0}, Nanos{-1}}) {
    IdlePolicy policy(idle_spin);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(policy.budget(), Nanos{0});
      policy.missed();
    }
    policy.found();
    EXPECT_EQ(policy.budget(), Nanos{0});
  }
}

TEST(IdlePolicy, IsPatientWithAFewMisses) {
  IdlePolicy policy;
  miss(policy, IdlePolicy::kPatience - 1);
  EXPECT_EQ(policy.budget(), policy.idle_spin());
}

TEST(IdlePolicy, HalvesTheBudgetWithEachFurtherMissAndThenStops) {
  IdlePolicy policy(microseconds(8));
  miss(policy, IdlePolicy::kPatience);
  EXPECT_EQ(policy.budget(), microseconds(4));
  policy.missed();
  EXPECT_EQ(policy.budget(), microseconds(2));
  policy.missed();
  EXPECT_EQ(policy.budget(), microseconds(1));
  policy.missed();
  EXPECT_EQ(policy.budget(), Nanos{0});
}

TEST(IdlePolicy, OneSuccessRestoresTheBudgetAndThePatience) {
  IdlePolicy policy;
  miss(policy, IdlePolicy::kPatience + 1);
  EXPECT_LT(policy.budget(), policy.idle_spin());
  policy.found();
  EXPECT_EQ(policy.budget(), policy.idle_spin());
  miss(policy, IdlePolicy::kPatience - 1);
  EXPECT_EQ(policy.budget(), policy.idle_spin());
}

TEST(IdlePolicy, TriesAgainNowAndThenAfterItStopped) {
  IdlePolicy policy;
  exhaust(policy);
  int polls = 0;
  for (std::uint32_t i = 0; i < 10 * IdlePolicy::kRetryEvery + 10; ++i) {
    if (policy.budget() > Nanos{0}) {
      EXPECT_EQ(policy.budget(), policy.idle_spin());
      ++polls;
    }
    policy.missed();
  }
  EXPECT_EQ(polls, 10) << "one in about kRetryEvery spells";
}

TEST(IdlePolicy, ARetryThatSucceedsRestoresPolling) {
  IdlePolicy policy;
  exhaust(policy);
  miss(policy, IdlePolicy::kRetryEvery);
  ASSERT_EQ(policy.budget(), policy.idle_spin());
  policy.found();
  policy.missed();
  EXPECT_EQ(policy.budget(), policy.idle_spin());
}

TEST(IdlePolicy, DoesNotPollWhileTheProcessHasMoreRunnableThreadsThanCpus) {
  Crowd crowd(2);
  IdlePolicy policy(microseconds(10), &crowd);
  crowd.enter();
  crowd.enter();
  EXPECT_EQ(policy.budget(), microseconds(10)) << "as many as CPUs";
  crowd.enter();
  EXPECT_EQ(policy.budget(), Nanos{0});
  miss(policy, 100);
  crowd.leave();
  EXPECT_EQ(policy.budget(), microseconds(10)) << "misses in a crowd teach nothing";
}

TEST(IdlePolicy, PollReturnsAtTheFirstSuccess) {
  SettableClock clock;
  IdlePolicy policy;
  miss(policy, IdlePolicy::kPatience);
  int asked = 0;
  EXPECT_TRUE(policy.poll(clock, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(policy.budget(), policy.idle_spin());
}

TEST(IdlePolicy, PollEndsWhenTheBudgetIsSpent) {
  SettableClock clock;
  IdlePolicy policy(microseconds(5));
  EXPECT_FALSE(policy.poll(clock, [&] {
    clock.advance(microseconds(1));
    return false;
  }));
  EXPECT_GE(clock.now(), microseconds(5));
  EXPECT_LE(clock.now(), microseconds(20));
}

TEST(IdlePolicy, PollEndsWhenItBecomesCrowded) {
  SettableClock clock;  // stands still: only the crowd can end it
  Crowd crowd(1);
  IdlePolicy policy(microseconds(5), &crowd);
  crowd.enter();
  int asked = 0;
  EXPECT_FALSE(policy.poll(clock, [&] {
    if (++asked == 100) crowd.enter();
    return false;
  }));
  EXPECT_GE(asked, 100);
}

TEST(IdlePolicy, PollWithoutBudgetDoesNotAsk) {
  SettableClock clock;
  IdlePolicy policy(Nanos{0});
  EXPECT_FALSE(policy.poll(clock, [] {
    ADD_FAILURE() << "polled";
    return true;
  }));
}

TEST(IdlePolicy, InACrowdItLooksAfterEachOfAFewYields) {
  SettableClock clock;
  Crowd crowd(1);
  IdlePolicy policy(microseconds(10), &crowd);
  crowd.enter();
  crowd.enter();
  int asked = 0;
  EXPECT_FALSE(policy.poll(clock, [&] { return ++asked, false; }));
  EXPECT_EQ(asked, IdlePolicy::kYields);
  asked = 0;
  EXPECT_TRUE(policy.poll(clock, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
}

TEST(IdlePolicy, AfterALongYieldItParksAtOnceForAWhile) {
  SettableClock clock;
  Crowd crowd(1);
  IdlePolicy policy(microseconds(10), &crowd);
  crowd.enter();
  crowd.enter();
  int asked = 0;
  EXPECT_FALSE(policy.poll(clock, [&] {
    clock.advance(IdlePolicy::kLongYield);
    return ++asked, false;
  }));
  EXPECT_EQ(asked, 1);
  for (std::uint32_t i = 0; i < IdlePolicy::kParkAtOnce; ++i) {
    EXPECT_FALSE(policy.poll(clock, [&] { return ++asked, true; }));
  }
  EXPECT_EQ(asked, 1) << "it did not look";
  EXPECT_TRUE(policy.poll(clock, [&] { return ++asked, true; }));
}

TEST(IdlePolicy, AnIdleSpinOfZeroDoesNotYieldEither) {
  SettableClock clock;
  Crowd crowd(0);
  IdlePolicy policy(Nanos{0}, &crowd);
  crowd.enter();
  EXPECT_FALSE(policy.poll(clock, [] {
    ADD_FAILURE() << "looked";
    return true;
  }));
}

}  // namespace
}  // namespace leat::core
