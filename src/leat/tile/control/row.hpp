// What      The words of one tile that others may see, also from other processes: who it is, what it
//           was told, what it does, and when it was last seen alive. `leat tiles` and the watchdog
//           read them; the tile writes its own, whoever controls it writes the command.
// Shape     512 bytes: who (128) | command and bell (128) | state, heartbeat, figures (256)
//           state:
//             boot --> run <--> parked
//               '------+---------+----> halt: it has ended
//                      '--------------> fail: something was thrown
//           command: boot (wait) -> run -> settle (answer looks) -> drain (end when nothing is left)
//                    -> halt (end)
// Protocol  Tile:      after each pass: beat. Before it sleeps: say parked; afterwards: beat, say run.
//           Watchdog:  read the time, then the state, then the heartbeat. Stuck: the state is run, and
//                      the heartbeat older than allowed. In another order it would suspect who was
//                      parked while it looked, or who runs again since.
//           Control:   store the command; ring the bell.
//           Look:      control stores its number, one more each time, and rings the bell; a tile that
//                      settles answers it between two passes: see look.hpp.
// Invariants
//   (1) A tile that is parked owes no heartbeat; one that runs had one when it began to run.
//   (2) Commands only grow.
// Ordering  seen      tile -> watchdog: whoever sees `run` sees the heartbeat of its beginning.
//           told      control -> tile, seq_cst: store the command and look at the bell; say that one
//                     sleeps and look at the command.
//           asks      control -> tile, seq_cst as `told`: whoever reads the number of a look sees all
//                     that anybody did before answering the look before.
//           answers   tile -> control: whoever reads the answer sees all that the tile did before.
//           seated    owner of a row -> readers: its name is written.
// Source    Firedancer's command-and-control cells (cnc), which know no parking.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/clock.hpp>
#include <leat/base/mutant.hpp>
#include <leat/queue/ring/bell.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace leat::tile {

enum class TileState : std::uint8_t { boot = 0, run = 1, parked = 2, halt = 3, fail = 4 };

enum class Command : std::uint32_t {
  boot = 0,    ///< wait until all are ready
  run = 1,     ///< go
  settle = 2,  ///< go on, and say whether anything is left to do: the end is near
  drain = 3,   ///< end as soon as nothing is left to consume
  halt = 4,    ///< end after this pass
};

[[nodiscard]] constexpr const char* name_of(TileState state) noexcept {
  constexpr const char* kNames[] = {"boot", "run", "parked", "halt", "fail"};
  return static_cast<std::size_t>(state) < 5 ? kNames[static_cast<std::size_t>(state)] : "?";
}

[[nodiscard]] constexpr const char* name_of(Command command) noexcept {
  constexpr const char* kNames[] = {"boot", "run", "settle", "drain", "halt"};
  return static_cast<std::size_t>(command) < 5 ? kNames[static_cast<std::size_t>(command)] : "?";
}

/// What a tile says to a look.
struct TileAnswer {
  std::uint64_t look = 0;  ///< which it answers; 0: none yet
  bool is_quiet = false;   ///< it consumed nothing since it answered before, and nothing is there
  bool has_caught_up = false;  ///< it consumed all that was there when it answered before

  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return look << 2 | (has_caught_up ? 2U : 0U) | (is_quiet ? 1U : 0U);
  }
  [[nodiscard]] static constexpr TileAnswer of(std::uint64_t word) noexcept {
    return {word >> 2, (word & 1) != 0, (word & 2) != 0};
  }
};

/// A count that one thread keeps and others may look at.
class TileFigure {
 public:
  [[nodiscard]] std::uint64_t get() const noexcept { return word_.load_relaxed(); }  // a count
  void set(std::uint64_t value) noexcept { word_.store_relaxed(value); }             // likewise

 private:
  Atomic<std::uint64_t> word_{0};
};

struct alignas(kSector) TileRow {
  struct seen : Edge {};     // tile -> watchdog: state and heartbeat fit together
  struct told : Edge {};     // control -> tile: the command; seq_cst against the bell
  struct asks : Edge {};     // control -> tile: a look; seq_cst against the bell
  struct answers : Edge {};  // tile -> control: what it did before is done
  struct seated : Edge {};   // owner -> readers: who it is is written

  // Who.
  Atomic<std::uint64_t> owner{0};       // the participant whose tile it is; 0: a free row
  Atomic<std::uint64_t> generation{0};  // how often the row was taken
  Atomic<std::uint64_t> named{0};       // the generation whose name is written
  Atomic<std::uint64_t> name[4] = {};   // text, padded with zeros
  TileFigure core;                      // CPU it is pinned to, plus 1
  TileFigure began_ns;                  // of the steady clock
  TileFigure consumes;                  // a bit for each channel of the board
  TileFigure produces;
  TileFigure spare[3];

  // What it was told.
  alignas(kSector) Atomic<std::uint32_t> command{0};
  Atomic<std::uint32_t> calls{0};  // how often somebody outside wanted it to look
  queue::RingBell bell;
  Atomic<std::uint64_t> asked{0};  // the last look

  // What it does.
  alignas(kSector) Atomic<std::uint64_t> state{0};
  Atomic<std::int64_t> heartbeat_ns{0};
  Atomic<std::uint64_t> answered{0};  // a TileAnswer
  TileFigure passes;
  TileFigure worked;       // passes that did something
  TileFigure busy_ns;      // time in them
  TileFigure busy_min_ns;  // of one pass
  TileFigure busy_max_ns;
  TileFigure looked_ns;  // the time of these figures
  TileFigure parks;
  TileFigure asleep_ns;  // parked, or waiting for its next period
  TileFigure consumed;   // messages
  TileFigure produced;
  TileFigure lost;             // messages that were gone before it came to them
  TileFigure backlog;          // messages behind, in the channel where it lags most
  TileFigure backlog_channel;  // which of the board, plus 1
  TileFigure backlog_slots;    // that it has
  TileFigure involuntary_switches;
  TileFigure page_faults;

  /// The tile itself: changes its state.
  void enter(TileState next) noexcept {
    state.store_release(static_cast<std::uint64_t>(next), seen{});
  }
  /// The tile itself: is alive at `now`.
  void beat(Nanos now) noexcept { heartbeat_ns.store_release(now.count(), seen{}); }
  /// The tile itself: goes on after it was parked.
  void unpark(Nanos now) noexcept {
    if (LEAT_MUTANT("row.run_before_beat")) {
      enter(TileState::run);
      beat(now);
      return;
    }
    beat(now);
    enter(TileState::run);
  }

  [[nodiscard]] TileState now_in() const noexcept {
    return static_cast<TileState>(state.load_acquire(seen{}));
  }
  [[nodiscard]] Nanos heartbeat() const noexcept {
    return Nanos(heartbeat_ns.load_acquire(seen{}));
  }

  /// Whether the tile has been in one pass for longer than `allowed`.
  ///
  /// `clock_now()` is asked first: a watchdog that was away itself suspects nobody.
  template <class ClockNow>
  [[nodiscard]] bool is_stuck(Nanos allowed, ClockNow&& clock_now) const noexcept {
    Nanos now = LEAT_MUTANT("row.time_last") ? Nanos{0} : clock_now();
    if (now_in() != TileState::run) return false;
    const Nanos last = heartbeat();
    if (LEAT_MUTANT("row.time_last")) now = clock_now();
    return now - last > allowed;
  }

  /// Control: tells the tile to do something further. Threads: any.
  void tell(Command next) noexcept {
    auto found = command.load_seq_cst(told{});
    const auto wanted = static_cast<std::uint32_t>(next);
    while (found < wanted &&
           !command.compare_exchange_strong_seq_cst(found, wanted, told{}, told{})) {
    }
    bell.ring();
  }
  /// Control: asks the tile whether it is quiet; `look` is one more than before. Threads: one.
  void ask(std::uint64_t look) noexcept {
    asked.store_seq_cst(look, asks{});
    bell.ring();
  }
  [[nodiscard]] TileAnswer answer() const noexcept {
    return TileAnswer::of(answered.load_acquire(answers{}));
  }
  /// Tile: the last look that it was asked for.
  [[nodiscard]] std::uint64_t is_asked() const noexcept { return asked.load_seq_cst(asks{}); }
  void give(TileAnswer answer) noexcept { answered.store_release(answer.word(), answers{}); }

  /// Has the tile make another pass, if it sleeps or is about to. Threads: any.
  void call() noexcept {
    calls.fetch_add_seq_cst(1, told{}, told{});
    bell.ring();
  }
  [[nodiscard]] std::uint32_t calls_so_far() const noexcept { return calls.load_seq_cst(told{}); }
  /// Tile: what it was told, once a pass.
  [[nodiscard]] Command is_told() const noexcept {
    return static_cast<Command>(command.load_seq_cst(told{}));
  }
};

static_assert(std::is_standard_layout_v<TileRow> && sizeof(TileRow) == 512);
static_assert(offsetof(TileRow, command) == 128 && offsetof(TileRow, state) == 256);

}  // namespace leat::tile
