// What      TileScope: tiles that begin together and end together; a thread each, and one that watches
//           them. It ends in order, and answers what became of whom.
// Shape     TileScope scope({.handle_signals = true});
//           scope.add(Parser{}, {.name = "parser", .core = 2});
//           scope.add(Writer{}, {.name = "writer", .idle = {.parks = true}});
//           return scope.run().exit_code();
// Protocol  Begin:  all tiles are placed and initialised; when the last one is ready, all go.
//           End:    a tile, a signal or anybody asks for it. Sources, who consume nothing, end at once.
//                   The others go on, and are asked again and again whether they are quiet, until
//                   nothing is on its way between them; then they are told to drain in the order in
//                   which they feed each other, and each ends when it has consumed all: stop_order.hpp.
//                   So what was sent before the end, and at the ends of others, comes to all who
//                   consume it, also in circles. After half of `drain_at_most` nobody is asked any
//                   more: who is not known to be fed drains, or, in circles, all. After all of it
//                   all are told to halt. Who has not come out of its pass after `grace` is named,
//                   and the process ended.
//           A failure of one asks for the end, too, without draining.
// Limits    A thread cannot be killed alone: what is stuck takes the process along, with its name said.
//           Producers outside the scope go on; an end waits for them until its time is over. A tile
//           that consumes, and makes messages of nothing too, should leave that when `is_ending()`: it
//           ends all the same, but later.
// Source    Flux's ScopedSpine; order and draining are ours.
#pragma once

#include <leat/base/function.hpp>
#include <leat/tile/loop/loop.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::tile {

/// A tile that does not come out of a pass.
struct StuckTile {
  std::string name;
  Nanos since{0};  ///< how long it has been there
  TileState state = TileState::run;
  std::uint64_t passes = 0;  ///< that it made before, as it published them last
};

struct ScopeOptions {
  /// Where the tiles can be seen; null: a board of the scope's own.
  std::shared_ptr<TileBoard> board{};
  /// Null: a TickClock that the processes of this user share.
  const Clock* clock = nullptr;
  /// How long tiles may take to consume what is left. In its second half only channels count that
  /// were produced into before: see the head of this file.
  Nanos drain_at_most = std::chrono::seconds(1);
  /// How much longer one may take to come out of its pass, before the process is ended.
  Nanos grace = std::chrono::seconds(2);
  /// How long a pass may take before the watchdog says so; zero: it never does.
  Nanos stuck_after = std::chrono::seconds(1);
  /// Whether SIGINT, SIGTERM and SIGQUIT ask for the end. A second one ends the process at once.
  bool handle_signals = false;
  /// What comes in place of a line on standard error.
  Function<void(const TileFailure&)> on_failure{};
  Function<void(const StuckTile&)> on_stuck{};
  /// Called with all who are stuck when the grace is over, in place of ending the process.
  Function<void(const std::vector<StuckTile>&)> on_kill{};
};

/// What a program ends with when a tile was stuck.
inline constexpr int kStuckExitCode = 70;

/// How a scope ended.
struct ScopeOutcome {
  std::string stopped_by;  ///< who asked for the end; empty: all tiles ended by themselves
  std::string why;
  int signal = 0;  ///< that asked for it
  std::vector<TileFailure> failures;
  std::vector<StuckTile> killed;
  std::vector<std::string> warnings;  ///< placements that were refused
  bool drained = true;                ///< whether nothing was left when tiles ended

  /// What `main` should return: that of the first tile that failed; 70 if one was stuck; else 0.
  [[nodiscard]] int exit_code() const noexcept {
    if (!failures.empty()) return failures.front().exit_code;
    return killed.empty() ? 0 : kStuckExitCode;
  }
};

namespace internal {

/// A tile that has nothing to do with channels.
template <class Tile>
class PlainTile final : public TileBody {
 public:
  explicit PlainTile(Tile tile) : tile_(std::move(tile)) {}
  bool try_init(TileContext& context) override {
    if constexpr (requires { tile_.try_init(context); }) {
      return tile_.try_init(context);
    } else {
      return true;
    }
  }
  void pass(TileContext& context) override { tile_.loop(context); }
  void teardown(TileContext& context) override {
    if constexpr (requires { tile_.teardown(context); }) tile_.teardown(context);
  }

 private:
  Tile tile_;
};

}  // namespace internal

/// Threads: one, but for `request_stop`, which is anybody's while the scope lives.
class TileScope {
 public:
  explicit TileScope(ScopeOptions options = {});
  /// Ends what still runs, as `request_stop` and `wait` do.
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

  /// Adds a tile. Errors: UsageError if an option is out of its range, two tiles want the caller's
  /// thread, or the scope has begun; if the board has no row left.
  template <class Tile>
    requires(!std::is_base_of_v<TileBody, Tile>)
  void add(Tile tile, TileOptions options = {}) {
    static_assert(
        requires(Tile& t, TileContext& c) { t.loop(c); },
        "a tile has a member function loop(TileContext&)");
    if (options.name.empty()) options.name = default_tile_name<Tile>();
    add_body(std::make_unique<internal::PlainTile<Tile>>(std::move(tile)), std::move(options));
  }
  void add_body(std::unique_ptr<TileBody> body, TileOptions options);

  /// Begins, and returns at the end of all tiles.
  ///
  /// Errors: UsageError if it has no tile.
  ScopeOutcome run();

  /// The same in two steps. Requires: no tile wants the caller's thread; UsageError else.
  void start();
  ScopeOutcome wait();

  /// Asks for the end of all. The first to ask is who it was.
  void request_stop(const std::string& who, const std::string& why);

  [[nodiscard]] TileBoard& board() noexcept;
  [[nodiscard]] const Clock& clock() const noexcept;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace leat::tile
