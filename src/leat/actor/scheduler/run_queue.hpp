// What      RunQueue: the actors that wait for their turn on one worker. Its owner puts in behind
//           and takes in front; other workers steal half of what is in front.
// Shape     head_ <= tail_, both 64-bit counts; slot i lies at i % N.
//             ... taken | head_  waiting actors  tail_ | free ...
// Protocol  Owner: `push`: store the slot, then tail_. `pop`: read the slot, then move head_ by
//           one. Thief: read head_, then tail_; copy half of the slots; move head_ by as many in
//           one swap. Whoever moves head_ owns what it passed.
// Invariants
//   (1) Slots in [head_, tail_) are not written: a thief whose swap succeeds has copied what they
//       held, since head_ never comes back to a value.
//   (2) Each actor that was put in is taken out once.
// Ordering  fill   tail_ -> thief: the slots it copies, and the actors, are whole.
//           taken  head_ -> owner: the slot was copied before it is written again.
//           Slots are relaxed: a copy that raced with a write is thrown away by (1).
// Limits    Fixed size. A full queue says no; the caller puts half of it elsewhere.
//           `Sharing::solo`: there are no thieves; head_ is moved by a store.
// Cost      push: no swap. pop: one swap of a line that thieves rarely touch; solo, none.
// Source    Go's and Tokio's run queues.
#pragma once

#include <leat/actor/scheduler/run_state.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::actor {

template <class Item, std::size_t kSlots = 256>
class RunQueue {
  static_assert((kSlots & (kSlots - 1)) == 0 && kSlots > 0, "a power of two");

  struct fill : Edge {};   // owner's tail_ -> thief: slots and actors are whole
  struct taken : Edge {};  // head_ -> owner: the slot was copied before it is written again

 public:
  static constexpr std::size_t kCapacity = kSlots;

  RunQueue() = default;
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  /// Puts `item` behind all others. Returns: false if there is no room. Threads: the owner.
  [[nodiscard]] bool push(Item* item) noexcept {
    const std::uint64_t tail = tail_.load_relaxed();  // our own
    if (tail - head_seen_ >= kSlots) {
      head_seen_ = head_.load_acquire(taken{});
      if (tail - head_seen_ >= kSlots) return false;
    }
    slots_[tail % kSlots].store_relaxed(item);
    tail_.store_release(tail + 1, fill{});
    return true;
  }

  /// Takes the one in front. Returns: null if there is none. Threads: the owner.
  [[nodiscard]] Item* pop(Sharing sharing) noexcept {
    const std::uint64_t tail = tail_.load_relaxed();
    std::uint64_t head = head_.load_relaxed();
    if (sharing == Sharing::solo || LEAT_MUTANT("run_queue.pop_stores")) {
      if (head == tail) return nullptr;
      Item* const item = slots_[head % kSlots].load_relaxed();
      head_.store_relaxed(head + 1);
      return item;
    }
    while (head != tail) {
      // A thief may have moved head_ past `tail` as we read it? No: only the owner moves tail_.
      Item* const item = slots_[head % kSlots].load_relaxed();  // written by us
      if (head_.compare_exchange_weak_relaxed(head, head + 1)) return item;
    }
    return nullptr;
  }

  /// Takes up to `most` of the actors in front, for somebody else's queue, but not more than half
  /// of them, rounded up. `give(item)` is called for each, in order, when they are ours.
  ///
  /// Returns: how many. Threads: any.
  template <class Give>
  std::size_t steal(std::size_t most, Give&& give) {
    Item* copied[kSlots / 2 + 1];
    for (;;) {
      std::uint64_t head = head_.load_acquire(taken{});
      const std::uint64_t tail = tail_.load_acquire(fill{});
      if (tail <= head) return 0;
      std::uint64_t count = (tail - head + 1) / 2;
      if (count > kSlots / 2 + 1) continue;  // head_ was old: it moved between the two loads
      if (count > most) count = most;
      for (std::uint64_t i = 0; i < count; ++i) {
        copied[i] = slots_[(head + i) % kSlots].load_relaxed();
      }
      if (LEAT_MUTANT("run_queue.steal_stores")) {
        head_.store_release(head + count, taken{});
      } else if (!head_.compare_exchange_strong_release(head, head + count, taken{})) {
        continue;
      }
      for (std::uint64_t i = 0; i < count; ++i) give(copied[i]);
      return count;
    }
  }

  /// Whether there was nothing, a moment ago. For a worker that said that it sleeps and looks once
  /// more: IdleWorkers orders that look after what was put.
  [[nodiscard]] bool was_empty() const noexcept {
    return tail_.load_acquire(fill{}) <= head_.load_relaxed();
  }
  [[nodiscard]] std::size_t size_approx() const noexcept {
    const std::uint64_t head = head_.load_relaxed();
    const std::uint64_t tail = tail_.load_relaxed();
    return tail > head ? static_cast<std::size_t>(tail - head) : 0;
  }

 private:
  alignas(kSector) Atomic<std::uint64_t> head_{0};
  alignas(kSector) Atomic<std::uint64_t> tail_{0};
  std::uint64_t head_seen_ = 0;  // the owner's: head_ as it last looked
  alignas(kSector) Atomic<Item*> slots_[kSlots];
};

}  // namespace leat::actor
