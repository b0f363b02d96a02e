// What      TileLoop: the life of one tile, on one thread, from its placement to its end.
// Shape     place -> try_init until true -> wait for the others -> pass, pass, ... -> teardown
// Protocol  A pass: look at the clock; the tile's `loop`; count; beat; look at the command; and then,
//           if the pass did nothing, idle as the options say. Who settles answers looks between passes,
//           and does not idle as long as anything is left for it; who drains does not idle.
// Invariants
//   (1) The command is looked at once a pass, before anything that waits.
//   (2) A tile that sleeps is woken by a command, by a channel, and by whoever calls it.
//   (3) What is thrown ends this tile alone, as `fail`; the scope decides about the others.
// Cost      A pass costs one look at the clock, one virtual call, and some stores into lines that
//           nobody else writes.
#pragma once

#include <leat/tile/loop/context.hpp>
#include <leat/tile/loop/options.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace leat::tile {

/// What a tile threw, and where.
struct TileFailure {
  std::string tile;
  std::string where;  ///< "try_init", "loop", "teardown" or "placement"
  std::string what;
  std::exception_ptr exception;
  int exit_code = 1;
};

class TileLoop {
 public:
  TileLoop(std::unique_ptr<TileBody> body, TileOptions options, TileSeat seat, TileDesk& desk,
           const Clock& clock);
  ~TileLoop();

  /// All of it. Threads: the tile's own, once.
  void run() noexcept;

  // The rest is for the scope: any thread.
  [[nodiscard]] TileRow& row() const noexcept { return context_.row(); }
  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] const TileOptions& options() const noexcept { return options_; }
  /// Whether it waits for the others to be ready, or is further.
  [[nodiscard]] bool is_ready() const noexcept { return stage_.load_acquire(moved{}) >= kReady; }
  /// Whether `run` is about to return; then the fields below may be read.
  [[nodiscard]] bool has_ended() const noexcept { return stage_.load_acquire(moved{}) >= kEnded; }
  [[nodiscard]] const TileFailure* failure() const noexcept {
    return failure_ ? failure_.get() : nullptr;
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  struct moved : Edge {};  // the tile -> its scope: what it left, failure and warnings, is written
  static constexpr std::uint32_t kReady = 1;
  static constexpr std::uint32_t kEnded = 2;

  void place_thread();
  void take_placement(const Result<void>& done);
  [[nodiscard]] bool init();
  [[nodiscard]] bool wait_for_go();
  void passes();
  void account(Nanos began, Nanos ended) noexcept;
  void publish(Nanos now) noexcept;
  void answer_look();
  [[nodiscard]] bool is_asked(Command told) const noexcept;
  void sleep_until(Nanos deadline, Command told);
  void idle(Command told);
  void park(Command told);
  void fail(const char* where, std::exception_ptr thrown, const std::string& what);
  void move_to(std::uint32_t stage) noexcept;
  template <class Act>
  void guarded(const char* where, Act&& act);

  std::unique_ptr<TileBody> body_;
  TileOptions options_;
  TileContext context_;
  TileDesk* desk_;
  Atomic<std::uint32_t> stage_{0};
  std::unique_ptr<TileFailure> failure_;
  std::vector<std::string> warnings_;

  LookAnswers answers_;

  // Figures, published now and then.
  std::uint64_t passes_ = 0;
  std::uint64_t worked_ = 0;
  std::uint64_t parks_ = 0;
  Nanos busy_{0};
  Nanos busy_min_{Nanos::max()};
  Nanos busy_max_{0};
  Nanos asleep_{0};
  Nanos troubles_at_{0};
  std::uint32_t calls_ = 0;        // seen before the pass
  std::uint32_t idle_passes_ = 0;  // in a row
};

}  // namespace leat::tile
