#include <leat/actor/time/wheel.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::vector<const TimerNode*> expired_at(Wheel& wheel, Nanos now) {
  std::vector<const TimerNode*> expired;
  wheel.advance(now, [&](TimerNode& node) { expired.push_back(&node); });
  return expired;
}

TEST(Wheel, HandsATimerBackWhenItsTimeHasComeAndNotBefore) {
  Wheel wheel(Nanos{0});
  TimerNode node;
  wheel.arm(node, microseconds(1500));
  EXPECT_TRUE(expired_at(wheel, microseconds(1499)).empty());
  EXPECT_TRUE(expired_at(wheel, microseconds(1999)).empty());
  EXPECT_EQ(expired_at(wheel, milliseconds(2)).size(), 1U);
  EXPECT_FALSE(node.armed);
  EXPECT_EQ(wheel.size(), 0U);
}

TEST(Wheel, GivesACancelledTimerNever) {
  Wheel wheel(Nanos{0});
  TimerNode a;
  TimerNode b;
  TimerNode c;
  for (TimerNode* node : {&a, &b, &c}) wheel.arm(*node, milliseconds(5));
  wheel.cancel(b);
  EXPECT_EQ(expired_at(wheel, milliseconds(5)), (std::vector<const TimerNode*>{&a, &c}));
  EXPECT_EQ(wheel.next_look(), std::nullopt);
}

TEST(Wheel, ADeadlineInThePastComesWithTheNextTick) {
  Wheel wheel(milliseconds(100));
  expired_at(wheel, milliseconds(200));
  TimerNode node;
  wheel.arm(node, milliseconds(50));
  EXPECT_TRUE(expired_at(wheel, milliseconds(200)).empty());
  EXPECT_EQ(expired_at(wheel, milliseconds(201)).size(), 1U);
}

TEST(Wheel, ADeadlineBeyondItsSpanIsKept) {
  Wheel wheel(Nanos{0});
  TimerNode node;
  wheel.arm(node, Nanos::max());
  EXPECT_TRUE(expired_at(wheel, std::chrono::hours(24 * 365)).empty());
  EXPECT_TRUE(node.armed);
  wheel.cancel(node);
}

TEST(Wheel, ATimerArmedWhileOthersExpireIsNotLost) {
  Wheel wheel(Nanos{0});
  TimerNode node;
  wheel.arm(node, milliseconds(1));
  int expired = 0;
  wheel.advance(milliseconds(10), [&](TimerNode& n) {
    if (++expired < 3) wheel.arm(n, milliseconds(1));
  });
  EXPECT_EQ(expired, 3);
}

TEST(Wheel, GivesBackWhatAListOfDeadlinesWould) {
  Rng rng(7);
  for (int round = 0; round < 20; ++round) {
    const Nanos origin{static_cast<Nanos::rep>(rng.below(5'000'000'000))};
    Wheel wheel(origin);
    struct Timer {
      TimerNode node;
      Nanos deadline{0};
      bool pending = false;
    };
    std::vector<std::unique_ptr<Timer>> timers;
    Nanos now = origin;
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t what = rng.below(10);
      if (what < 5) {
        auto timer = std::make_unique<Timer>();
        const auto delay = rng.below(std::uint64_t{1} << rng.below(42));
        timer->deadline = now + Nanos{static_cast<Nanos::rep>(delay)};
        timer->pending = true;
        wheel.arm(timer->node, timer->deadline);
        timers.push_back(std::move(timer));
      } else if (what < 6 && !timers.empty()) {
        Timer& timer = *timers[rng.below(timers.size())];
        if (timer.pending) wheel.cancel(timer.node);
        timer.pending = false;
      } else {
        const auto look = wheel.next_look();
        now = what < 8 && look ? std::max(now, *look)
                               : now + Nanos{static_cast<Nanos::rep>(
                                           rng.below(std::uint64_t{1} << rng.below(40)))};
        wheel.advance(now, [&](TimerNode& node) {
          for (const auto& timer : timers) {
            if (&timer->node != &node) continue;
            EXPECT_TRUE(timer->pending);
            EXPECT_LE(timer->deadline, now) << "early";
            timer->pending = false;
          }
        });
        for (const auto& timer : timers) {
          EXPECT_TRUE(!timer->pending || timer->deadline + Wheel::kTick * 2 > now) << "late";
        }
      }
    }
    for (const auto& timer : timers) {
      if (timer->pending) wheel.cancel(timer->node);
    }
    EXPECT_EQ(wheel.size(), 0U);
  }
}

}  // namespace
}  // namespace leat::actor
