// What      The C++20 memory model, operationally: for each atomic operation the list of outcomes
//           the standard allows at that point, and the effect of the one that is picked.
// Shape     Each atomic object is a location: all its stores so far, in modification order.
//             order_:   [initial] [W1] [W2 <- RMW of W1] [W3]        position 0, 1, 2, 3
//           A load picks a position at or after its floor. A store picks a gap after its floor, not
//           between a read-modify-write and the store it reads. A read-modify-write picks a store
//           that no other one has taken, and goes right behind it.
// Invariants
//   (1) Coherence: a thread's view holds, for each location, the newest position that it or anybody
//       who happens before it has read or written; nothing reads, or is placed, before it. (The
//       four rules read-read, read-write, write-read and write-write of [intro.races].)
//   (2) Synchronisation: a release store carries its thread's clock and view; read-modify-writes
//   that
//       follow it carry them on (release sequence); an acquire load joins them.
//   (3) The total order S of seq_cst operations exists: the graph of "strongly happens before" and
//       "coherence-ordered before" between seq_cst operations ([atomics.order] 4) has no cycle. It
//       is kept with its transitive closure; an outcome that would close a cycle is not offered. At
//       least the newest store is always offered, since it adds edges to the new operation only.
//   (4) Plain data: two accesses, one a write, neither of which happens before the other, are a
//   race.
//       So is an access to an atomic that does not happen after its construction, or before its
//       end.
//   (5) Fences: every store behind a release fence carries what the thread knew at the fence, and
//       an acquire fence joins what the stores carry that were read before it ([atomics.fences]).
//       A seq_cst fence is an operation of S besides; of two accesses to one location, the first
//       coherence-ordered before the second, what comes before the first (itself if it is seq_cst,
//       and seq_cst fences that happen before it) precedes in S what comes after the second.
// Limits    No consume. A promise (a load that reads a store not made yet) may be kept
// only by a store
//           that does not thereby synchronise with the load: a cycle of reads and program order in
//           which every read synchronises is impossible anyway, and one promise opens any other.
// Source    C++20 [intro.races], [atomics.order] (after P0668). The operational views follow the
//           promising semantics of Kang and others (2017); the rest is ours.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <leat/base/model/hooks.hpp>

namespace leat::model::internal {

inline constexpr int kThreadsMax = 8;
inline constexpr int kSeqCstMax = 256;
inline constexpr int kNobody = -1;

/// How far each thread's history is known: what happens before.
struct Clock {
  std::array<std::uint32_t, kThreadsMax> at{};

  void join(const Clock& other) noexcept {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
  }
  [[nodiscard]] bool knows(int thread, std::uint32_t time) const noexcept {
    return thread == kNobody || at[static_cast<std::size_t>(thread)] >= time;
  }
  /// The first thread whose history here is not known there; nobody if all is.
  [[nodiscard]] int ahead_of(const Clock& other) const noexcept {
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] > other.at[i]) return static_cast<int>(i);
    }
    return kNobody;
  }
};

using ScSet = std::bitset<kSeqCstMax>;

/// The seq_cst operations so far, and which must follow which in S.
class ScOrder {
 public:
  void reset() noexcept { count_ = 0; }
  [[nodiscard]] bool full() const noexcept { return count_ == kSeqCstMax; }

  /// Whether an operation after all of `before` and before all of `after` leaves S possible.
  [[nodiscard]] bool fits(const ScSet& before, const ScSet& after) const noexcept;
  /// Adds that operation. Returns its number.
  int add(const ScSet& before, const ScSet& after) noexcept;
  /// All of `before` precede all of `after`.
  void relate(const ScSet& before, const ScSet& after) noexcept;

 private:
  int count_ = 0;
  std::array<ScSet, kSeqCstMax> follow_;  // all operations that must come later
};

/// For each location, the newest store known of; -1 for none.
using View = std::vector<std::int16_t>;

/// What a release store hands to those who acquire it.
struct Message {
  Clock clock;
  View view;
  ScSet before;     // seq_cst operations sequenced before the store, or known to its thread by then
  ScSet before_sc;  // the part that heads of the release sequence bring that are seq_cst, with them
  ScSet fences;     // seq_cst fences that happen before whoever acquires it
};

struct Store {
  struct Reader {
    int thread;
    std::uint32_t time;
    bool acquire;
  };

  Word value;
  int writer = kNobody;
  std::uint32_t time = 0;
  int position = 0;
  int message = -1;       // index into the messages of this execution; -1: synchronises with none
  bool modifies = false;  // reads the store right before it
  bool promised = false;  // read already, but not made yet
  std::vector<Reader> readers;  // while it is promised, or modifies what is
};

struct Access {
  int event;  // number in S; -1 unless seq_cst
  int store;  // read or written
  bool writes;
  int thread;
  std::uint32_t time;
  ScSet fences;  // seq_cst fences that happen before it
  ScSet behind;  // seq_cst fences that it happens before
};

struct Location {
  const void* address = nullptr;
  std::string name;
  std::vector<Store> stores;
  std::vector<int> order;  // positions -> index into stores
  std::vector<Access> accesses;
  int creator = kNobody;
  std::uint32_t created = 0;
  bool destroyed = false;
  Clock accessed;

  struct Repeat {
    int store = -1;
    int count = 0;
  };
  std::array<Repeat, kThreadsMax>
      repeats;  // how often each thread read the same stale store in a row
};

/// One outcome that an operation may have.
struct Place {
  enum class Kind : std::uint8_t {
    normal,    // read the store at `position`; or go right behind it
    fulfil,    // be the store that was promised at `position`
    failed,    // compare-exchange: read `position` and leave it
    spurious,  // weak compare-exchange: the same though the values match
    promise,   // read `value` from a store that somebody has yet to make, right behind `position`
  };
  Kind kind = Kind::normal;
  int position = 0;
  Word value;
};

class Memory {
 public:
  struct Plain {
    const void* address = nullptr;
    int writer = kNobody;
    std::uint32_t written = 0;
    Clock reads;
  };

  struct Future {  // a value that some thread stored to a location in an earlier execution
    Word value;
    unsigned writers;  // one bit per thread
    friend bool operator==(const Future&, const Future&) = default;
  };

  /// Forgets everything. A thread may read the same stale store `stale_repeats` times in a row;
  /// with `promises_max` of 0 loads read only what has been stored.
  void reset(int stale_repeats, int promises_max);

  void start_thread(int child, int parent);
  void join_thread(int parent, int child);

  /// The location at `address`; new ones hold `raw`, stored before everything.
  int location(const void* address, const Word& raw);
  /// The location at `address` if there is one, else -1.
  [[nodiscard]] int find(const void* address) const noexcept;
  Location& at(int location) { return locations_[static_cast<std::size_t>(location)]; }
  [[nodiscard]] int locations() const noexcept { return used_; }

  // The life of an atomic object. The two checks return what is wrong, or nothing.
  void create(int thread, const void* address, const Word& value);
  [[nodiscard]] std::optional<std::string> destroy(int thread, const void* address);
  [[nodiscard]] std::optional<std::string> touch(int thread,
                                                 int location);  // before each operation

  // Outcomes, the ordinary one (newest, at the end) first; never empty; then the effect of one.
  void load_places(int thread, int location, Order order, std::vector<Place>& out);
  Word load(int thread, int location, Order order, const Place& place);
  void store_places(int thread, int location, const Word& value, Order order,
                    std::vector<Place>& out);
  void store(int thread, int location, const Word& value, Order order, const Place& place);
  void modify_places(int thread, int location, const Change& change, bool weak, Order order,
                     std::vector<Place>& out);
  Modified modify(int thread, int location, const Change& change, Order order, const Place& place);
  void fence(int thread, Order order);

  [[nodiscard]] const Word& newest(int location) const;
  /// The thread looked at the newest value by other means (the kernel did).
  void looked_at_newest(int thread, int location);

  [[nodiscard]] bool sc_full() const noexcept { return sc_.full(); }
  [[nodiscard]] int promises_open() const noexcept { return promises_open_; }

  /// What was stored where by whom, for the futures of the next executions.
  std::vector<std::vector<Future>> stored;
  void add_stored(std::vector<std::vector<Future>>& to) const;
  /// What loads may foresee.
  std::vector<std::vector<Future>> futures;

  // Plain data; the result says what races, or nothing.
  void plain_create(int thread, const void* address);
  [[nodiscard]] std::optional<std::string> plain_read(int thread, const void* address);
  [[nodiscard]] std::optional<std::string> plain_write(int thread, const void* address);

 private:
  struct Read {
    int location;
    int store;
  };
  struct Thread {
    Clock clock;
    View view;
    ScSet before;             // seq_cst operations that strongly happen before the next operation
    ScSet fences;             // seq_cst fences that happen before the next operation
    int released = -1;        // what the last release fence lets stores carry
    std::vector<Read> reads;  // since the last acquire fence, of stores that carry something
  };
  struct Neighbours {
    ScSet before;
    ScSet after;
    ScSet fences;
  };

  Thread& thread(int t) { return threads_[static_cast<std::size_t>(t)]; }
  std::uint32_t tick(int t);
  [[nodiscard]] int floor(int t, int location);
  void raise(int t, int location, int store);
  void join_view(View& into, const View& from);
  void join_message(Message& into, const Message& from);
  int new_message();
  Message& message(int index) { return messages_[static_cast<std::size_t>(index)]; }

  // The order in S that follows from an access of thread `t` at position `p`. A fresh write goes
  // between p - 1 and p; a promised one takes its place. A read-modify-write is one write.
  enum class Kind : std::uint8_t { read, fresh_write, promised_write };
  Neighbours neighbours(int t, const Location& location, int p, Kind kind, const Message* acquired);
  bool fits(int t, const Location& location, int p, Kind kind, const Message* acquired,
            bool seq_cst);
  int enter(int t, Location& location, int p, Kind kind, const Message* acquired, bool seq_cst);
  const Message* carried_by(const Store& store, bool wanted) const;
  int insert(Location& location, int position);
  int promise(Location& location, int position, const Word& value);
  void promise_places(int t, int l, Order order, std::vector<Place>& out);
  [[nodiscard]] bool unsettled(const Location& location, int p) const;
  void settle(Location& location, int p);
  Word read(int t, int l, Order order, const Place& place, bool modifies);
  int make_message(int t, Order order, const ScSet& before, int event, int carried);
  void acquire(int t, const Message* acquired);
  bool may_fulfil(int t, const Location& location, int position, const Word& value, Order order,
                  bool synchronises);
  void write(int t, int location, const Word& value, Order order, int position, bool fulfils,
             int carried, bool modifies);
  void note_stored(int t, int location, const Word& value);

  std::array<Thread, kThreadsMax> threads_;
  std::vector<Location> locations_;
  int used_ = 0;
  std::vector<Message> messages_;
  int messages_used_ = 0;
  ScOrder sc_;
  int fences_ = 0;  // seq_cst ones so far
  std::vector<Plain> plains_;
  int stale_repeats_ = 2;
  int promises_max_ = 0;
  int promises_open_ = 0;
};

}  // namespace leat::model::internal
