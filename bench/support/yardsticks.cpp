#include "yardsticks.hpp"

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/os/affinity.hpp>
#include <leat/base/os/futex.hpp>

#include <cstdint>
#include <thread>

namespace leat::bench {

namespace {

struct arrive : Edge {};  // who arrives -> who waits: all that a barrier promises, and nothing else

// Counts how often this thread arrived. The one who leads ends it by setting the last bit.
struct alignas(kSector) Arrivals {
  Atomic<std::uint32_t> word{0};
};

constexpr std::uint32_t kLast = 1U << 31;
constexpr std::uint32_t kLookAtClockEach = 64;

// Runs `leader` and `follower` on threads of their own, each on a core if there are two.
template <class Leader, class Follower>
void on_two_threads(const Leader& leader, const Follower& follower) {
  const auto cpus = os::cpus_allowed();
  const auto pin = [&](std::size_t index) {
    // If the system refuses, the thread runs where it will; the figure shows it.
    if (cpus.size() > 1) static_cast<void>(os::pin_this_thread(cpus[index]));
  };
  std::thread other([&] {
    pin(1);
    follower();
  });
  std::thread one([&] {
    pin(0);
    leader();
  });
  one.join();
  other.join();
}

// A barrier of two threads: `announce(word)` after a store, `wait(word, seen)` while that is not
// enough.
template <class Announce, class Wait>
double barrier_ns(Nanos budget, const Announce& announce, const Wait& wait) {
  Arrivals leader;
  Arrivals follower;
  double ns = 0;
  const auto await = [&](Arrivals& other, std::uint32_t round) {
    for (;;) {
      const std::uint32_t seen = other.word.load_acquire(arrive{});
      // The other may be one ahead, and then it is that one which is the last.
      if ((seen & ~kLast) >= round) return seen == (round | kLast);
      wait(other.word, seen);
    }
  };
  on_two_threads(
      [&] {
        const RealClock clock;
        leader.word.store_release(1, arrive{});
        announce(leader.word);
        await(follower, 1);  // both run
        const Nanos start = clock.now();
        std::uint32_t round = 1;
        for (std::uint32_t last = 0; last == 0;) {
          ++round;
          if (round % kLookAtClockEach == 0 && clock.now() - start > budget) last = kLast;
          leader.word.store_release(round | last, arrive{});
          announce(leader.word);
          await(follower, round);
        }
        ns = static_cast<double>((clock.now() - start).count()) / (round - 1);
      },
      [&] {
        bool last = false;
        for (std::uint32_t round = 1; !last; ++round) {
          follower.word.store_release(round, arrive{});
          announce(follower.word);
          last = await(leader, round);
        }
      });
  return ns;
}

double bounce_ns(Nanos budget) {
  Arrivals line;  // odd: the follower's turn; even: the leader's
  double ns = 0;
  on_two_threads(
      [&] {
        const RealClock clock;
        const auto round_trip = [&](std::uint32_t turn, std::uint32_t last) {
          line.word.store_release(turn | last, arrive{});
          while (line.word.load_acquire(arrive{}) != turn + 1) {
          }
        };
        round_trip(1, 0);  // both run
        const Nanos start = clock.now();
        std::uint32_t trips = 0;
        for (std::uint32_t last = 0; last == 0;) {
          ++trips;
          if (trips % kLookAtClockEach == 0 && clock.now() - start > budget) last = kLast;
          round_trip(2 * trips + 1, last);
        }
        ns = static_cast<double>((clock.now() - start).count()) / trips;
      },
      [&] {
        for (std::uint32_t turn = 1;; turn += 2) {
          std::uint32_t seen = 0;
          while (((seen = line.word.load_acquire(arrive{})) & ~kLast) != turn) {
          }
          line.word.store_release(turn + 1, arrive{});
          if ((seen & kLast) != 0) return;
        }
      });
  return ns;
}

}  // namespace

Yardsticks measure_yardsticks(Nanos budget) {
  Yardsticks yardsticks;
  yardsticks.spin_barrier_ns = barrier_ns(
      budget, [](Atomic<std::uint32_t>&) {}, [](Atomic<std::uint32_t>&, std::uint32_t) {});
  yardsticks.futex_barrier_ns = barrier_ns(
      budget, [](Atomic<std::uint32_t>& word) { os::futex_wake(word, 1); },
      [](Atomic<std::uint32_t>& word, std::uint32_t seen) { os::futex_wait(word, seen); });
  yardsticks.line_bounce_ns = bounce_ns(budget);
  return yardsticks;
}

}  // namespace leat::bench
