#include <leat/core/parker.hpp>

#include <gtest/gtest.h>
#include <thread>

namespace leat::core {
namespace {

constexpr auto kNothing = [] { return false; };

TEST(Parker, ATokenLeftBeforeParkingEndsTheParkAtOnce) {
  Parker parker;
  EXPECT_FALSE(parker.unpark()) << "no system call: nobody sleeps";
  EXPECT_TRUE(parker.park(kNothing));
  EXPECT_EQ(parker.waits(), 0u);
}

TEST(Parker, SeveralTokensAreOne) {
  Parker parker;
  parker.unpark();
  parker.unpark();
  EXPECT_TRUE(parker.park(kNothing));
  EXPECT_FALSE(parker.park(kNothing, Nanos{1})) << "the second park found a token that was taken";
}

TEST(Parker, RingLeavesNoTokenWithARunningThread) {
  Parker parker;
  EXPECT_FALSE(parker.ring());
  EXPECT_FALSE(parker.park(kNothing, Nanos{1}));
}

TEST(Parker, RecheckEndsTheParkWithoutSleepingAndSeesTheStateParked) {
  Parker parker;
  bool was_parked = false;
  EXPECT_TRUE(parker.park([&] { return was_parked = parker.was_parked(); }));
  EXPECT_TRUE(was_parked);
  EXPECT_FALSE(parker.was_parked());
  EXPECT_EQ(parker.waits(), 0u);
}

TEST(Parker, ATokenThatComesDuringTheRecheckIsTakenByThatPark) {
  Parker parker;
  EXPECT_TRUE(parker.park([&] {
    EXPECT_TRUE(parker.ring()) << "PARKED, so the ring must wake";
    return true;
  }));
  EXPECT_FALSE(parker.park(kNothing, Nanos{1}));
}

TEST(Parker, ATokenThatComesBetweenRecheckAndWaitEndsTheWait) {
  Parker parker;
  EXPECT_TRUE(parker.park([&] {
    parker.ring();
    return false;
  }));
}

TEST(Parker, ATimedParkEndsByItself) {
  Parker parker;
  EXPECT_FALSE(parker.park(kNothing, Nanos{1}));
  EXPECT_EQ(parker.waits(), 1u);
  EXPECT_FALSE(parker.was_parked());
}

TEST(Parker, ASleeperIsWokenFromAnotherThread) {
  Parker parker;
  int payload = 0;
  std::thread waker([&] {
    payload = 7;
    parker.unpark();
  });
  EXPECT_TRUE(parker.park(kNothing));
  EXPECT_EQ(payload, 7);
  waker.join();
}

}  // namespace
}  // namespace leat::core
