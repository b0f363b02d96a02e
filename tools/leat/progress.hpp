// What      The progress display: one line that is redrawn on a terminal, a plain line every five
//           seconds elsewhere; always on standard error.
// Shape     compute 1.4 s · 3 120 445 records in · iteration 27 · frontier 28 · 2.2 M records/s
// Protocol  The command enters phases; whoever works tells; a ProgressTicker, or a test, ticks.
// Only
//           ticks and phases draw, so telling is cheap and nothing is drawn twice.
// Limits    After stop() nothing is drawn any more, whoever tells: then standard output's turn
// comes.
#pragma once

#include <leat/base/clock.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace leat::tool {

/// How far the work is; what is not told is not shown.
struct Sample {
  std::uint64_t records = 0;
  std::optional<std::uint64_t> iteration;
  std::string frontier;
};

/// One line of progress, without an end of line: phase, time, what is known, records per second.
[[nodiscard]] std::string progress_text(std::string_view phase, const Sample& sample,
                                        Nanos elapsed);

class Progress {
 public:
  /// How lines are drawn. `redraw`: over the line before; `columns`: cut there when redrawing.
  struct Style {
    bool redraw = false;
    std::size_t columns = 80;
    bool utf8 = true;
  };

  /// `write` puts bytes on the display; `clock` must outlive this.
  Progress(Style style, std::function<void(std::string_view)> write, const Clock& clock);

  /// Ends the phase before and begins one. The name is shown: "read", "graph", "compute".
  void enter(std::string_view phase);

  /// Takes note of how far the work is. Any thread; a lock that is held for a copy.
  void tell(Sample sample);

  /// Draws what is due now.
  void tick();

  /// Clears the line if there is one; nothing is drawn after this.
  void stop();

  /// What each phase took, in the order they were entered: "read 0.37 s · graph 0.21 s".
  [[nodiscard]] std::string timings() const;

 private:
  struct Phase {
    std::string name;
    Nanos begin;
    std::optional<Nanos> end;
  };

  void draw(Nanos now);
  void clear();

  const Style style_;
  const std::function<void(std::string_view)> write_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Phase> phases_;
  Sample sample_;
  std::size_t drawn_columns_ = 0;
  std::optional<Nanos> drawn_at_;
  bool stopped_ = false;
};

/// A thread that ticks, ten times a second, for as long as this lives.
class ProgressTicker {
 public:
  explicit ProgressTicker(Progress& progress);
  ProgressTicker(const ProgressTicker&) = delete;
  ProgressTicker& operator=(const ProgressTicker&) = delete;
  ~ProgressTicker();

 private:
  Progress& progress_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

/// A duration for people: "870 µs", "12.3 ms", "0.37 s", "41.2 s".
[[nodiscard]] std::string duration_text(Nanos duration);

/// A rate or a count for people: "950", "12.3 k", "4.1 M".
[[nodiscard]] std::string scaled_text(double number);

}  // namespace leat::tool
