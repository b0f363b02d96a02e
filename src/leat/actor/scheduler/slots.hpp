// What      Slots: where the actors of one runtime live. Gives vacant slots, takes them back, and
//           finds a slot by its number.
// Shape     Chunks, each twice as large as the one before, so that nothing ever moves:
//             chunk 0: slots 0 .. 63    chunk 1: 64 .. 191    chunk 2: 192 .. 447    ...
// Protocol  Workers keep a few vacant slots of their own (SlotCache) and trade them by the batch.
// Ordering  grown  made_ -> who finds a slot by its number: the slot, and its chunk's pointer, are
//                  there.
// Limits    2^30 slots. Memory is given back when the runtime ends.
// Cost      SlotCache: no lock, no swap, while it has some; a lock for each batch.
#pragma once

#include <leat/actor/scheduler/actor.hpp>
#include <leat/base/atomic.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace leat::actor {

class Slots {
  struct grown : Edge {};  // made_ -> finder: the slot and its chunk are there

 public:
  /// `mark`: the only worker's, if there is but one.
  Slots(Scheduler& scheduler, SoloMark* mark) noexcept : scheduler_(scheduler), mark_(mark) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  ~Slots();

  /// Up to `count` vacant slots, linked by `next`; at least one. Threads: any.
  /// Throws: std::bad_alloc.
  [[nodiscard]] Actor* take(std::size_t count);

  /// Takes slots back, linked from `first` to `last`. Threads: any.
  void give(Actor* first, Actor* last) noexcept;

  /// The slot with that number; null if there never was one. Threads: any.
  [[nodiscard]] Actor* find(std::uint32_t index) const noexcept {
    return index < made_.load_acquire(grown{}) ? &at(index) : nullptr;
  }

  /// How many slots were ever used. Threads: any.
  [[nodiscard]] std::uint32_t made() const noexcept { return made_.load_acquire(grown{}); }

  /// Calls `look(actor)` for each slot that was ever used. Threads: any.
  template <class Look>
  void for_each(Look&& look) const {
    const std::uint32_t made = made_.load_acquire(grown{});
    for (std::uint32_t i = 0; i < made; ++i) look(at(i));
  }

 private:
  static constexpr unsigned kChunks = 24;
  static constexpr std::uint32_t kFirst = 64;

  static constexpr std::uint32_t size_of(unsigned chunk) noexcept { return kFirst << chunk; }
  static constexpr std::uint32_t first_of(unsigned chunk) noexcept {
    return (kFirst << chunk) - kFirst;
  }
  static constexpr unsigned chunk_of(std::uint32_t index) noexcept {
    return static_cast<unsigned>(std::bit_width(std::uint64_t{index} + kFirst)) -
           static_cast<unsigned>(std::bit_width(kFirst));
  }
  [[nodiscard]] Actor& at(std::uint32_t index) const noexcept {
    const unsigned chunk = chunk_of(index);
    return chunks_[chunk].load_relaxed()[index - first_of(chunk)];  // made_ ordered it
  }
  void make(std::size_t count);

  Scheduler& scheduler_;
  SoloMark* const mark_;
  Atomic<Actor*> chunks_[kChunks];
  std::mutex mutex_;
  Atomic<std::uint32_t> made_{0};  // written under mutex_
  Actor* vacant_ = nullptr;        // guarded by mutex_
};

/// One worker's vacant slots.
class SlotCache {
 public:
  explicit SlotCache(Slots& slots) noexcept : slots_(slots) {}
  SlotCache(const SlotCache&) = delete;
  SlotCache& operator=(const SlotCache&) = delete;
  ~SlotCache() {
    if (first_ != nullptr) give_all();
  }

  [[nodiscard]] Actor& take() {
    if (first_ == nullptr) [[unlikely]] {
      first_ = slots_.take(kBatch);
      for (Actor* slot = first_; slot != nullptr; slot = slot->next) ++count_;
    }
    Actor& actor = *first_;
    first_ = actor.next;
    --count_;
    return actor;
  }
  void give(Actor& actor) noexcept {
    actor.next = first_;
    first_ = &actor;
    if (++count_ > 2 * kBatch) [[unlikely]]
      give_batch();
  }

 private:
  static constexpr std::size_t kBatch = 32;

  void give_all() noexcept;
  void give_batch() noexcept;

  Slots& slots_;
  Actor* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace leat::actor
