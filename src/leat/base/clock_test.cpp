#include <leat/base/clock.hpp>

#include <gtest/gtest.h>

namespace leat {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SettableClock, StandsUntilItIsMoved) {
  SettableClock clock(seconds(3));
  EXPECT_EQ(clock.now(), seconds(3));
  EXPECT_EQ(clock.now(), seconds(3));
  clock.advance(milliseconds(5));
  EXPECT_EQ(clock.now(), milliseconds(3005));
  clock.set(seconds(4));
  EXPECT_EQ(clock.now(), seconds(4));
}

TEST(SettableClockDeathTest, IsNeverMovedBackwards) {
  SettableClock clock(seconds(3));
  EXPECT_DEATH(clock.set(seconds(2)), "backwards");
  EXPECT_DEATH(clock.advance(seconds(-1)), "backwards");
}

TEST(RealClock, NeverGoesBack) {
  const RealClock real;
  const Clock& clock = real;
  Nanos last = clock.now();
  for (int i = 0; i < 10000; ++i) {
    const Nanos now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace leat
