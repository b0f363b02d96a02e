// Compiled and linked with leat::actor_safepoints: each jump counts.
#include <leat/actor/preempt/turn.hpp>

#include <leat/actor/fiber/test_carousel.hpp>

#include <gtest/gtest.h>

#include <cstdint>

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
  carousel.preempt_by({.alloc_interval = 0, .edge_interval = 1000, .timeslice_cycles = 0});
  volatile std::uint64_t sum = 0;
  bool second_ran = false;
  carousel.add([&] {
    const NoPreempt held;  // comes before the thousandth jump, unoptimised too
    for (std::uint64_t i = 0; i < 100'000; ++i) sum = sum + i;
    EXPECT_FALSE(second_ran);
  });
  carousel.add([&] { second_ran = true; });
  carousel.run();
}

}  // namespace
}  // namespace leat::actor
