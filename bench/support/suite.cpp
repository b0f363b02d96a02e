#include "suite.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace leat::bench {

namespace {

constexpr double kClockShareMax = 0.1;
// Two cores that are free agree in less than this, on any machine; not so who has to wait for a
// time slice.
constexpr double kSpinBarrierMaxNs = 5'000;

constexpr const char* kUsage =
    "usage: %s [PREFIX...] [--case LABEL] [--point KNOB=VALUE,...] [--runs N] [--iterations N]\n"
    "       [--tiny] [--bare] [--list] [--grid]\n"
    "Runs the cases whose labels start with a PREFIX and prints a JSON object per figure.\n"
    "  --case   only the case of exactly this label\n"
    "  --point  only that point of the sweep; knobs that are not named are as usual\n"
    "  --tiny   one small run each, to see that they work\n"
    "  --bare   one run and nothing beside it, for tools that count instructions\n"
    "  --list   only print the labels\n"
    "  --grid   only print the knobs of the sweep\n";

// What one look at the clock costs.
double measure_clock() {
  constexpr int kReads = 10'000;
  const RealClock clock;
  const Nanos begin = clock.now();
  for (int i = 0; i < kReads; ++i) static_cast<void>(clock.now());
  return static_cast<double>((clock.now() - begin).count()) / kReads;
}

Yardsticks median_of(const std::vector<Yardsticks>& all) {
  std::vector<double> spin;
  std::vector<double> futex;
  std::vector<double> bounce;
  for (const auto& one : all) {
    spin.push_back(one.spin_barrier_ns);
    futex.push_back(one.futex_barrier_ns);
    bounce.push_back(one.line_bounce_ns);
  }
  return {spread_of(spin).median, spread_of(futex).median, spread_of(bounce).median};
}

}  // namespace

Suite::Suite(std::string name, int argc, const char* const* argv) : name_(std::move(name)) {
  std::string commit = "unknown";
  const auto refuse = [&](std::string_view word) {
    std::fprintf(stderr, "%s: what is \"%.*s\"?\n", argv[0], static_cast<int>(word.size()),
                 word.data());
    std::fprintf(stderr, kUsage, argv[0]);
    std::exit(2);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == argc) refuse(word);
      return argv[++i];
    };
    const auto number = [&] {
      const std::string_view text = value();
      std::uint64_t n = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
      if (error != std::errc{} || end != text.data() + text.size() || n == 0) refuse(text);
      return n;
    };
    if (word == "--runs") {
      runs_ = number();
    } else if (word == "--iterations") {
      iterations_ = number();
    } else if (word == "--case") {
      case_ = value();
    } else if (word == "--point") {
      point_ = value();
    } else if (word == "--grid") {
      grid_ = true;
    } else if (word == "--commit") {
      commit = value();  // what the machine line says; bench/bench.py knows it
    } else if (word == "--tiny") {
      tiny_ = true;
    } else if (word == "--bare") {
      bare_ = true;
    } else if (word == "--list") {
      list_ = true;
    } else if (word == "--help") {
      std::printf(kUsage, argv[0]);
      std::exit(0);
    } else if (word.starts_with('-')) {
      refuse(word);
    } else {
      prefixes_.emplace_back(word);
    }
  }
  machine_ = this_machine(std::move(commit));
  if (!list_ && !grid_ && !bare_) clock_ns_ = measure_clock();
}

bool Suite::wanted(const std::string& label) const {
  if (point_ || grid_) return false;
  if (case_) return label == *case_;
  if (prefixes_.empty()) return true;
  for (const auto& prefix : prefixes_) {
    if (label.starts_with(prefix)) return true;
  }
  return false;
}

void Suite::run(const Case& what, const std::function<Sample(std::uint64_t)>& measure) {
  const std::string label = label_of(name_, what.params);
  if (wanted(label)) measure_case(what, label, measure);
}

void Suite::sweep(const Grid& grid, const std::function<std::uint64_t(const Point&)>& iterations,
                  const std::function<Sample(const Point&, std::uint64_t)>& measure) {
  if (grid_) {
    ++cases_;
    for (const Knob& knob : grid.knobs) {
      std::printf("{\"knob\": %s, \"usual\": %lld, \"grid\": [", quoted(knob.name).c_str(),
                  static_cast<long long>(knob.usual));
      for (const auto value : knob.grid) {
        std::printf("%s%lld", value == knob.grid.front() ? "" : ", ",
                    static_cast<long long>(value));
      }
      std::printf("]}\n");
    }
    return;
  }
  if (!point_ && !(tiny_ && prefixes_.empty() && !case_)) return;
  const Point point = point_of(grid);
  Case what{.iterations = iterations(point), .tiny_iterations = grid.tiny_iterations};
  for (const Knob& knob : grid.knobs) what.params.push_back({knob.name, point[knob.name]});
  measure_case(what, label_of(name_, what.params),
               [&](std::uint64_t n) { return measure(point, n); });
}

Point Suite::point_of(const Grid& grid) const {
  Point point;
  for (const Knob& knob : grid.knobs) point.set(knob.name, knob.usual);
  std::string_view left = point_ ? std::string_view(*point_) : std::string_view();
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(word.size() + 1, left.size()));
    const auto equals = std::min(word.find('='), word.size());
    const std::string name(word.substr(0, equals));
    const std::string_view text = word.substr(std::min(equals + 1, word.size()));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool known = std::any_of(grid.knobs.begin(), grid.knobs.end(),
                                   [&](const Knob& knob) { return knob.name == name; });
    if (!known || error != std::errc{} || end != text.data() + text.size()) {
      std::fprintf(stderr, "%s: what is \"%.*s\"? --grid prints the knobs\n", name_.c_str(),
                   static_cast<int>(word.size()), word.data());
      std::exit(2);
    }
    point.set(name, value);
  }
  return point;
}

void Suite::measure_case(const Case& what, const std::string& label,
                         const std::function<Sample(std::uint64_t)>& measure) {
  ++cases_;
  std::uint64_t iterations = tiny_ ? what.tiny_iterations : what.iterations;
  if (iterations_) iterations = *iterations_;
  if (list_) {
    std::printf("{\"label\": %s, \"iterations\": %llu, \"countable\": %s}\n", quoted(label).c_str(),
                static_cast<unsigned long long>(iterations), what.countable ? "true" : "false");
    return;
  }

  struct Readings {
    std::string unit;
    std::vector<double> values;
  };
  std::vector<std::string> order;  // of the metrics, as the case adds them
  std::map<std::string, Readings> readings;
  std::vector<Yardsticks> yardsticks;
  double clock_share = 0;
  try {
    if (bare_) {
      static_cast<void>(measure(iterations));
      return;
    }
    const auto take_yardsticks = [&] {
      if (!tiny_) return measure_yardsticks();
      if (!tiny_yardsticks_) tiny_yardsticks_ = measure_yardsticks(std::chrono::microseconds(100));
      return *tiny_yardsticks_;
    };
    const std::size_t runs = tiny_ ? 1 : runs_;
    if (!tiny_) static_cast<void>(measure(what.tiny_iterations));
    for (std::size_t i = 0; i < runs; ++i) {
      yardsticks.push_back(take_yardsticks());
      const Sample sample = measure(iterations);
      clock_share = std::max(clock_share, sample.clock_share(clock_ns_));
      for (const Figure& figure : sample.figures()) {
        auto& of_metric = readings[figure.metric];
        if (of_metric.values.empty()) order.push_back(figure.metric);
        of_metric.unit = figure.unit;
        of_metric.values.push_back(figure.value);
      }
    }
    yardsticks.push_back(take_yardsticks());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: wrong: %s\n", label.c_str(), error.what());
    failed_ = true;
    return;
  }

  Row row{name_, what.params, {}, {}, {}, median_of(yardsticks), machine_, {}};
  if (row.yardsticks.spin_barrier_ns > kSpinBarrierMaxNs) {
    row.note = "the cores were busy with other work: a spin barrier took " +
               std::to_string(static_cast<long>(row.yardsticks.spin_barrier_ns)) + " ns";
  } else if (clock_share > kClockShareMax) {
    row.note = "looking at the clock took " + std::to_string(static_cast<int>(clock_share * 100)) +
               " % of the time";
  }
  for (const auto& metric : order) {
    row.metric = metric;
    row.unit = readings[metric].unit;
    row.spread = spread_of(readings[metric].values);
    std::printf("%s\n", to_json(row).c_str());
  }
  std::fflush(stdout);
}

int Suite::finish() const {
  if (cases_ == 0) {
    std::fprintf(stderr, "%s: no case starts with that; --list names them\n", name_.c_str());
    return 1;
  }
  return failed_ ? 1 : 0;
}

void require(bool right, const char* what) {
  if (!right) throw std::runtime_error(what);
}

}  // namespace leat::bench
