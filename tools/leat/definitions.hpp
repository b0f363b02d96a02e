// What      What the numbers of the ranking mean, to the last unit. The dataflow that computes them
//           and the sequential oracle of its tests share this page and nothing else.
//
//           PageRank. Rank is a count of units; all nodes together have kRankMass, one share of a
//           million is 10^9 units. In round 0 each of the n nodes has floor(kRankMass / n). In
//           every later round
//               sent(p)  = floor(rank(p) * 17 / (20 * out(p)))   along each of p's out(p) edges
//               share    = floor((kRankMass - sum of all that was sent) / n)
//               rank'(v) = share + sum of sent(p) over edges p -> v
//           So damping is 0.85, and all that is not sent along an edge is spread evenly: the 0.15
//           of everybody, all of a node without edges (the dangling mass), and what the divisions
//           left. The job stops after the first round in which the sum of |rank'(v) - rank(v)| is
//           at most kRankChangeMax, or after kRankRoundsMax rounds. These are integers, and integer
//           sums do not depend on their order: neither workers nor their number can change a digit.
//
//           Component. The nodes that a path joins, whichever way its edges point; called by its
//           smallest id.
//
//           Breaks. Without x, x is gone; a clause is broken when all of its alternatives are gone;
//           a node with a broken clause is gone; nothing else is (the least fixed point). Its
//           distance is the round in which it goes, x's is 0. `breaks` counts who is gone besides
//           x.
//
//           Reaches. As breaks, with a clause broken by its first alternative: reverse
//           reachability, over edges. `reaches` counts who is reached besides x.
//
//           The ranking is by breaks, then by PageRank, both falling, then by name.
// Source    Brin and Page 1998; the fixed-point form is ours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leat::tool {

inline constexpr std::uint64_t kRankMass = 1'000'000'000'000'000;  // 10^15
inline constexpr std::uint64_t kRankPartPerMillion = kRankMass / 1'000'000;
inline constexpr std::uint64_t kDampingNumerator = 17;
inline constexpr std::uint64_t kDampingDenominator = 20;
inline constexpr std::uint64_t kRankChangeMax = kRankPartPerMillion;
inline constexpr std::uint32_t kRankRoundsMax = 200;

/// Of an edge list only so many nodes, the first by PageRank, are candidates for the ranking, or as
/// many as are shown if that is more: there each may reach all others, and all of them for all
/// nodes would be a square. Of packages every one is a candidate: 3.5 million pairs, not 4 billion.
inline constexpr std::size_t kEdgeListCandidates = 64;

/// What a node starts with.
///
/// Requires: `nodes != 0`.
[[nodiscard]] constexpr std::uint64_t rank_at_start(std::size_t nodes) noexcept {
  return kRankMass / nodes;
}

/// What a node of that rank sends along each of its edges.
///
/// Requires: `edges != 0`.
[[nodiscard]] constexpr std::uint64_t rank_sent(std::uint64_t rank, std::size_t edges) noexcept {
  static_assert(kRankMass <= UINT64_MAX / kDampingNumerator, "the product must not wrap");
  return rank * kDampingNumerator / (kDampingDenominator * edges);
}

/// What every node gets of all that was not sent along an edge.
///
/// Requires: `sent_by_all` summed over all edges; `nodes != 0`.
[[nodiscard]] constexpr std::uint64_t rank_share(std::uint64_t sent_by_all,
                                                 std::size_t nodes) noexcept {
  return (kRankMass - sent_by_all) / nodes;
}

[[nodiscard]] constexpr std::uint64_t rank_change(std::uint64_t before,
                                                  std::uint64_t after) noexcept {
  return before < after ? after - before : before - after;
}

}  // namespace leat::tool
