// What      Lanes: the actors that wait for their turn on one worker, by scheduling group, and which
//           group's turn it is. A worker has them if its runtime has groups.
// Protocol  The worker puts all that can run into their lanes, and asks for the next: it comes from the
//           lane that has had least of its share. Time is charged to the lane of who ran.
// Invariants
//   (1) A lane's pass is the time that its actors had, divided by its shares. Among lanes that always
//       have somebody the passes stay within a turn of each other, so that times go as shares.
//   (2) A lane that was empty begins where the others are: time that it did not want is gone.
// Limits    Each worker keeps shares by itself: a group whose actors all lie on one worker gets its
//           share of that one. Who is to stay on this worker waits beside those who may be stolen.
// Cost      A look at the clock and at each group for each turn.
// Source    Stride scheduling (Waldspurger and Weihl 1995); groups: Seastar's.
#pragma once

#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/scheduler/actor_list.hpp>
#include <leat/actor/scheduler/run_queue.hpp>
#include <leat/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace leat::actor {

class Lanes {
 public:
  /// `shares`: by group; 0: there is no such group.
  explicit Lanes(const std::vector<std::uint32_t>& shares);
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Puts an actor behind the others of its group; `stays`: not to be stolen.
  /// Returns: false if there is no room. Threads: the worker.
  [[nodiscard]] bool put(Actor& actor, bool stays) noexcept;

  /// The next to run, who runs from `now` on; null if nobody waits. Threads: the worker.
  [[nodiscard]] Actor* choose(Sharing sharing, Nanos now) noexcept;

  /// `actor`, which was not chosen here, runs from `now` on. Threads: the worker.
  void begin(const Actor& actor, Nanos now) noexcept;

  /// Takes up to half of some group's actors, as RunQueue::steal. Threads: any.
  template <class Give>
  std::size_t steal(std::size_t most, Give&& give) {
    for (const std::unique_ptr<Lane>& lane : lanes_) {
      if (lane == nullptr) continue;
      if (const std::size_t count = lane->queue.steal(most, give); count > 0) return count;
    }
    return 0;
  }
  [[nodiscard]] bool has_loot() const noexcept;

  /// The time that the actors of a group had here. Threads: the worker, or nobody runs.
  [[nodiscard]] Nanos time_of(std::size_t group) const noexcept;

 private:
  struct Lane {
    std::uint64_t shares = 1;
    std::uint64_t pass = 0;
    Nanos time{0};
    bool waits = false;  // there may be somebody
    ActorList stay;
    RunQueue<Actor> queue;
  };
  // Nanoseconds of a lane with as many shares go into its pass as they are.
  static constexpr std::uint64_t kScale = std::uint64_t{1} << 10;

  void charge(Nanos now) noexcept;

  std::vector<std::unique_ptr<Lane>> lanes_;
  Lane* runs_ = nullptr;
  Nanos since_{0};
  std::uint64_t pass_ = 0;  // of the lane that was chosen last
};

}  // namespace leat::actor
