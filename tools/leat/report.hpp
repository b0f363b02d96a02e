// What      What the command prints: the ranking, the answers and the chain of reasons as a table,
//           as JSON or as CSV, and the closing lines about the run.
// Invariants
//   (1) The ranking's bytes depend on the graph and the options only: not on workers, time or luck.
//   (2) Every text ends with an end of line; JSON is one value, CSV has a header (RFC 4180, but
//   with
//       plain line ends).
#pragma once

#include "compute.hpp"
#include "load.hpp"
#include "options.hpp"
#include "reasons.hpp"
#include "terminal.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::tool {

[[nodiscard]] std::string ranking_text(Format format, const Loaded& loaded,
                                       const Computed& computed, const Look& look);

/// The answers to `--without`.
[[nodiscard]] std::string answers_text(Format format, const Loaded& loaded,
                                       std::span<const Answer> answers, const Look& look);

/// The answer to `--why package root`; an empty chain says that it does not break.
[[nodiscard]] std::string why_text(Format format, const Loaded& loaded, NodeId package, NodeId root,
                                   std::span<const Reason> chain, const Look& look);

/// "2 workers · 183 rounds · 7.7 µs per round · 12 wake-ups · 8.4 M records/s · peak memory 213
/// MiB"
[[nodiscard]] std::string figures_text(const RunFigures& figures, std::uint64_t peak_memory_bytes,
                                       const Look& look);

/// A bar of `width` columns for the share `part` of `whole`, padded with blanks: in eighths of a
/// block, or of # where there are no blocks. Whatever is not nothing shows.
[[nodiscard]] std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t width,
                              bool utf8);

/// Units of rank as parts per million, cut to three digits: "62460.328".
[[nodiscard]] std::string parts_per_million(std::uint64_t page_rank);

/// A string of JSON with its quotes; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// A field of CSV, quoted if it must be.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace leat::tool
