// What      TileContext: what a tile sees of its loop while it is called: the time, whether it has
//           worked, and how to end it all. TileBody: what the loop sees of a tile.
// Shape     A tile is an object with `loop`, and if it likes `try_init`, `teardown` and a name:
//             struct Ticker {
//               bool try_init(TileContext&);      again and again until true
//               void loop(TileContext& tile);     one pass; must not wait
//               void teardown(TileContext&);      once, at the end
//               static constexpr std::string_view kName = "ticker";
//             };
// Invariants  (1) `teardown` is called once if `try_init` ever was, and nothing was thrown.
//             (2) All calls come from the tile's own thread.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/time/tick_clock.hpp>
#include <leat/base/type_name.hpp>
#include <leat/tile/control/board.hpp>
#include <leat/tile/control/look.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leat::tile {

/// The clock of a loop: a TickClock read through the line of the pass, or any clock by its call.
///
/// Threads: one.
class TileTime {
 public:
  explicit TileTime(const Clock& clock) noexcept
      : clock_(&clock), ticks_(dynamic_cast<const TickClock*>(&clock)) {
    if (ticks_ != nullptr && !ticks_->uses_ticks()) ticks_ = nullptr;
    refresh();
  }
  /// Takes the line of this moment: once a pass, so that it is never old.
  void refresh() noexcept {
    if (ticks_ != nullptr) line_ = ticks_->line();
  }
  [[nodiscard]] Nanos now() const noexcept {
    return ticks_ != nullptr ? line_.time_of(read_ticks()) : clock_->now();
  }
  [[nodiscard]] const Clock& clock() const noexcept { return *clock_; }

 private:
  const Clock* clock_;
  const TickClock* ticks_;
  TickLine line_;
};

/// Where a tile asks for the end of all of them, and says that it has come a step further.
class TileDesk {
 public:
  virtual void request_stop(const std::string& who, const std::string& why) = 0;
  virtual void tile_moved() noexcept = 0;

 protected:
  ~TileDesk() = default;
};

/// Makes a tile that sleeps look again; kept by whoever feeds it from outside.
///
/// Threads: any, also after the tile has ended.
class TileWaker {
 public:
  TileWaker(std::shared_ptr<TileBoard> board, std::uint32_t place) noexcept
      : board_(std::move(board)), place_(place) {}
  /// What the caller did before is visible to the pass that follows.
  void wake() const noexcept { board_->row(place_).call(); }

 private:
  std::shared_ptr<TileBoard> board_;
  std::uint32_t place_;
};

class TileContext {
 public:
  TileContext(const TileContext&) = delete;
  TileContext& operator=(const TileContext&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] TileId id() const noexcept { return seat_.id(); }

  /// The time now.
  [[nodiscard]] Nanos now() const noexcept { return time_.now(); }
  /// When this pass began.
  [[nodiscard]] Nanos pass_began() const noexcept { return pass_began_; }

  /// Says that this pass did something. What goes through channels says so by itself.
  void mark_work() noexcept { did_work_ = true; }
  [[nodiscard]] bool did_work() const noexcept { return did_work_; }

  /// Asks that all tiles of the scope end, in order.
  void request_stop(const std::string& why) { desk_->request_stop("tile \"" + name_ + "\"", why); }
  /// Whether the end was asked for: for a pass that is long, and for who makes messages of nothing.
  [[nodiscard]] bool is_ending() const noexcept { return seat_.row().is_told() > Command::run; }
  /// A handle by which other threads end a sleep of this tile.
  [[nodiscard]] TileWaker waker() const {
    return {seat_.board().shared_from_this(), seat_.place()};
  }

  [[nodiscard]] TileRow& row() const noexcept { return seat_.row(); }
  [[nodiscard]] TileBoard& board() const noexcept { return seat_.board(); }
  [[nodiscard]] std::uint32_t place() const noexcept { return seat_.place(); }

 private:
  friend class TileLoop;
  TileContext(std::string name, TileSeat seat, TileDesk& desk, const Clock& clock)
      : name_(std::move(name)), seat_(std::move(seat)), desk_(&desk), time_(clock) {}

  std::string name_;
  TileSeat seat_;
  TileDesk* desk_;
  TileTime time_;
  Nanos pass_began_{0};
  bool did_work_ = false;
};

/// A tile as its loop sees it: one virtual call a pass.
class TileBody {
 public:
  virtual ~TileBody() = default;
  /// Before the first `try_init`.
  virtual void attach(TileContext& context) { static_cast<void>(context); }
  [[nodiscard]] virtual bool try_init(TileContext& context) = 0;
  virtual void pass(TileContext& context) = 0;
  virtual void teardown(TileContext& context) = 0;
  /// After the end, on the tile's thread: gives back what `attach` took.
  virtual void detach() noexcept {}

  /// How far it has come. A tile that drains ends when nothing is left.
  [[nodiscard]] virtual TileProgress progress() noexcept { return {}; }
  /// Writes figures of its own into the row.
  virtual void publish(TileRow& row) noexcept { static_cast<void>(row); }

  /// Around a sleep: say that one sleeps; look once more (seq_cst); say that one is awake.
  virtual void before_sleep() noexcept {}
  [[nodiscard]] virtual bool has_news() noexcept { return false; }
  virtual void after_sleep() noexcept {}
};

/// What a tile is called that was given no name.
template <class Tile>
[[nodiscard]] std::string default_tile_name() {
  if constexpr (requires { std::string(Tile::kName); }) {
    return std::string(Tile::kName);
  } else {
    std::string_view name = type_name<Tile>();
    name = name.substr(0, name.find('<'));
    if (const auto colon = name.rfind(':'); colon != std::string_view::npos) {
      name = name.substr(colon + 1);
    }
    return std::string(name.substr(0, kTileNameMax));
  }
}

}  // namespace leat::tile
