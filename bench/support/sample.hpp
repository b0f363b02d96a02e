// What      What one run of a case measured: laps (how long a thread worked, in wall and CPU time)
//           and the figures made of them.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/histogram.hpp>
#include <leat/base/os/cpu_time.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::bench {

/// A stretch of work, by one thread or (`joined`) by several.
struct Lap {
  Nanos begin{0};
  Nanos end{0};
  Nanos cpu{0};  ///< of the threads that worked, summed

  [[nodiscard]] Nanos wall() const noexcept { return end - begin; }
};

/// From the first to begin to the last to end.
template <class Laps>
[[nodiscard]] Lap joined(const Laps& laps) {
  Lap all = laps.front();
  all.cpu = Nanos{0};
  for (const Lap& lap : laps) {
    all.begin = std::min(all.begin, lap.begin);
    all.end = std::max(all.end, lap.end);
    all.cpu += lap.cpu;
  }
  return all;
}

/// Takes the calling thread's lap: `auto watch = Stopwatch(); ...; const Lap lap = watch.stop();`
class Stopwatch {
 public:
  Stopwatch() : cpu_(os::thread_cpu()), begin_(RealClock().now()) {}

  [[nodiscard]] Lap stop() const noexcept {
    const Nanos end = RealClock().now();
    return {begin_, end, os::thread_cpu() - cpu_};
  }

 private:
  Nanos cpu_;
  Nanos begin_;
};

struct Figure {
  std::string metric;
  std::string unit;
  double value = 0;
};

/// The figures of one run.
class Sample {
 public:
  Sample() = default;
  /// With `wall_ns_per_iteration` and `cpu_ns_per_iteration`.
  Sample(const Lap& lap, std::uint64_t iterations) : wall_(lap.wall()) {
    const auto n = static_cast<double>(iterations);
    add("wall_ns_per_iteration", "ns", static_cast<double>(lap.wall().count()) / n);
    add("cpu_ns_per_iteration", "ns", static_cast<double>(lap.cpu.count()) / n);
  }

  void add(std::string metric, std::string unit, double value) {
    figures_.push_back({std::move(metric), std::move(unit), value});
  }
  /// Single iterations, in nanoseconds: p50, p99, p99.9, longest. Each takes a look at a clock.
  void add_distribution(const Histogram& iterations) {
    add("p50_ns", "ns", static_cast<double>(iterations.quantile(0.5)));
    add("p99_ns", "ns", static_cast<double>(iterations.quantile(0.99)));
    add("p999_ns", "ns", static_cast<double>(iterations.quantile(0.999)));
    add("longest_ns", "ns", static_cast<double>(iterations.max()));
    clock_reads_ += iterations.count();
  }

  [[nodiscard]] std::span<const Figure> figures() const noexcept { return figures_; }
  /// The part of the run that went into looking at clocks, if one look takes `clock_ns`.
  [[nodiscard]] double clock_share(double clock_ns) const noexcept {
    const auto wall = static_cast<double>(wall_.count());
    return wall > 0 ? static_cast<double>(clock_reads_) * clock_ns / wall : 0;
  }

 private:
  std::vector<Figure> figures_;
  Nanos wall_{0};
  std::uint64_t clock_reads_ = 2;
};

}  // namespace leat::bench
