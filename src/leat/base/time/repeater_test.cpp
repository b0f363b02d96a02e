#include <leat/base/time/repeater.hpp>

#include <gtest/gtest.h>
#include <chrono>

namespace leat {
namespace {

using namespace std::chrono_literals;

TEST(Repeater, IsDueAtOnceAndThenOncePerInterval) {
  SettableClock clock(5s);
  Repeater repeater(10ms);
  EXPECT_TRUE(repeater.is_due(clock.now()));
  EXPECT_FALSE(repeater.is_due(clock.now()));
  clock.advance(9ms);
  EXPECT_FALSE(repeater.is_due(clock.now()));
  clock.advance(1ms);
  EXPECT_TRUE(repeater.is_due(clock.now()));
  EXPECT_EQ(repeater.next(), 5s + 20ms);
}

TEST(Repeater, KeepsToItsMomentsAndMakesUpForNothing) {
  SettableClock clock;
  Repeater repeater(10ms);
  EXPECT_TRUE(repeater.is_due(clock.now()));
  clock.advance(57ms);
  EXPECT_TRUE(repeater.is_due(clock.now()));
  EXPECT_FALSE(repeater.is_due(clock.now()));
  EXPECT_EQ(repeater.next(), Nanos(60ms));
}

TEST(Repeater, CanBeForcedAndReset) {
  Repeater repeater(10ms);
  repeater.reset(0ms);
  EXPECT_FALSE(repeater.is_due(9ms));
  repeater.force();
  EXPECT_TRUE(repeater.is_due(9ms));
  EXPECT_EQ(repeater.next(), Nanos(19ms));
  EXPECT_EQ(repeater.every(), Nanos(10ms));
}

TEST(RepeaterDeathTest, RepeatsAfterSomeTime) { EXPECT_DEATH(Repeater(0ns), "no time"); }

}  // namespace
}  // namespace leat
