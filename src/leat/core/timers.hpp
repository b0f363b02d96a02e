// What      Timers: what one worker thread has been asked to do at given times. The worker fires
//           those that are due once a round, and sleeps no longer than until the next.
// Shape     A binary heap of (deadline, order of arming, slot), and slots that know their place:
//             heap_   [3 ms, #7, slot 0] [5 ms, #2, slot 2] ...
//             slots_  callback, order of arming, place in heap_
// Protocol  `arm` gives an id; `cancel` with it, or let `fire_due` call the callback once. A
//           callback may arm and cancel, itself included.
// Invariants
//   (1) Of those due, timers fire in the order of deadlines, and of arming where these are equal.
//   (2) None fires before its deadline.
//   (3) What is armed during `fire_due` fires in a later call: a timer that arms itself for the
//       past does not keep the worker.
//   (4) An id is never used twice: a stale one cancels nothing.
// Limits    One thread. Deadlines are exact, as the sleep needs them; a wheel would round to ticks.
// Cost      arm, cancel, fire: O(log n) and no allocation once grown; next_deadline: one load.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/function.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace leat::core {

/// Names one armed timer. The default value names none.
class TimerId {
 public:
  constexpr TimerId() noexcept = default;

  friend constexpr bool operator==(TimerId, TimerId) noexcept = default;

 private:
  friend class Timers;  // makes and reads ids
  constexpr TimerId(std::uint32_t slot, std::uint64_t order) noexcept
      : slot_(slot), order_(order) {}

  std::uint32_t slot_ = 0;
  std::uint64_t order_ = 0;  // of arming, from 1; 0 is nobody's
};

class Timers {
 public:
  explicit Timers(const Clock& clock) noexcept : clock_(clock) {}
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  /// Has `callback` called by the first `fire_due` at or after `deadline`.
  TimerId arm(Nanos deadline, Function<void()> callback);

  /// The same, `delay` from now; at the end of time if that is further away than a clock can say.
  TimerId arm_after(Nanos delay, Function<void()> callback) {
    const Nanos now = clock_.now();
    return arm(delay > Nanos::max() - now ? Nanos::max() : now + delay, std::move(callback));
  }

  /// Takes a timer back and destroys its callback.
  ///
  /// Returns: false if it has fired, is firing, or was cancelled.
  bool cancel(TimerId id) noexcept;

  /// The time of the earliest timer; nothing if none is armed.
  [[nodiscard]] std::optional<Nanos> next_deadline() const noexcept;

  /// How long a worker may sleep: zero if a timer is due, nothing if none is armed.
  [[nodiscard]] std::optional<Nanos> time_left() const noexcept;

  /// Calls the callbacks of all timers whose deadline has come, reading the clock once.
  ///
  /// Returns: how many were called. An exception of a callback comes through; the rest stay due.
  /// Requires: not called from a callback; checked.
  std::size_t fire_due();

  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

 private:
  struct Entry {
    Nanos deadline;
    std::uint64_t order;
    std::uint32_t slot;
  };
  struct Slot {
    Function<void()> callback;
    std::uint64_t order = 0;  // of the timer that lives here; 0 if free
    std::size_t place = 0;    // in heap_
  };

  static bool earlier(const Entry& a, const Entry& b) noexcept {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.order < b.order;
  }
  void find_due(Nanos now);
  void put(std::size_t place, const Entry& entry) noexcept;
  void sift_up(std::size_t place) noexcept;
  void sift_down(std::size_t place) noexcept;
  Function<void()> take(std::size_t place) noexcept;

  const Clock& clock_;
  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Entry> due_;               // of fire_due; a member for its capacity
  std::vector<std::size_t> due_places_;  // of find_due; likewise
  std::uint64_t next_order_ = 1;
  bool firing_ = false;
};

}  // namespace leat::core
