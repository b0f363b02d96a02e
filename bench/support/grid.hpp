// What      The knobs that a benchmark can be swept over: `./dev bench sweep` runs it at points of
//           their grid, a process per point.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace leat::bench {

struct Knob {
  std::string name;
  std::int64_t usual = 0;          ///< where the sweep does not turn it
  std::vector<std::int64_t> grid;  ///< what is tried unless somebody says otherwise
};

/// A value for every knob of a grid.
class Point {
 public:
  /// Requires: the grid has the knob; checked.
  [[nodiscard]] std::int64_t operator[](const std::string& knob) const { return values_.at(knob); }
  /// The same, of a knob that is a count.
  [[nodiscard]] std::uint64_t count(const std::string& knob) const {
    return static_cast<std::uint64_t>(values_.at(knob));
  }
  void set(const std::string& knob, std::int64_t value) { values_[knob] = value; }

 private:
  std::map<std::string, std::int64_t> values_;
};

struct Grid {
  std::vector<Knob> knobs;
  std::uint64_t tiny_iterations = 1;  ///< of the usual point, enough to see that it works
};

}  // namespace leat::bench
