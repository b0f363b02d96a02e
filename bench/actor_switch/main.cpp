// What does it cost to leave one stack and go on on another, and what do its parts cost?
//
// `swap` is the jump alone, `switch` with what is kept per fiber, each among n fibers in a ring. `start`
// is a stack from the cache, a fiber started on it, entered and left for good, and the stack given back:
// the part of spawn and join that is not the scheduler's. `count` is what preemption adds to each
// allocation.
#include "../support/suite.hpp"

#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/stack/stack_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leat::bench {
namespace {

using namespace leat::actor;

enum class What { swap, change, change_keeping_float };

// Fibers that pass the turn around, until it went round often enough.
class Ring {
 public:
  Ring(std::size_t n, What what) : riders_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      Rider& rider = riders_[i];
      rider.ring = this;
      rider.next = &riders_[(i + 1) % n];
      rider.stack = pool_.take();
      require(static_cast<bool>(rider.stack), "no stack");
      rider.fiber.start(rider.stack.slot(), rider.stack.top(),
                        what == What::swap ? &Ring::enter<true> : &Ring::enter<false>, &rider);
      if (what == What::change_keeping_float) rider.fiber.keep_float_control(carrier_);
    }
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    for (const Rider& rider : riders_) pool_.give(rider.stack);
  }

  void go(std::uint64_t switches) {
    left_ = switches;
    switch_to(carrier_, own_, riders_[at_].fiber);
  }

 private:
  struct Rider {
    Ring* ring = nullptr;
    Rider* next = nullptr;
    Stack stack;
    Fiber fiber;
  };

  template <bool kJumpOnly>
  static void enter(void* argument, void* /*message*/) {
    auto& self = *static_cast<Rider*>(argument);
    Ring& ring = *self.ring;
    for (;;) {
      if (ring.left_-- == 0) {
        ring.at_ = static_cast<std::size_t>(&self - ring.riders_.data());
        switch_to(ring.carrier_, self.fiber, ring.own_);
      }
      if constexpr (kJumpOnly) {
        // Nothing here has an exception in hand or an errno, so the jump alone will do.
        swap_context(const_cast<Context&>(self.fiber.context()), self.next->fiber.context(),
                     nullptr);
      } else {
        switch_to(ring.carrier_, self.fiber, self.next->fiber);
      }
    }
  }

  Carrier carrier_;
  Fiber own_;
  StackPool pool_{{}};
  std::vector<Rider> riders_;
  std::size_t at_ = 0;
  std::uint64_t left_ = 0;
};

void add_ring(Suite& suite, const char* name, What what, std::size_t n) {
  suite.run({.params = {{"what", name}, {"fibers", static_cast<std::int64_t>(n)}},
             .iterations = 20'000'000,
             .tiny_iterations = 2'000,
             .countable = true},
            [=](std::uint64_t iterations) {
              Ring ring(n, what);
              ring.go(2 * n);  // each once, so that all are started and their stacks touched
              const Stopwatch watch;
              ring.go(iterations);
              return Sample(watch.stop(), iterations);
            });
}

struct OneShot {
  Carrier carrier;
  Fiber own;
  Fiber fiber;
  std::uint64_t ran = 0;
};

void run_once(void* argument, void* /*message*/) {
  auto& shot = *static_cast<OneShot*>(argument);
  ++shot.ran;
  switch_for_good(shot.carrier, shot.fiber, shot.own);
}

Sample start_and_end(std::uint64_t iterations) {
  StackPool pool({});
  StackCache cache(pool);
  cache.give(cache.take());
  const std::uint64_t calls = pool.region().system_calls();
  OneShot shot;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const Stack stack = cache.take();
    shot.fiber.start(stack.slot(), stack.top(), &run_once, &shot);
    switch_to(shot.carrier, shot.own, shot.fiber);
    cache.give(stack);
  }
  const Lap lap = watch.stop();
  require(shot.ran == iterations, "not every fiber ran");
  require(pool.region().system_calls() == calls, "a warm start made a system call");
  return {lap, iterations};
}

Sample count(std::uint64_t iterations) {
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) checkpoint();
  return {watch.stop(), iterations};
}

Sample owner(std::uint64_t iterations) {
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    require(current_owner() == nullptr, "a plain thread is no actor");
    asm volatile("" : : : "memory");
  }
  return {watch.stop(), iterations};
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("actor_switch", argc, argv);
  for (const std::size_t n : {2UL, 1000UL}) {
    add_ring(suite, "swap", What::swap, n);
    add_ring(suite, "switch", What::change, n);
    add_ring(suite, "switch_keeping_float", What::change_keeping_float, n);
  }
  suite.run({.params = {{"what", "start"}},
             .iterations = 10'000'000,
             .tiny_iterations = 1'000,
             .countable = true},
            start_and_end);
  suite.run({.params = {{"what", "count"}},
             .iterations = 50'000'000,
             .tiny_iterations = 1'000,
             .countable = true},
            count);
  suite.run({.params = {{"what", "owner"}},
             .iterations = 50'000'000,
             .tiny_iterations = 1'000,
             .countable = true},
            owner);
  return suite.finish();
}
