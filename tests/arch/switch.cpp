// Fibers on another machine: built by its cross compiler, linked statically, and run by qemu-user.
// Prints what went wrong and returns 1; checks what the unit tests check on this machine.
#include <leat/actor/fiber/calls.hpp>
#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/stack/stack_pool.hpp>

#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace {

using namespace leat::actor;

int failures = 0;
void expect(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("switch: %s\n", what);
}

struct World {
  Carrier carrier;
  Fiber own;
  StackPool pool{{}};
};

struct Rider {
  World* world;
  std::uint64_t seed;
  bool keeps_float = false;
  Stack stack{};
  Fiber fiber{};
  bool ended = false;

  void* yield() { return switch_to(world->carrier, fiber, world->own); }
};

// More values than there are registers, integers and floating, alive over each switch.
[[gnu::noinline]] std::uint64_t mix(Rider& rider, int rounds) {
  std::uint64_t x[24];
  double y[20];
  for (int i = 0; i < 24; ++i) x[i] = rider.seed + static_cast<std::uint64_t>(i) * 7919;
  for (int i = 0; i < 20; ++i)
    y[i] = static_cast<double>(rider.seed % 1000 + static_cast<unsigned>(i));
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 24; ++i) x[i] = x[i] * 6364136223846793005U + x[(i + 1) % 24];
    for (int i = 0; i < 20; ++i) y[i] = y[i] * 0.5 + y[(i + 1) % 20] * 0.25 + 1;
    if (rider.world != nullptr) rider.yield();
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t value : x) sum += value;
  for (const double value : y) sum += static_cast<std::uint64_t>(value * 1024);
  return sum;
}

std::uint64_t mixed[2];

void body(void* argument, void* /*message*/) {
  auto& self = *static_cast<Rider*>(argument);
  expect(current_owner() == &self, "the owner is not found by the stack pointer");
  expect(errno == 0, "a fresh fiber has an errno");
  errno = static_cast<int>(self.seed);
  if (self.keeps_float) std::fesetround(FE_UPWARD);
  self.yield();
  expect(errno == static_cast<int>(self.seed), "errno is shared");
  expect(std::fegetround() == (self.keeps_float ? FE_UPWARD : FE_TONEAREST), "rounding is shared");
  if (self.keeps_float) std::fesetround(FE_TONEAREST);
  try {
    throw std::runtime_error(self.seed == 1 ? "one" : "two");
  } catch (const std::exception& mine) {
    self.yield();
    expect(mine.what()[0] == (self.seed == 1 ? 'o' : 't'), "another's exception");
    try {
      throw;
    } catch (const std::runtime_error& again) {
      expect(again.what()[0] == (self.seed == 1 ? 'o' : 't'), "another's exception thrown again");
    }
  }
  expect(std::uncaught_exceptions() == 0, "an exception is still in flight");
  mixed[self.seed - 1] = mix(self, 1000);
  self.ended = true;
  switch_for_good(self.world->carrier, self.fiber, self.world->own);
}

void run() {
  World world;
  Rider riders[2] = {{&world, 1, true}, {&world, 2}};
  for (Rider& rider : riders) {
    rider.stack = world.pool.take();
    rider.stack.record().owner = &rider;
    rider.fiber.start(rider.stack.slot(), rider.stack.top(), &body, &rider);
    if (rider.keeps_float) rider.fiber.keep_float_control(world.carrier);
  }
  while (!riders[0].ended || !riders[1].ended) {
    for (Rider& rider : riders) {
      if (!rider.ended) switch_to(world.carrier, world.own, rider.fiber);
      void* calls[8];
      if (!rider.ended)
        expect(calls_of(rider.fiber.context(), calls) > 2, "its calls are not found");
      expect(std::fegetround() == FE_TONEAREST, "rounding leaks to the thread");
    }
  }
  for (std::uint64_t seed : {1U, 2U}) {
    Rider alone{nullptr, seed};
    expect(mix(alone, 1000) == mixed[seed - 1], "registers are not what they were");
  }
  for (const Rider& rider : riders) world.pool.give(rider.stack);

  // The word of the thread is found without the compiler's help.
  const std::uint32_t held = turn().held();
  {
    const NoPreempt hold;
    expect(turn().held() == held + 1, "NoPreempt holds nothing");
  }
  expect(turn().held() == held, "NoPreempt holds for ever");
}

}  // namespace

int main() {
  // The emulator keeps books on every page.
  StackRegion::process({.class_bytes = std::size_t{1} << 26});
  run();
  if (failures == 0) std::puts("switch: well");
  return failures == 0 ? 0 : 1;
}
