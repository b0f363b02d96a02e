// What      How far a worker is: what came round its loops, for the progress display and the
//           closing lines.
// Threads   The worker's own, save `records()`.
// Ordering  The count is a number that carries nothing else, so it is read relaxed.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include "streams.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace leat::tool::flow {

class alignas(kSector) Meter {
 public:
  /// Takes note of records that crossed a channel.
  void add(std::uint64_t records) noexcept {
    records_.store_relaxed(records_.load_relaxed() + records);  // only we store it
  }
  /// Any thread; not later than the worker is.
  [[nodiscard]] std::uint64_t records() const noexcept { return records_.load_relaxed(); }

  /// Of all loops: how often a frontier moved.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
  /// The round that last came by.
  [[nodiscard]] std::optional<Round> round() const noexcept { return round_; }
  /// The last frontier that moved, as the display shows it: "breaks 12".
  [[nodiscard]] const std::string& frontier() const noexcept { return frontier_; }

  /// For `metered`.
  void came(const LoopTime& time, std::uint64_t records) noexcept {
    add(records);
    round_ = time.inner;
  }
  void moved(const std::string& loop, progress::AntichainRef<LoopTime> frontier) {
    ++rounds_;
    frontier_ = loop + (frontier.empty() ? " done" : " " + std::to_string(frontier[0].inner));
  }

 private:
  Atomic<std::uint64_t> records_{0};
  std::uint64_t rounds_ = 0;
  std::optional<Round> round_;
  std::string frontier_;
};

/// Passes a stream of a loop on, and tells `meter`, which outlives the dataflow.
[[nodiscard]] inline auto metered(Meter& meter, const std::string& loop) {
  return df::inspect_core(
             [&meter](const LoopTime& time, const auto& batch) { meter.came(time, batch.size()); },
             [&meter, loop](progress::AntichainRef<LoopTime> frontier) {
               meter.moved(loop, frontier);
             })
      .named("meter");
}

}  // namespace leat::tool::flow
