// Compiled and linked with leat::actor_safepoints: each jump counts.
#include <leat/actor/preempt/turn.hpp>

#include <leat/actor/fiber/test_carousel.hpp>

#include <gtest/gtest.h>

namespace leat::actor {
namespace {

TEST(Safepoints, ALoopThatDoesNothingAtAllIsInterrupted) {
  Carousel carousel;
  carousel.preempt_by({.alloc_interval = 0, .edge_interval = 1000, .timeslice_cycles = 0});
  volatile bool stop = false;
  carousel.add([&] {
    while (!stop) {  // neither allocates nor waits; without safepoints nobody else ever runs
    }
  });
  carousel.add([&] { stop = true; });
  carousel.run();
  EXPECT_TRUE(carousel.ended(0));
}

TEST(Safepoints, ALoopUnderNoPreemptIsNot) {
  Carousel carousel;
  carousel.preempt_by({.alloc_interval = 0, .edge_interval = 10, .timeslice_cycles = 0});
  volatile int sum = 0;
  bool second_ran = false;
  carousel.add([&] {
    const NoPreempt held;
    for (int i = 0; i < 1000; ++i) sum = sum + i;
    EXPECT_FALSE(second_ran);
  });
  carousel.add([&] { second_ran = true; });
  carousel.run();
}

}  // namespace
}  // namespace leat::actor
