#include <leat/actor/fiber/fiber.hpp>

#include <leat/actor/fiber/calls.hpp>
#include <leat/actor/fiber/test_carousel.hpp>
#include <leat/actor/stack/stack_pool.hpp>

#include <gtest/gtest.h>

#include <unwind.h>

#include <array>
#include <cerrno>
#include <cfenv>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <thread>

namespace leat::actor {
namespace {

// A thread that runs fibers, reduced to what a test needs: one fiber at a time, by name.
struct World {
  Carrier carrier;
  Fiber self;
  StackPool pool{{.stack_class = StackClass::k64KiB}};
};

struct Runner {
  World& world;
  Fiber fiber;
  Stack stack = world.pool.take();
  void (*body)(Runner&) = nullptr;
  bool done = false;

  explicit Runner(World& w, void (*b)(Runner&)) : world(w), body(b) {
    fiber.start(stack.slot(), stack.top(), &Runner::enter, this);
  }
  ~Runner() { world.pool.give(stack); }

  static void enter(void* argument, void* /*message*/) {
    auto& self = *static_cast<Runner*>(argument);
    self.body(self);
    self.done = true;
    switch_for_good(self.world.carrier, self.fiber, self.world.self);
  }
  void* resume(void* message = nullptr) {
    return switch_to(world.carrier, world.self, fiber, message);
  }
  void* yield(void* message = nullptr) {
    return switch_to(world.carrier, fiber, world.self, message);
  }
};

TEST(Fiber, RunsItsEntryAndComesBackWithWhatItWasSent) {
  World world;
  Runner runner(world, [](Runner& r) {
    int value = 7;
    auto* sent = static_cast<int*>(r.yield(&value));
    *sent += value;
  });
  EXPECT_EQ(*static_cast<int*>(runner.resume()), 7);
  int mine = 1;
  runner.resume(&mine);
  EXPECT_EQ(mine, 8);
  EXPECT_TRUE(runner.done);
}

TEST(Fiber, KeepsItsExceptionInHandApartFromOthers) {
  World world;
  const auto body = [](Runner& r) {
    try {
      throw std::runtime_error("mine");
    } catch (const std::exception&) {
      std::exception_ptr before = std::current_exception();
      r.yield();
      EXPECT_EQ(before, std::current_exception());
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      try {
        throw;
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "mine");
      }
    }
  };
  Runner a(world, body);
  Runner b(world, body);
  a.resume();
  b.resume();
  EXPECT_EQ(std::current_exception(), nullptr);
  a.resume();
  b.resume();
  EXPECT_TRUE(a.done && b.done);
}

TEST(Fiber, KeepsItsErrno) {
  World world;
  Runner a(world, [](Runner& r) {
    EXPECT_EQ(errno, 0);
    errno = 11;
    r.yield();
    EXPECT_EQ(errno, 11);
  });
  errno = 5;
  a.resume();
  EXPECT_EQ(errno, 5);
  a.resume();
  EXPECT_EQ(errno, 5);
}

TEST(Fiber, KnowsWhoseStackItIsOnByTheStackPointer) {
  World world;
  Runner a(world, [](Runner& r) {
    EXPECT_EQ(current_owner(), &r);
    r.yield();
    EXPECT_EQ(current_owner(), &r);
  });
  a.stack.record().owner = &a;
  EXPECT_EQ(current_owner(), nullptr);
  a.resume();
  EXPECT_EQ(current_owner(), nullptr);
  a.resume();
}

// More values than there are registers, integers and floating, alive over each switch.
[[gnu::noinline]] std::uint64_t mix(Carousel* carousel, std::uint64_t seed) {
  std::uint64_t x[20];
  double y[20];
  for (std::size_t i = 0; i < 20; ++i) {
    x[i] = seed + i * 7919;
    y[i] = static_cast<double>(seed + i);
  }
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < 20; ++i) {
      x[i] = x[i] * 6364136223846793005U + x[(i + 1) % 20];
      y[i] = y[i] * 0.5 + y[(i + 1) % 20] * 0.25 + 1;
    }
    if (carousel != nullptr) carousel->yield();
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 20; ++i) sum += x[i] + static_cast<std::uint64_t>(y[i] * 1024);
  return sum;
}

TEST(Fiber, FindsItsRegistersAsTheyWere) {
  Carousel carousel;
  std::uint64_t mixed[3] = {};
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    carousel.add([&, seed] { mixed[seed] = mix(&carousel, seed); });
  }
  carousel.run();
  for (std::uint64_t seed = 0; seed < 3; ++seed) EXPECT_EQ(mixed[seed], mix(nullptr, seed));
}

[[gnu::noinline]] void yield_below(Runner& runner, int levels) {
  if (levels == 0) {
    runner.yield();
  } else {
    yield_below(runner, levels - 1);
  }
  asm volatile("");  // no call is the last thing it does
}

TEST(Fiber, SaysFromOutsideWhichCallsAreUnderWay) {
  World world;
  Runner a(world, [](Runner& r) {
    yield_below(r, 0);
    yield_below(r, 9);
  });
  std::array<void*, 64> calls;
  EXPECT_EQ(calls_of(a.fiber.context(), calls), 1U);  // it was not started
  a.resume();
  const std::size_t few = calls_of(a.fiber.context(), calls);
  EXPECT_GE(few, 3U);
  EXPECT_EQ(calls_of(a.fiber.context(), std::span(calls).first(2)), 2U);
  a.resume();
  EXPECT_EQ(calls_of(a.fiber.context(), calls), few + 9);
  a.resume();
  EXPECT_TRUE(a.done);
}

TEST(Fiber, EndsAnUnwindersWalkAtItsBottom) {
  Carousel carousel;
  carousel.add([] {
    int frames = 0;
    const auto count = [](_Unwind_Context*, void* n) {
      return ++*static_cast<int*>(n) < 1000 ? _URC_NO_REASON : _URC_END_OF_STACK;
    };
    // The end of the stack, and not the 1000th frame nor an error.
    EXPECT_EQ(_Unwind_Backtrace(count, &frames), _URC_END_OF_STACK);
    EXPECT_GT(frames, 2);
    EXPECT_LT(frames, 100);
  });
  carousel.run();
}

TEST(Fiber, KeepsItsFloatControlIfItSaysSo) {
  Carousel carousel;
  carousel.add([&] {
    carousel.fiber().keep_float_control(carousel.carrier());
    std::fesetround(FE_UPWARD);
    carousel.yield();
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
  });
  carousel.add([&] {
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    carousel.yield();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  });
  carousel.run();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#ifndef NDEBUG
TEST(FiberDeathTest, AFloatControlThatWouldLeakIsFoundInDebugBuilds) {
  const auto leak = [] {
    Carousel carousel;
    carousel.add([&] {
      std::fesetround(FE_UPWARD);
      carousel.yield();
    });
    carousel.run();
  };
  EXPECT_DEATH(leak(), "a fiber changed the floating point control");
}
#endif

TEST(Fiber, GoesOnOnAnotherThreadWithWhatItHadInHand) {
  Carousel carousel;
  carousel.add([&] {
    errno = 3;
    try {
      throw std::runtime_error("mine");
    } catch (const std::exception& mine) {
      carousel.yield();  // goes on on the other thread
      EXPECT_STREQ(mine.what(), "mine");
      EXPECT_NE(std::current_exception(), nullptr);
      try {
        throw;
      } catch (const std::runtime_error&) {
      }
    }
    EXPECT_EQ(std::current_exception(), nullptr);
  });
  carousel.run_round();
  std::thread([&] {
    carousel.run_round();
    EXPECT_EQ(std::current_exception(), nullptr);
  }).join();
  EXPECT_TRUE(carousel.ended(0));
}

TEST(Fiber, CountsItsOwnExceptionsInFlight) {
  Carousel carousel;
  struct Yields {
    Carousel& carousel;
    ~Yields() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      carousel.yield();
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  for (int body = 0; body < 2; ++body) {
    carousel.add([&] {
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      try {
        const Yields yields{carousel};
        throw 1;
      } catch (int) {
      }
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    });
  }
  carousel.run();
}

#if !LEAT_ASAN && !LEAT_TSAN  // which follow our switches only, not bare jumps

// The jump alone, without what a switch keeps: what the tests above would find.
TEST(FiberTwinDeathTest, WithoutTheExchangeOthersSeeTheExceptionInHand) {
  const auto twin = [] {
    Carousel carousel;
    carousel.add([&] {
      try {
        throw 1;
      } catch (int) {
        carousel.jump();
      }
    });
    carousel.run_round();
    std::_Exit(std::current_exception() != nullptr ? 1 : 0);
  };
  EXPECT_EXIT(twin(), testing::ExitedWithCode(1), "");
}

TEST(FiberTwinDeathTest, WithoutTheExchangeOthersSeeErrnoAndRounding) {
  const auto twin = [] {
    Carousel carousel;
    carousel.add([&] {
      errno = 42;
      std::fesetround(FE_UPWARD);
      carousel.jump();
    });
    carousel.run_round();
    std::_Exit(errno == 42 && std::fegetround() == FE_UPWARD ? 1 : 0);
  };
  EXPECT_EXIT(twin(), testing::ExitedWithCode(1), "");
}

#endif

}  // namespace
}  // namespace leat::actor
