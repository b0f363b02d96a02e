// What      One figure of a benchmark as it is written down: a JSON object on a line of its own.
// Shape     {"bench": "barrier", "params": {"workers": 2}, "metric": "wall_ns_per_iteration",
//            "unit": "ns", "median": 331.2, "min": 310.0, "max": 402.5, "mad": 8.1, "runs": 5,
//            "yardsticks": {"spin_barrier_ns": 201, "futex_barrier_ns": 6900,
//                           "line_bounce_ns": 180},
//            "machine": {"cores": 2, ...}}
//           `mad` is the median absolute deviation over the runs. `note` stands there if something
//           makes the figure doubtful.
#pragma once

#include "machine.hpp"
#include "yardsticks.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace leat::bench {

/// What tells one case of a benchmark from another.
struct Param {
  std::string name;
  std::variant<std::int64_t, std::string> value;
};
using Params = std::vector<Param>;

/// How a figure came out over several runs.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  double mad = 0;
  std::size_t runs = 0;
};

/// Requires: `values` is not empty; checked.
[[nodiscard]] Spread spread_of(std::vector<double> values);

struct Row {
  std::string bench;
  Params params;
  std::string metric;
  std::string unit;
  Spread spread;
  Yardsticks yardsticks;
  Machine machine;
  std::string note;
};

/// The row as one line without its end.
[[nodiscard]] std::string to_json(const Row& row);

/// `barrier/workers=2`: how a case is named on a command line.
[[nodiscard]] std::string label_of(const std::string& bench, const Params& params);

/// `text` as a JSON string, with its quotes.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace leat::bench
