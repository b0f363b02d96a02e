// What      One process's view of a ring without its payloads: who is attached, where the frontier
//           is, whom producers must wait for, and the repair of what the dead left behind.
// Protocol  sit: take the lock, find a free seat, write who sits there, open it. leave: close it.
//           Gate: a consumer that must not be overtaken opens its seat with a cursor at the
//           frontier, changes `epoch`, and then moves its cursor to the frontier it sees now. A
//           producer whose credit is spent changes `epoch`, and then looks at all cursors. The two
//           changes stand in one order: either the producer sees the seat, or the consumer sees a
//           frontier that the producer's credit does not reach over.
//           Repair: whoever waits too long asks, for each seat, whether its owner is proven dead;
//           then its producer's busy slots become tombstones, its consumer's cursor gates no more,
//           and what its member held is claimed by others.
// Invariants
//   (1) A busy slot belongs to a seat whose range of in-flight sequences has it; a losing producer
//       may have it in its range, too. It is buried when all seats that have it are dead, and no
//       seat of a dead producer is freed before its whole range is settled.
//   (2) Seats and groups change under the lock, except that who sits may leave.
//   (3) Sequences are claimed without gaps, except that a lossy ring of many producers passes over
//       one whose slot is still busy a lap behind; then nothing gates, and readers pass over it, too.
// Ordering  seated    state of a seat or group -> whoever looks at it: its other words are written.
//           gate      the two changes of `epoch`.
//           registry  the lock.
// Limits    The lock is taken from a holder only if it is proven dead; what it left half made is
//           then free again.
// Source    Gating by a cached minimum of cursors: LMAX Disruptor. The rest ours.
#pragma once

#include <leat/base/result.hpp>
#include <leat/queue/ring/memory.hpp>
#include <leat/queue/ring/shape.hpp>
#include <leat/queue/ring/slot.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::queue {

/// What a ring must know of the processes that are attached to it.
class RingPeers {
 public:
  virtual ~RingPeers() = default;
  /// The calling process; never 0.
  [[nodiscard]] virtual std::uint64_t self() const noexcept = 0;
  /// Whether `owner`, which was some process's `self()`, is proven dead. In doubt no.
  [[nodiscard]] virtual bool is_dead(std::uint64_t owner) const noexcept = 0;
};

/// Where a consumer or a group begins.
struct StartAt {
  enum class Place : std::uint8_t { latest, oldest, sequence } place = Place::latest;
  std::uint64_t sequence = 0;

  /// With the next message that is produced.
  [[nodiscard]] static StartAt latest() noexcept { return {}; }
  /// With the oldest message that is still there.
  [[nodiscard]] static StartAt oldest() noexcept { return {Place::oldest, 0}; }
  /// With that message; what is gone already counts as lost.
  [[nodiscard]] static StartAt at(std::uint64_t sequence) noexcept {
    return {Place::sequence, sequence};
  }
};

/// Messages first ... first + count - 1.
struct MessageRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend bool operator==(const MessageRange&, const MessageRange&) = default;
};

/// What a tool shows of a ring. All figures are of some moment just past.
struct RingReport {
  struct Seat {
    std::uint32_t place = 0;
    SeatState state;
    std::uint64_t owner = 0;
    std::string label;
    std::uint64_t cursor = 0;  // consumers: as they published it last, perhaps a little behind
    std::uint64_t lag = 0;
    std::uint64_t lost = 0;
    MessageRange writing;  // producers: begun and not published; of none if all is
  };
  struct Group {
    std::uint32_t place = 0;
    SeatState state;
    std::string name;
    std::uint64_t next = 0;
    std::uint64_t floor = 0;
    std::uint64_t lag = 0;
    std::uint64_t lost = 0;
    std::uint64_t redelivered = 0;
    std::uint64_t skipped = 0;
  };
  std::uint64_t frontier = 0;   // the next sequence to be claimed
  std::uint64_t published = 0;  // all before it may be read, or are gone
  std::uint64_t buried = 0;
  std::uint64_t evicted = 0;
  std::vector<Seat> seats;
  std::vector<Group> groups;
};

class RingCore {
  struct seated : Edge {};    // state of a seat or group -> who looks: its other words are written
  struct gate : Edge {};      // consumer's and producer's change of `epoch`
  struct registry : Edge {};  // who had the lock -> who has it

 public:
  /// What an in-flight range of nothing begins with.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  /// The place of a consumer that only observes.
  static constexpr std::uint32_t kNoSeat = ~std::uint32_t{0};

  /// `memory` is aligned to kRingAlign and has `ring_layout(shape).total` bytes, zeros when the
  /// ring is new; `keep` holds it.
  RingCore(std::byte* memory, const RingShape& shape, std::shared_ptr<const RingPeers> peers,
           std::shared_ptr<const void> keep);

  [[nodiscard]] const RingShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::byte* slots() const noexcept { return slots_; }
  [[nodiscard]] RingWords& words() const noexcept { return *words_; }
  [[nodiscard]] RingSeat& seat(std::uint32_t place) const noexcept {
    return place == kNoSeat ? *unseen_ : seats_[place];
  }
  [[nodiscard]] RingGroup& group(std::uint32_t place) const noexcept { return groups_[place]; }
  [[nodiscard]] Atomic<std::uint64_t>* claims(std::uint32_t group) const noexcept {
    return claims_ + std::size_t{group} * shape_.window;
  }
  [[nodiscard]] RingStamp& stamp(std::uint64_t sequence) const noexcept {
    return *reinterpret_cast<RingStamp*>(slots_ + (sequence & shape_.mask()) * shape_.stride);
  }

  // The frontier.

  /// The next sequence to be claimed, as far as can be seen.
  [[nodiscard]] std::uint64_t frontier() const noexcept;
  /// The oldest sequence that may still be read when the frontier is `frontier`.
  [[nodiscard]] std::uint64_t oldest(std::uint64_t frontier) const noexcept {
    return frontier > shape_.slots ? frontier - shape_.slots : 0;
  }
  [[nodiscard]] std::uint64_t resolve(StartAt start) const noexcept;

  // Seats.

  struct Seated {
    std::uint32_t place = 0;
    std::uint32_t generation = 0;
    std::uint64_t cursor = 0;
  };

  /// Takes a seat for the calling process. A consumer's begins at `start`.
  ///
  /// Errors: no seat is free; the ring has one producer and it lives; `reliable` of a ring that is
  ///         not; a label of more than 32 bytes.
  [[nodiscard]] Result<Seated> sit(SeatRole role, std::string_view label, StartAt start,
                                   bool reliable, std::uint64_t group = 0);
  /// Closes a seat that the caller took; nothing if it was taken from him.
  void leave(const Seated& seat) noexcept;
  [[nodiscard]] SeatState state_of(std::uint32_t place) const noexcept {
    return SeatState::of(seat(place).state.load_acquire(seated{}));
  }

  // Groups.

  struct Joined {
    std::uint32_t place = 0;
    std::uint32_t generation = 0;
  };
  /// The group of that name; made to begin at `start` if there is none.
  ///
  /// Errors: no room for a further one; a name of none or more than 64 bytes; a group that is there
  ///         and gates producers, or not, against `reliable`.
  [[nodiscard]] Result<Joined> join_group(std::string_view name, StartAt start, bool reliable);
  [[nodiscard]] SeatState group_state(std::uint32_t place) const noexcept {
    return SeatState::of(groups_[place].state.load_acquire(seated{}));
  }
  /// Moves the floor of a group over what is done. Returns the floor.
  std::uint64_t raise_floor(std::uint32_t group) noexcept;
  /// Passes over what nobody in the group has claimed of all that was begun before the call; `skipped`
  /// of the group counts it. What members hold stays theirs; where one holds a message of a whole
  /// window ago, it ends.
  ///
  /// Returns: how many messages it passed over.
  std::uint64_t fast_forward(std::uint32_t group) noexcept;
  /// Frees the place of a group.
  ///
  /// Errors: there is none of that name; it has members that are not proven dead.
  [[nodiscard]] Result<void> remove_group(std::string_view name);

  // Gate.

  /// Up to where, exclusively, a producer may claim, `frontier` being what it knows of it.
  [[nodiscard]] std::uint64_t limit(std::uint64_t frontier) noexcept;
  /// Sends the slowest of those who gate producers away. Returns: whether there was one.
  bool evict_slowest(Eviction reason) noexcept;
  bool evict_seat(std::uint32_t place, Eviction reason) noexcept;
  bool evict_group(std::uint32_t place, Eviction reason) noexcept;
  /// How many messages fit before a consumer or group that is attached, gating or not, is lapped;
  /// as far as they published their cursors.
  [[nodiscard]] std::uint64_t headroom() const noexcept;
  /// Wakes producers that wait for room, after what the caller did to make some.
  void tell_producers() noexcept {
    if (shape_.reliable && shape_.wakeable && !observes_) words_->room.ring_behind_barrier();
  }
  /// Makes all who sleep, consumers and producers, look again.
  void wake_all() noexcept {
    words_->bell.wake_all();
    words_->room.wake_all();
  }

  /// Frees what the dead left. Returns: how many seats that were. Waits for the lock; asks the
  /// peers about each seat. Does nothing in memory that may only be read.
  std::size_t repair();
  /// The same, unless the lock is not to be had soon. Returns: whether nothing is left to be done.
  bool try_repair();

  /// In memory that may only be read: consumers attach without a seat, and nobody sees them.
  void observe_only() noexcept { observes_ = true; }

  [[nodiscard]] RingReport report() const;

 private:
  class Lock;

  struct Slowest {
    std::uint64_t cursor = kNone;
    std::uint32_t place = 0;
    bool is_group = false;
  };
  [[nodiscard]] Slowest slowest() noexcept;
  [[nodiscard]] std::optional<std::uint32_t> find_group(std::string_view name) const;
  [[nodiscard]] MessageRange being_written_by(std::uint32_t place) const noexcept;
  struct Repaired {
    std::size_t freed = 0;
    std::size_t left = 0;  // of the dead, to be looked at again
  };
  Repaired free_dead_seats();
  [[nodiscard]] bool bury_in_flight(std::uint32_t place);
  void finish_single_producer();
  [[nodiscard]] bool lives_elsewhere(std::uint64_t sequence) const;
  void open_seat(Seated& seated_at, SeatState state, StartAt start);

  RingShape shape_;
  RingWords* words_;
  RingSeat* seats_;
  RingGroup* groups_;
  Atomic<std::uint64_t>* claims_;
  std::byte* slots_;
  std::shared_ptr<const RingPeers> peers_;
  std::shared_ptr<const void> keep_;
  std::unique_ptr<RingSeat> unseen_;  // stands in for a seat where there can be none
  bool observes_ = false;
};

/// A ring's memory in this process alone: zeros, aligned. Threads of it share the ring.
[[nodiscard]] std::shared_ptr<RingCore> make_private_ring(const RingShape& shape);

/// One process: nobody of it is dead while it asks.
[[nodiscard]] std::shared_ptr<const RingPeers> private_ring_peers();

}  // namespace leat::queue
