// What      LookAnswers: how a tile answers looks, which ask whether anything is left for it to do.
// Protocol  Control: ask all for look n + 1 when all have answered look n.
//           Tile:    between two passes: read the number of the look; then count what it has taken and
//                    what is there; then answer. It is quiet if it has taken nothing since its answer
//                    before, and nothing is there.
// Invariants
//   (1) If all tiles are quiet in look n, nothing was on its way between them when it was asked for.
//       For each tile that moment lies between its answers n - 1 and n. Between them it took nothing;
//       what was sent before that moment is visible when it answers n, and it sees nothing: so it had
//       taken all of that before, and what it sent on others saw likewise.
//   (2) All that was there at one answer is handled when a later one says `has_caught_up`.
// Limits    What tiles outside send is no part of it.
// Source    Two counts with nothing in between: Mattern's four counters (1987), where the second look
//           asks for change instead of for sums.
#pragma once

#include <leat/base/mutant.hpp>
#include <leat/tile/control/row.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace leat::tile {

/// How far a tile has come with what it consumes.
struct TileProgress {
  std::uint64_t taken = 0;  ///< sequences that it has passed, over all channels; never less
  std::uint64_t there = 0;  ///< sequences that are there and that it has not
  std::uint64_t held = 0;   ///< messages that it holds itself, because they found no room

  [[nodiscard]] bool is_done() const noexcept { return there == 0 && held == 0; }
};

/// Threads: its tile's.
class LookAnswers {
 public:
  /// Answers a look that was not answered yet. `progress()` is asked after the number of the look.
  ///
  /// Returns: whether there was one.
  template <class Progress>
  bool answer(TileRow& row, Progress&& progress) {
    const std::uint64_t look = row.is_asked();
    if (look == look_) return false;
    const TileProgress now = std::forward<Progress>(progress)();
    const bool took_nothing =
        before_ ? now.taken == before_->taken : LEAT_MUTANT("look.quiet_at_once");
    row.give({.look = look,
              .is_quiet = now.is_done() && (took_nothing || LEAT_MUTANT("look.uncounted")),
              .has_caught_up =
                  before_ && now.held == 0 && now.taken >= before_->taken + before_->there});
    look_ = look;
    before_ = now;
    return true;
  }
  [[nodiscard]] bool has_answered(std::uint64_t look) const noexcept { return look == look_; }

 private:
  std::uint64_t look_ = 0;
  std::optional<TileProgress> before_;
};

}  // namespace leat::tile
