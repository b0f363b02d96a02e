// What      The shared words of a ring, as they lie in its memory: what producers and consumers
//           tell each other beside the slots.
// Shape     See shape.hpp for where; the structs below are the bytes, pinned by the assertions.
// Invariants
//   (1) Zeros are a ring with nobody attached and nothing in it.
//   (2) Words of different writers that are written per message lie in different sectors.
//   (3) A seat's generation grows each time somebody takes it or leaves it.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/queue/ring/bell.hpp>
#include <leat/queue/ring/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace leat::queue {

/// One producer: all before it are published. Many: a claimed sequence plus one, or older.
class RingHead {
  struct lead : Edge {};  // head -> readers: what was claimed or published before is visible

 public:
  [[nodiscard]] std::uint64_t get() const noexcept { return word_.load_acquire(lead{}); }
  /// Relaxed: a guess that spares a store.
  [[nodiscard]] std::uint64_t guess() const noexcept { return word_.load_relaxed(); }
  void set(std::uint64_t head) noexcept { word_.store_release(head, lead{}); }

 private:
  Atomic<std::uint64_t> word_{0};
};

/// A sequence all before which somebody is done with.
class RingCursor {
  struct recycle : Edge {};  // cursor -> producer: the copies before it are done

 public:
  [[nodiscard]] std::uint64_t get() const noexcept { return word_.load_acquire(recycle{}); }
  void set(std::uint64_t cursor) noexcept { word_.store_release(cursor, recycle{}); }
  /// Never back. Returns: what it is then.
  std::uint64_t raise(std::uint64_t cursor) noexcept {
    std::uint64_t found = get();
    while (found < cursor &&
           !word_.compare_exchange_strong_acq_rel(found, cursor, recycle{}, recycle{})) {
    }
    return found < cursor ? cursor : found;
  }
  /// Where it is only for show, or ordered otherwise.
  [[nodiscard]] std::uint64_t read_relaxed() const noexcept { return word_.load_relaxed(); }
  void note_relaxed(std::uint64_t cursor) noexcept { word_.store_relaxed(cursor); }

 private:
  Atomic<std::uint64_t> word_{0};
};

struct RingWords {
  alignas(kSector) RingHead head;
  /// Changed by whoever begins to gate producers, and by producers before they look who does.
  alignas(kSector) Atomic<std::uint64_t> epoch{0};
  alignas(kSector) RingBell bell;
  /// Who changes seats and groups: an owner, or 0.
  alignas(kSector) Atomic<std::uint64_t> lock{0};
  Atomic<std::uint64_t> buried{0};   ///< messages whose producer died over them
  Atomic<std::uint64_t> evicted{0};  ///< consumers that were sent away
  RingBell room;                     ///< producers that wait for consumers
};

enum class SeatRole : std::uint64_t { none = 0, producer = 1, broadcast = 2, member = 3 };
enum class SeatStatus : std::uint64_t { free = 0, making = 1, active = 2, evicted = 3 };

/// Why a consumer was sent away.
enum class Eviction : std::uint64_t {
  none = 0,
  too_slow = 1,  ///< a producer's deadline passed while it waited for it
  asked = 2,     ///< somebody who administers the ring wanted it
};

/// status, role, reason, whether it gates producers, and the generation, in one word.
struct SeatState {
  SeatStatus status = SeatStatus::free;
  SeatRole role = SeatRole::none;
  Eviction reason = Eviction::none;
  bool reliable = false;
  std::uint32_t generation = 0;

  [[nodiscard]] std::uint64_t word() const noexcept {
    return static_cast<std::uint64_t>(status) | static_cast<std::uint64_t>(role) << 4 |
           static_cast<std::uint64_t>(reason) << 8 |
           static_cast<std::uint64_t>(reliable ? 1 : 0) << 12 |
           static_cast<std::uint64_t>(generation) << 32;
  }
  [[nodiscard]] static SeatState of(std::uint64_t word) noexcept {
    SeatState state;
    state.status = static_cast<SeatStatus>(word & 15);
    state.role = static_cast<SeatRole>(word >> 4 & 15);
    state.reason = static_cast<Eviction>(word >> 8 & 15);
    state.reliable = (word >> 12 & 1) != 0;
    state.generation = static_cast<std::uint32_t>(word >> 32);
    return state;
  }
};

/// A place for one producer or consumer.
struct alignas(kSector) RingSeat {
  Atomic<std::uint64_t> state{0};  // a SeatState
  Atomic<std::uint64_t> owner{0};  // the process that sits here, as its peers know it
  RingCursor cursor;               // consumers: next to read. producer: the first it may be writing
  Atomic<std::uint64_t> count{0};  // producer: how many from there on
  Atomic<std::uint64_t> lost{0};   // messages that were gone before it came to them
  Atomic<std::uint64_t> group{0};  // member: of which
  Atomic<std::uint64_t> label[4] = {};  // text for people, padded with zeros
};

struct RingGroup {
  alignas(kSector) Atomic<std::uint64_t> state{0};  // a SeatState; its role is none
  Atomic<std::uint64_t> key{0};                     // hash of the name
  Atomic<std::uint64_t> name[8] = {};               // text, padded with zeros
  alignas(kSector) Atomic<std::uint64_t> next{0};   // a hint: all before it are claimed
  alignas(kSector) RingCursor floor;                // all before it are done
  alignas(kSector) Atomic<std::uint64_t> lost{0};
  Atomic<std::uint64_t> redelivered{0};
  Atomic<std::uint64_t> skipped{0};  // nobody's, and passed over because somebody asked for it
};

static_assert(std::is_standard_layout_v<RingWords> && std::is_standard_layout_v<RingSeat>);
static_assert(std::is_standard_layout_v<RingGroup>);
static_assert(sizeof(RingWords) == 512 && sizeof(RingSeat) == 128 && sizeof(RingGroup) == 512);
static_assert(offsetof(RingWords, epoch) == 128 && offsetof(RingWords, bell) == 256);
static_assert(offsetof(RingWords, lock) == 384 && offsetof(RingWords, room) == 408);
static_assert(offsetof(RingSeat, cursor) == 16);
static_assert(offsetof(RingGroup, next) == 128 && offsetof(RingGroup, floor) == 256);

}  // namespace leat::queue
