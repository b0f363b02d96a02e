// What      Wheel: the timers of one worker's actors. A timer is a node that its owner keeps; when
//           its time has come the wheel hands it back.
// Shape     Time in ticks of a millisecond. Six levels of 64 slots; a slot of level l is 64^l ticks:
//             level 0  |.|.|x|.| ...    what is due within 64 ticks, by tick
//             level 1  |.|x|.|.| ...    within 64^2, by 64 ticks; falls to level 0 when its turn
//             ...                       comes
//           A word per level says which slots hold something.
// Invariants
//   (1) A timer is handed back when its deadline has passed, never before; at most a tick late, if
//       `advance` is called in time.
//   (2) A node that differs from `elapsed_` first in digit l (to base 64) lies on level l.
// Limits    One thread at a time. The longest delay is 63 * 64^5 ticks (2 years); longer ones come
//           to that, and are put on again.
// Cost      arm, cancel: a dozen instructions, no allocation. A timer moves at most 5 times.
// Source    Varghese and Lauck 1987; the digits by xor are Tokio's.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/check.hpp>
#include <leat/base/clock.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace leat::actor {

struct TimerNode {
  TimerNode* previous = nullptr;
  TimerNode* next = nullptr;
  std::uint64_t tick = 0;
  std::uint8_t level = 0;
  std::uint8_t slot = 0;
  bool armed = false;
};

class Wheel {
 public:
  static constexpr Nanos kTick = std::chrono::milliseconds(1);

  /// A wheel whose first tick begins at `origin`.
  explicit Wheel(Nanos origin) noexcept : origin_(origin) {}
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  /// Has `node` handed back by the first `advance` at or after `deadline`.
  ///
  /// Requires: it is not armed. It stays where it is until it was handed back or cancelled.
  void arm(TimerNode& node, Nanos deadline) noexcept {
    LEAT_DCHECK(!node.armed, "a timer was armed twice");
    node.tick = std::max(tick_not_before(deadline), elapsed_ + 1);
    node.armed = true;
    size_.store_relaxed(size() + 1);
    put(node);
  }

  /// Takes a timer back. Requires: it is armed, here.
  void cancel(TimerNode& node) noexcept {
    LEAT_DCHECK(node.armed, "a timer was cancelled that is not armed");
    unlink(node);
    node.armed = false;
    size_.store_relaxed(size() - 1);
  }

  /// Calls `expire(node)` for each timer whose time has come, in the order of ticks. `expire` may
  /// arm and cancel.
  template <class Expire>
  void advance(Nanos now, Expire&& expire) {
    const std::uint64_t to = tick_at(now);
    while (const std::optional<Stop> stop = next_stop()) {
      if (stop->tick > to) break;
      elapsed_ = std::max(elapsed_, stop->tick);
      while (TimerNode* const node = slots_[stop->level][stop->slot]) {
        unlink(*node);
        if (node->tick > elapsed_) {
          put(*node);  // falls to a lower level
          continue;
        }
        node->armed = false;
        size_.store_relaxed(size() - 1);
        expire(*node);
      }
    }
    elapsed_ = std::max(elapsed_, to);
  }

  /// When `advance` has something to do next; nothing if no timer is armed. A time may be named at
  /// which a timer only falls to a lower level.
  [[nodiscard]] std::optional<Nanos> next_look() const noexcept {
    const std::optional<Stop> stop = next_stop();
    if (!stop) return std::nullopt;
    return origin_ + kTick * static_cast<Nanos::rep>(stop->tick);
  }

  /// Whether `advance(now)` would find its wheel unchanged but for the time.
  [[nodiscard]] bool is_quiet(Nanos now) const noexcept {
    return size() == 0 || tick_at(now) <= elapsed_;
  }

  /// How many timers are armed. Threads: any; beside those who arm and cancel it is a guess.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load_relaxed(); }

 private:
  static constexpr unsigned kLevels = 6;
  static constexpr unsigned kBits = 6;
  static constexpr std::uint64_t kSlots = 64;
  // All slots of the highest level but the one we are in.
  static constexpr std::uint64_t kSpan = (kSlots - 1) << ((kLevels - 1) * kBits);

  struct Stop {
    std::uint64_t tick;
    unsigned level;
    unsigned slot;
  };

  [[nodiscard]] std::uint64_t tick_at(Nanos now) const noexcept {
    return now <= origin_ ? 0 : static_cast<std::uint64_t>((now - origin_) / kTick);
  }
  [[nodiscard]] std::uint64_t tick_not_before(Nanos deadline) const noexcept {
    if (deadline <= origin_) return 0;
    const Nanos since = deadline - origin_;
    return static_cast<std::uint64_t>(since / kTick) + (since % kTick != Nanos{0} ? 1 : 0);
  }

  void put(TimerNode& node) noexcept {
    const std::uint64_t tick = std::min(node.tick, elapsed_ + kSpan);
    const std::uint64_t differs = (elapsed_ ^ tick) | (kSlots - 1);
    const auto level =
        std::min(static_cast<unsigned>(63 - std::countl_zero(differs)) / kBits, kLevels - 1);
    const auto slot = static_cast<unsigned>((tick >> (level * kBits)) & (kSlots - 1));
    node.level = static_cast<std::uint8_t>(level);
    node.slot = static_cast<std::uint8_t>(slot);
    TimerNode*& first = slots_[level][slot];
    // Behind the others: the list is a ring by `previous` of its first node.
    node.next = nullptr;
    if (first == nullptr) {
      node.previous = &node;
      first = &node;
      occupied_[level] |= std::uint64_t{1} << slot;
    } else {
      node.previous = first->previous;
      first->previous->next = &node;
      first->previous = &node;
    }
  }

  void unlink(TimerNode& node) noexcept {
    TimerNode*& first = slots_[node.level][node.slot];
    if (first == &node) {
      first = node.next;
      if (first != nullptr) {
        first->previous = node.previous;
      } else {
        occupied_[node.level] &= ~(std::uint64_t{1} << node.slot);
      }
    } else {
      node.previous->next = node.next;
      (node.next != nullptr ? node.next : first)->previous = node.previous;
    }
  }

  [[nodiscard]] std::optional<Stop> next_stop() const noexcept {
    for (unsigned level = 0; level < kLevels; ++level) {
      if (occupied_[level] == 0) continue;
      const unsigned shift = level * kBits;
      const auto at = static_cast<unsigned>((elapsed_ >> shift) & (kSlots - 1));
      // Slots are looked at from where we are; what lies before belongs to the next turn, which
      // happens on the highest level only, by (2).
      const std::uint64_t turned = std::rotr(occupied_[level], static_cast<int>(at));
      const auto slots_on = static_cast<std::uint64_t>(std::countr_zero(turned));
      const std::uint64_t tick = ((elapsed_ >> shift) + slots_on) << shift;
      return Stop{tick, level, static_cast<unsigned>((at + slots_on) & (kSlots - 1))};
    }
    return std::nullopt;
  }

  Nanos origin_;
  std::uint64_t elapsed_ = 0;
  Atomic<std::size_t> size_{0};  // changed by one at a time, looked at by any; carries nothing else
  std::uint64_t occupied_[kLevels] = {};
  TimerNode* slots_[kLevels][kSlots] = {};
};

}  // namespace leat::actor
