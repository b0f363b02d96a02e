// What      Who takes part in a segment: a table of places in it, of which each participant has one
//           for as long as it lives. Others ask it who is behind a place, and whether they still are.
// Shape     place: { word = generation << 32 | state, then who it is }, 128 bytes
//             free --lock, CAS--> joining --who it is--> joined --leave--> free, unlock
//                                                           `--dies, lock falls--> made good--> free
// Protocol  Behind each place is a lock that the kernel takes back when its owner dies, of whatever
//           death, in whatever pid namespace: the byte of the file that `lock_byte` names.
//           Join:   find a free place, get its lock, look again, say `joining` with a new
//                   generation, write who it is, say `joined`.
//           Leave:  say `free`, give back the lock.
//           Life:   see `joined`; ask whether the lock is held; if not, see the same word again:
//                   its owner died.
//           Reap:   get the lock of a place that is not free: its owner died. Make good what it left
//                   unfinished, say `free`, give back the lock. Whoever dies at that leaves it to the
//                   next, so making good is done again from its beginning.
// Invariants
//   (1) Whoever is `joining` or `joined` and lives holds the lock of its place.
//   (2) `free` is said before the lock is given back.
//   (3) A place is given out again only with another generation, so an id names one participant for
//       ever (until 2^32 have had that place).
// Ordering  introduced  from whoever joins to whoever looks: its lock is held, and with `joined` who
//                       it is, is written.
//           moved_in    from whoever joins to a reader of fields: whoever has read a field of the
//                       new one also sees the new word when it looks again. So no reader mixes two.
//           handed_on   from the one who leaves, or makes good, to the next of that place.
// Limits    While a place is being reaped its owner seems alive: ask again.
// Source    Ours. A lock in place of a pid, as SQLite's shared memory has it.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/process.hpp>
#include <leat/base/result.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace leat::core {

/// Names one participant of a segment, among all that ever were. Fits into one atomic word.
struct ParticipantId {
  std::uint32_t place = 0;
  std::uint32_t generation = 0;  // 0: nobody

  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return static_cast<std::uint64_t>(generation) << 32 | place;
  }
  [[nodiscard]] static constexpr ParticipantId of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  explicit constexpr operator bool() const noexcept { return generation != 0; }

  friend constexpr auto operator<=>(const ParticipantId&, const ParticipantId&) = default;
};

enum class ParticipantLife : std::uint8_t {
  alive,
  dead,  // proved, and not made good yet: it keeps its place until somebody reaps it
  gone,  // left, or died and was made good
};

struct ParticipantFacts {
  ParticipantId id;
  os::ProcessIdentity process;
  std::string label;
  std::uint64_t joined_at_ns = 0;  // since 1970
};

/// One place, as it lies in the segment.
struct alignas(kSector) ParticipantEntry {
#if defined(LEAT_MODEL) && LEAT_MODEL
  static constexpr std::size_t kLabelWords = 1;  // one is as good as eight there, in less time
#else
  static constexpr std::size_t kLabelWords = 8;
#endif

  Atomic<std::uint64_t> word{0};
  std::array<Atomic<std::uint64_t>, 2> boot{};
  Atomic<std::uint64_t> pid_namespace{0};
  Atomic<std::uint64_t> pid{0};
  Atomic<std::uint64_t> start_time{0};
  Atomic<std::uint64_t> joined_at_ns{0};
  std::array<Atomic<std::uint64_t>, kLabelWords> label{};
};
static_assert(sizeof(ParticipantEntry) == kSector && std::is_standard_layout_v<ParticipantEntry>);

/// The table, over memory and locks of somebody else.
///
/// `Locks` has `bool try_lock(place)`, `void unlock(place)` and `bool is_held_by_another(place)`.
/// Threads: all calls of one object from one thread at a time, but for the const ones.
template <class Locks>
class Participants {
  struct introduced : Edge {};  // who joins -> who looks: its lock is held, who it is is written
  struct moved_in : Edge {};  // who joins -> readers of fields: see the new word when looking again
  struct handed_on : Edge {};  // who leaves or makes good -> the next of the place

  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kJoining = 1;
  static constexpr std::uint32_t kJoined = 2;

 public:
  Participants(std::span<ParticipantEntry> entries, Locks locks) noexcept
      : entries_(entries), locks_(locks) {}

  [[nodiscard]] std::uint32_t places() const noexcept {
    return static_cast<std::uint32_t>(entries_.size());
  }

  /// Takes a free place. Returns: nobody if there is none.
  [[nodiscard]] ParticipantId join(const os::ProcessIdentity& process, std::string_view label,
                                   std::uint64_t now_ns) noexcept {
    for (std::uint32_t place = 0; place < places(); ++place) {
      ParticipantEntry& entry = entries_[place];
      if (state_of(entry.word.load_relaxed()) != kFree) continue;  // looked at again under its lock
      if (!LEAT_MUTANT("participants.lock_last") && !locks_.try_lock(place)) continue;
      std::uint64_t word = entry.word.load_acquire(handed_on{});
      const ParticipantId id{place, next_generation(word)};
      if (state_of(word) != kFree || !entry.word.compare_exchange_strong_acq_rel(
                                         word, word_of(id, kJoining), handed_on{}, introduced{})) {
        locks_.unlock(place);
        continue;
      }
      introduce(entry, process, label, now_ns);
      entry.word.store_release(word_of(id, kJoined), introduced{});
      if (LEAT_MUTANT("participants.lock_last")) static_cast<void>(locks_.try_lock(place));
      return id;
    }
    return {};
  }

  /// Gives up the caller's own place.
  void leave(ParticipantId self) noexcept {
    if (LEAT_MUTANT("participants.unlock_first")) locks_.unlock(self.place);
    entries_[self.place].word.store_release(word_of(self, kFree), handed_on{});
    locks_.unlock(self.place);
  }

  /// Whether `id` lives. `self`, who asks, does; its own lock does not count as another's.
  [[nodiscard]] ParticipantLife life(ParticipantId id, ParticipantId self) const noexcept {
    if (!id || id.place >= places()) return ParticipantLife::gone;
    if (id == self) return ParticipantLife::alive;
    const ParticipantEntry& entry = entries_[id.place];
    const std::uint64_t word = entry.word.load_acquire(introduced{});
    if (generation_of(word) != id.generation || state_of(word) == kFree) {
      return ParticipantLife::gone;
    }
    if (locks_.is_held_by_another(id.place)) {
      // Somebody may hold the lock of a dead one: a child made behind fork's back, or who was sent
      // the descriptor. Where the process itself can be looked up, that decides.
      if (state_of(word) != kJoined) return ParticipantLife::alive;
      const os::ProcessIdentity process = process_at(entry);
      if (!still(entry, word)) return ParticipantLife::gone;
      return os::life_of(process) == os::Life::dead ? ParticipantLife::dead
                                                    : ParticipantLife::alive;
    }
    // Left meanwhile? `free` is said first, so after a lock that was given back it is seen.
    if (LEAT_MUTANT("participants.skip_second_look")) return ParticipantLife::dead;
    return entry.word.load_acquire(introduced{}) == word ? ParticipantLife::dead
                                                         : ParticipantLife::gone;
  }

  /// Who has `place`; nothing if it is free, or just being taken or given up.
  [[nodiscard]] std::optional<ParticipantFacts> facts(std::uint32_t place) const {
    const ParticipantEntry& entry = entries_[place];
    const std::uint64_t word = entry.word.load_acquire(introduced{});
    if (state_of(word) != kJoined) return std::nullopt;
    ParticipantFacts facts;
    facts.id = {place, generation_of(word)};
    facts.process = process_at(entry);
    facts.joined_at_ns = entry.joined_at_ns.load_acquire(moved_in{});
    std::array<char, ParticipantEntry::kLabelWords * 8> label{};
    for (std::size_t i = 0; i < entry.label.size(); ++i) {
      const std::uint64_t part = entry.label[i].load_acquire(moved_in{});
      std::memcpy(label.data() + i * sizeof part, &part, sizeof part);
    }
    facts.label = std::string(label.begin(), std::find(label.begin(), label.end(), '\0'));
    if (!still(entry, word)) return std::nullopt;
    return facts;
  }

  /// Frees the places of the dead. `make_good(id)` puts right what the dead one left unfinished,
  /// under its lock, so by one at a time; false: not yet, the place stays its own.
  ///
  /// Returns: how many were freed.
  template <class MakeGood>
  std::uint32_t reap(ParticipantId self, MakeGood&& make_good) {
    std::uint32_t freed = 0;
    for (std::uint32_t place = 0; place < places(); ++place) {
      if (reap_place(place, self, make_good)) ++freed;
    }
    return freed;
  }

  /// The same for one place. Returns: whether it was freed.
  template <class MakeGood>
  bool reap_place(std::uint32_t place, ParticipantId self, MakeGood&& make_good) {
    ParticipantEntry& entry = entries_[place];
    if (state_of(entry.word.load_relaxed()) == kFree) return false;  // looked at again below
    if ((self && self.place == place) || !locks_.try_lock(place)) return false;
    const std::uint64_t word = entry.word.load_acquire(introduced{});
    const ParticipantId id{place, generation_of(word)};
    // Who died while joining had begun nothing.
    const bool done = state_of(word) != kFree && (state_of(word) == kJoining || make_good(id));
    if (done) entry.word.store_release(word_of(id, kFree), handed_on{});
    locks_.unlock(place);
    return done;
  }

 private:
  [[nodiscard]] static constexpr std::uint32_t state_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  [[nodiscard]] static constexpr std::uint32_t generation_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  [[nodiscard]] static constexpr std::uint64_t word_of(ParticipantId id,
                                                       std::uint32_t state) noexcept {
    return static_cast<std::uint64_t>(id.generation) << 32 | state;
  }
  [[nodiscard]] static constexpr std::uint32_t next_generation(std::uint64_t word) noexcept {
    const std::uint32_t next = generation_of(word) + 1;
    return next == 0 ? 1 : next;
  }

  [[nodiscard]] static os::ProcessIdentity process_at(const ParticipantEntry& entry) noexcept {
    return {{entry.boot[0].load_acquire(moved_in{}), entry.boot[1].load_acquire(moved_in{})},
            entry.pid_namespace.load_acquire(moved_in{}),
            entry.pid.load_acquire(moved_in{}),
            entry.start_time.load_acquire(moved_in{})};
  }

  /// Whether all fields read since `word` was are of that word's owner.
  [[nodiscard]] static bool still(const ParticipantEntry& entry, std::uint64_t word) noexcept {
    // Relaxed: the fields were read with acquire, so this look cannot be older than they are.
    return LEAT_MUTANT("participants.trust_fields") || entry.word.load_relaxed() == word;
  }

  static void introduce(ParticipantEntry& entry, const os::ProcessIdentity& process,
                        std::string_view label, std::uint64_t now_ns) noexcept {
    entry.boot[0].store_release(process.boot[0], moved_in{});
    entry.boot[1].store_release(process.boot[1], moved_in{});
    entry.pid_namespace.store_release(process.pid_namespace, moved_in{});
    entry.pid.store_release(process.pid, moved_in{});
    entry.start_time.store_release(process.start_time, moved_in{});
    entry.joined_at_ns.store_release(now_ns, moved_in{});
    for (std::size_t i = 0; i < entry.label.size(); ++i) {
      std::uint64_t part = 0;
      if (const std::size_t at = i * sizeof part; at < label.size()) {
        std::memcpy(&part, label.data() + at, std::min(sizeof part, label.size() - at));
      }
      entry.label[i].store_release(part, moved_in{});
    }
  }

  std::span<ParticipantEntry> entries_;
  Locks locks_;
};

}  // namespace leat::core
