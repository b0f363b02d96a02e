// What      TimerBook: the timers of one tile, in memory that others may read: for each kind of message
//           how long it took from being published to being consumed (latency), and how long the tile
//           was at it (processing); and whatever else the tile times by name.
// Shape     Segment `timers.<row of the tile>`: | head: tile's name | entries |
//           An entry: its name, 64 bytes, and two histograms.
// Protocol  The tile makes an entry when it first needs one; readers find entries by their names, which
//           are written before the number of entries that says that they are there.
// Ordering  listed  the tile -> readers: the name of an entry is written.
// Limits    As many entries as it was made with; a tile without room for a further one times nothing
//           under that name. An entry takes 36 KiB.
// Source    Flux's timers, which send each sample through a queue and keep a small part of them.
#pragma once

#include <leat/core/segment/segment.hpp>
#include <leat/tile/metrics/shared_histogram.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::tile {

struct TimerEntry {
  char name[64];  // before it is listed; constant afterwards
  char unused[64];
  SharedHistogram latency;
  SharedHistogram processing;
};
static_assert(std::is_standard_layout_v<TimerEntry>);

/// What was timed under one name.
struct TimerFacts {
  std::string tile;
  std::string name;
  HistogramCopy latency;
  HistogramCopy processing;
};

class TimerBook {
  struct listed : Edge {};  // the tile -> readers: an entry's name is written

 public:
  static constexpr const char* kKind = "timers";

  /// In this process's own memory.
  [[nodiscard]] static Result<TimerBook> make_private(std::string_view tile, std::size_t entries);
  /// Under a name, in place of what a former tile left there.
  [[nodiscard]] static Result<TimerBook> make(const core::SegmentName& name, std::string_view tile,
                                              std::size_t entries,
                                              const core::SegmentOptions& options = {});
  /// To look only.
  [[nodiscard]] static Result<TimerBook> observe(const core::SegmentName& name);

  /// The entry of that name, made if there is none; null if there is no room. Threads: the tile's.
  [[nodiscard]] TimerEntry* entry(std::string_view name) noexcept;
  /// All entries. Threads: any.
  [[nodiscard]] std::vector<TimerFacts> timers() const;
  [[nodiscard]] std::string tile() const;

  /// Takes its name away: the tile has ended, and nobody is to find its timers any more.
  void retire() noexcept;

 private:
  struct Head {
    Atomic<std::uint64_t> entries{0};
    char tile[64];
    char unused[56];
  };
  static_assert(sizeof(Head) == 128);

  explicit TimerBook(core::Segment segment, std::string_view tile) noexcept;
  [[nodiscard]] static core::SegmentSpec spec(std::size_t entries);
  [[nodiscard]] Head& head() const noexcept {
    return *reinterpret_cast<Head*>(segment_.payload().data());
  }
  [[nodiscard]] TimerEntry* entries() const noexcept {
    return reinterpret_cast<TimerEntry*>(segment_.payload().data() + sizeof(Head));
  }

  core::Segment segment_;
};

/// Times a stretch of work: from its making to its end, or to `stop`.
///
/// Threads: one.
class ScopedTimer {
 public:
  ScopedTimer(const Clock& clock, SharedHistogram* to) noexcept
      : clock_(&clock), to_(to), began_(clock.now()) {}
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  ~ScopedTimer() { stop(); }
  /// Records, once.
  void stop() noexcept {
    if (SharedHistogram* const to = std::exchange(to_, nullptr)) to->record(clock_->now() - began_);
  }
  /// Records nothing.
  void forget() noexcept { to_ = nullptr; }

 private:
  const Clock* clock_;
  SharedHistogram* to_;
  Nanos began_;
};

/// Adds up stretches that belong together, and records their sum as one sample.
class AddingTimer {
 public:
  explicit AddingTimer(const Clock& clock) noexcept : clock_(&clock) {}
  void start() noexcept { began_ = clock_->now(); }
  void stop() noexcept { sum_ += clock_->now() - began_; }
  [[nodiscard]] Nanos sum() const noexcept { return sum_; }
  /// Records the sum, and begins anew.
  void record(SharedHistogram* to) noexcept {
    if (to != nullptr) to->record(sum_);
    sum_ = Nanos{0};
  }

 private:
  const Clock* clock_;
  Nanos began_{0};
  Nanos sum_{0};
};

}  // namespace leat::tile
