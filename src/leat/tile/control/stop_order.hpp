// What      StopOrder: the order in which tiles that are to end may end, so that none ends before what
//           others have for it has come to it: who is told to settle, to answer looks, to drain.
// Protocol  At first: sources, who consume nothing, are told to drain, all others to settle. Then, as long
//           as nobody who drains is left, looks (look.hpp), each when all have answered the one before.
//           A look counts if nobody ended since it was asked for:
//           - All are quiet: nothing is on its way. Those drain whom nobody feeds that lives, or who
//             feed each other in a circle that nobody else feeds. Of them first those who were ever
//             fed, so that others see what they send at their end.
//           - Some are never quiet, though always caught up, in more looks than there are tiles, and
//             feed each other in no circle: then what was on its way has arrived, and only what
//             tiles make of nothing goes round. Quiet ones drain who feed busy ones, and busy ones who
//             feed themselves.
//           Who feeds whom is known from channels that were produced into. With `Patience::none` that is
//           all that counts: who is not fed drains, or, in circles, all.
// Invariants
//   (1) A tile is told to drain only when nothing that it is to consume is on its way, but for what is
//       made of nothing meanwhile, and at the end of others who drain with it.
//   (2) A look is asked for when all have answered the one before.
// Limits    Tiles outside are not known of: who is fed by them is busy for as long as they are.
// Cost      A look costs each tile what counting its backlog does, and control a wake-up for each answer.
#pragma once

#include <leat/tile/control/board.hpp>
#include <leat/tile/control/look.hpp>

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

namespace leat::tile {

/// One tile, as the order sees it. `has_ended` was read with all that the tile did before visible.
struct EndingTile {
  TileRow* row = nullptr;
  bool is_ready = false;  ///< its channels are subscribed
  bool has_ended = false;
};

enum class Patience : std::uint8_t {
  some,
  none,  ///< no more looks: what channels are known for decides
};

/// Threads: one at a time.
class StopOrder {
 public:
  /// Tells and asks what there is to tell and to ask now: at each answer and each end, and now and
  /// then. Requires: the same tiles each time, at most kTilesMax.
  void step(std::span<const EndingTile> tiles, Patience patience);

 private:
  using Set = std::bitset<kTilesMax>;

  void look_at_channels(std::span<const EndingTile> tiles);
  void ask(std::span<const EndingTile> tiles);
  [[nodiscard]] Set next_in_turn(std::span<const EndingTile> tiles, Patience patience);
  [[nodiscard]] Set when_all_are_quiet(std::span<const EndingTile> tiles) const;
  [[nodiscard]] Set when_some_are_busy(std::span<const EndingTile> tiles, const Set& quiet,
                                       bool all_caught_up);

  // What is known of channels.
  Set left_;                // who has not ended
  std::vector<Set> feeds_;  // whom each that has not ended feeds, also through others

  std::uint64_t look_ = 0;
  Set asked_of_;
  Set quiet_since_;  // who was quiet in each of `looks_` looks
  std::size_t looks_ = 0;
};

}  // namespace leat::tile
