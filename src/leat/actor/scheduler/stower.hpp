// What      Stower: puts the stacks of those away that have waited for long, so that an actor which does
//           nothing takes some hundred bytes. One per runtime.
// Protocol  Workers call `look(now)` now and then. Every `stow_after` a pass over all actors begins: one
//           that waits gets a mark, and one that has the mark of the pass before is stowed; to run is to
//           lose the mark. Whoever runs it next unstows it.
// Invariants
//   (1) Only an actor that was claimed (RunState) is copied, and it is not run meanwhile.
//   (2) The stack that the caller runs on is never stowed.
// Limits    Only those are stowed who said that they may be. A pass goes over some actors at each call,
//           in the order of their slots.
// Cost      A relaxed load, while nobody may be stowed or all are. Stowing: a copy of what is live, and
//           a system call for up to 64 neighbours. To come back: a fault, and the copy.
// Source    The clock algorithm for pages; libaco, BEAM's hibernate.
#pragma once

#include <leat/actor/scheduler/run_state.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace leat::actor {

struct Actor;
class Scheduler;

class Stower {
 public:
  Stower(Scheduler& scheduler, Nanos after, std::size_t above) noexcept
      : scheduler_(scheduler), after_(after), above_(above) {}
  Stower(const Stower&) = delete;
  Stower& operator=(const Stower&) = delete;

  /// That many more may be stowed. Threads: any.
  void count(std::int64_t more) noexcept { may_.fetch_add_relaxed(more); }

  /// Does what is due of a pass. Returns: when there is something to do next; nothing if there is not.
  /// Threads: workers, one at a time does the work.
  std::optional<Nanos> look(Nanos now) { return is_wanted() ? look_on(now) : std::nullopt; }

  /// Whether there may be something to do.
  [[nodiscard]] bool is_wanted() const noexcept {
    return may_.load_relaxed() != stowed_.load_relaxed();
  }

  /// Stows all who wait and may be stowed, at once. Returns: how many. Threads: workers.
  std::size_t stow_all();

  /// Puts an actor's stack back. Threads: the worker that runs it next.
  void unstow(Actor& actor) noexcept;

  /// How many are stowed. Threads: any; beside those who come and go it is a guess.
  [[nodiscard]] std::size_t stowed() const noexcept {
    return static_cast<std::size_t>(stowed_.load_relaxed());
  }

 private:
  static constexpr std::uint32_t kAtOnce = 1024;
  static constexpr std::size_t kBatch = 64;

  [[nodiscard]] std::optional<Nanos> look_on(Nanos now);
  std::size_t pass_over(std::uint32_t from, std::uint32_t to, bool marked);

  Scheduler& scheduler_;
  const Nanos after_;
  const std::size_t above_;
  // Counts, which order nothing: relaxed.
  Atomic<std::int64_t> may_{0};
  Atomic<std::int64_t> stowed_{0};
  std::mutex mutex_;
  std::uint32_t hand_ = 0;  // guarded by mutex_: the next slot of this pass
  Nanos next_pass_{0};      // guarded by mutex_
  bool pressed_ = false;    // guarded by mutex_: this pass needs no marks
};

}  // namespace leat::actor
