#include <leat/tile/control/stop_order.hpp>

#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>

namespace leat::tile {

void StopOrder::step(std::span<const EndingTile> tiles, Patience patience) {
  LEAT_CHECK(tiles.size() <= kTilesMax, "asked to end more tiles than a board has");
  bool draining = false;
  bool answered = true;
  Set left;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const EndingTile& tile = tiles[i];
    if (tile.has_ended) continue;
    left.set(i);
    if (tile.row->is_told() < Command::settle) {
      // Who is not ready may yet subscribe; told to settle it ends, or says that it is there.
      const bool is_source = tile.is_ready && tile.row->consumes.get() == 0;
      tile.row->tell(is_source ? Command::drain : Command::settle);
    }
    draining = draining || tile.row->is_told() >= Command::drain;
    answered = answered && tile.row->answer().look == look_;
  }
  left_ = left;
  if (left.none() || (draining && patience == Patience::some)) return;
  if (patience == Patience::some) {
    if (!answered && !LEAT_MUTANT("stop.asks_early")) return;
    const bool counts = look_ > 0 && (left == asked_of_ || LEAT_MUTANT("stop.counts_old_looks"));
    if (!counts) return ask(tiles);
  }
  const Set next = next_in_turn(tiles, patience);
  if (next.none()) return ask(tiles);  // has patience: without, there is always one
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (next.test(i)) tiles[i].row->tell(Command::drain);
  }
}

void StopOrder::ask(std::span<const EndingTile> tiles) {
  if (left_ != asked_of_) looks_ = 0;
  ++look_;
  asked_of_ = left_;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (left_.test(i)) tiles[i].row->ask(look_);
  }
}

StopOrder::Set StopOrder::next_in_turn(std::span<const EndingTile> tiles, Patience patience) {
  look_at_channels(tiles);
  if (patience == Patience::none) return when_all_are_quiet(tiles);
  Set quiet;
  bool all_caught_up = true;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!left_.test(i)) continue;
    const TileAnswer answer = tiles[i].row->answer();
    quiet.set(i, answer.is_quiet);
    all_caught_up = all_caught_up && answer.has_caught_up;
  }
  return quiet == left_ ? when_all_are_quiet(tiles)
                        : when_some_are_busy(tiles, quiet, all_caught_up);
}

void StopOrder::look_at_channels(std::span<const EndingTile> tiles) {
  feeds_.assign(tiles.size(), {});
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      if (i == k || !left_.test(i) || !left_.test(k)) continue;
      feeds_[i].set(k, (tiles[i].row->produces.get() & tiles[k].row->consumes.get()) != 0);
    }
  }
  for (std::size_t via = 0; via < tiles.size(); ++via) {
    for (Set& fed : feeds_) {
      if (fed.test(via)) fed |= feeds_[via];
    }
  }
}

StopOrder::Set StopOrder::when_all_are_quiet(std::span<const EndingTile> tiles) const {
  Set unfed;
  Set ever_fed;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!left_.test(i)) continue;
    bool is_fed = false;  // by one that it does not feed in turn
    bool was_fed = false;
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      if (i == k) continue;
      if (left_.test(k)) is_fed = is_fed || (feeds_[k].test(i) && !feeds_[i].test(k));
      was_fed = was_fed || (tiles[k].row->produces.get() & tiles[i].row->consumes.get()) != 0;
    }
    unfed.set(i, !is_fed);
    ever_fed.set(i, was_fed);
  }
  const Set first = unfed & ever_fed;
  return first.any() ? first : unfed;
}

StopOrder::Set StopOrder::when_some_are_busy(std::span<const EndingTile> tiles, const Set& quiet,
                                             bool all_caught_up) {
  quiet_since_ = looks_ == 0 ? quiet : quiet_since_ & quiet;
  ++looks_;
  const Set busy = left_ & ~quiet_since_;
  bool in_circles = false;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    in_circles = in_circles || (busy.test(i) && feeds_[i].test(i));
  }
  if (!all_caught_up || in_circles) looks_ = 0;
  Set next;
  if (looks_ <= left_.count()) return next;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool feeds_itself = (tiles[i].row->produces.get() & tiles[i].row->consumes.get()) != 0;
    const bool makes_them = busy.test(i) ? feeds_itself : left_.test(i) && (feeds_[i] & busy).any();
    if (!makes_them) continue;
    bool is_fed = false;
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      is_fed = is_fed || (left_.test(k) && feeds_[k].test(i));
    }
    next.set(i, !is_fed);
  }
  return next;
}

}  // namespace leat::tile
