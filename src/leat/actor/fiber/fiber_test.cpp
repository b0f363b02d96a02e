#include <leat/actor/fiber/fiber.hpp>

#include <leat/actor/stack/stack_pool.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <stdexcept>

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

}  // namespace
}  // namespace leat::actor
