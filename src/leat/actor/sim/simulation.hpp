// What      simulate(): runs a program of actors on the real scheduler in one thread, with every
//           choice drawn from a seed: which worker goes on, which of its actors, whether an actor
//           goes on at each lock it takes; and faults, if asked for. Time is virtual.
// Protocol  const SimulationReport report = simulate({.seed = 7}, [] { ... });
//           EXPECT_TRUE(report.ok) << report.failure;
//           The same seed gives the same trace; a failure names its seed.
// Limits    The program must do the same thing each time otherwise: no real clock, no plain threads,
//           no addresses in decisions. What memory orders allow is not simulated: that is the model
//           checker's part.
// Cost      About a microsecond a choice.
// Source    Pony's systematic testing, shuttle, CAF's test fixture.
#pragma once

#include <leat/actor/spawn.hpp>
#include <leat/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace leat::actor {

struct SimulationOptions {
  std::uint64_t seed = 1;
  std::size_t workers = 2;
  /// At how many of 256 locks an actor is made to let others run.
  unsigned switches = 64;
  /// At how many of 65536 locks the actor that takes it is cancelled; the first one never is.
  unsigned cancels = 0;
  /// At how many of 65536 choices time passes though somebody can run, by up to `delay_most`.
  unsigned delays = 0;
  Nanos delay_most = std::chrono::milliseconds(10);
  /// At how many of 256 allocations an actor is made to let others run, and at how many of 65536 one
  /// fails (std::bad_alloc, or null); not the first actor's. Programs that link leat::actor_preempt.
  unsigned preemptions = 0;
  unsigned failures = 0;
  /// When it counts as endless.
  std::uint64_t steps_max = 1'000'000;
};

struct SimulationReport {
  bool ok = false;
  std::uint64_t trace = 0;  ///< a hash of all choices
  std::uint64_t steps = 0;
  std::uint64_t cancelled = 0;  ///< faults that were put in
  std::uint64_t failed = 0;     ///< allocations that were made to fail
  Nanos time{0};                ///< virtual time at the end
  std::string failure;  ///< what went wrong: the first actor's exception, a deadlock, no end
};

/// Runs `first` as the first actor, and all it starts, to the end. Threads: a plain one.
///
/// Throws: UsageError if allocations are to be looked at and the program does not have them counted.
[[nodiscard]] SimulationReport simulate(const SimulationOptions& options,
                                        std::function<void()> first);

}  // namespace leat::actor
