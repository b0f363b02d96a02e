// What      Three figures of the machine itself, taken in the process that takes the others, so
//           that figures from different machines and hours can be compared as ratios.
//             spin barrier   two threads, each storing a count on a line of its own and polling the
//                            other's: the least that two cores need to agree
//             futex barrier  the same, but who waits sleeps and who arrives wakes: what the
//                            operating system adds
//             line bounce    one cache line to the other core and back
// Limits    With one core the first and the last only tell how long a time slice is.
// Cost      About 60 ms for all three.
#pragma once

#include <chrono>
#include <string>

namespace leat::bench {

/// Nanoseconds per iteration, and per round trip for the bounce.
struct Yardsticks {
  double spin_barrier_ns = 0;
  double futex_barrier_ns = 0;
  double line_bounce_ns = 0;
};

/// Takes each for about `budget`. Starts two threads, pinned to a core each if there are two.
[[nodiscard]] Yardsticks measure_yardsticks(
    std::chrono::nanoseconds budget = std::chrono::milliseconds(20));

[[nodiscard]] std::string to_json(const Yardsticks& yardsticks);

}  // namespace leat::bench
