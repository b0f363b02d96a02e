// What      shut_down: ends all actors of a runtime in order, within a time, and says who did not.
// Protocol  In an actor, when a signal has come:
//               const ShutdownReport report = shut_down_others({.grace = seconds(10)});
//           On a plain thread, beside or after `run`:  runtime.shut_down({.grace = seconds(10)})
// Shape     drain    nobody is told anything: who is about to finish may
//           told     each gets Exit::shutdown: first those that have neither a name nor a parent, all
//                    at once; then the others, who was started last first, each waited for before the
//                    next; daemons after all others. Children of a supervisor are its own affair: it
//                    is told, and ends them in its order.
//           killed   who lives when `grace` is over, all at once
//           left     who lives when `patience` is over: told of, with what it waits for and its calls
// Invariants
//   (1) It returns after drain + grace + patience, and what it takes to look at stragglers.
//   (2) Who is started meanwhile is told, too.
//   (3) The caller is not told. It is not told to end by others either until it is done.
// Limits    An actor ends at its next call that may wait: one that never waits, or in a CancelShield,
//           is left behind. A runtime is not destroyed before it has ended; a program that wants to go
//           all the same calls std::quick_exit.
// Source    Erlang's init:stop and supervisors; Tokio's shutdown_timeout.
#pragma once

#include <leat/actor/look/census.hpp>
#include <leat/base/clock.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace leat::actor {

class Runtime;

struct ShutdownOptions {
  Nanos drain{0};
  Nanos grace = std::chrono::seconds(5);
  Nanos each = std::chrono::seconds(1);  ///< of `grace`, for one before the next is told
  Nanos patience = std::chrono::seconds(1);
};

struct [[nodiscard]] ShutdownReport {
  std::size_t told = 0;
  std::size_t killed = 0;
  Census stragglers;  ///< who goes on
  /// Whether all have ended.
  [[nodiscard]] bool ok() const noexcept { return stragglers.empty(); }
  /// A line for all, and the tree of who goes on.
  [[nodiscard]] std::string text() const;
};

/// Ends all actors of the running actor's runtime but itself.
///
/// Throws: UsageError on a plain thread, or if a time is below 0.
ShutdownReport shut_down_others(const ShutdownOptions& options = {});

}  // namespace leat::actor
