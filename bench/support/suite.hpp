// What      The main of a benchmark program: runs its cases, each several times beside the
//           yardsticks, and prints a row per figure.
// Protocol  int main(int argc, char** argv) {
//             Suite suite("barrier", argc, argv);
//             suite.run({.params = {{"workers", 2}}, .iterations = 1'000'000}, measure);
//             return suite.finish();
//           }
//           Per case: one small run to warm up, then yardsticks and a run in turn, yardsticks
//           again. A row has the median of the yardsticks. `measure(iterations)` throws if its
//           answer is wrong. A sweep has one such case for each point that --point names.
// Limits    Rows go to standard output, everything else to standard error. bench/bench.py starts
//           one process per case, so that none inherits the heap and the peak memory of another.
#pragma once

#include "grid.hpp"
#include "row.hpp"
#include "sample.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace leat::bench {

struct Case {
  Params params{};
  std::uint64_t iterations = 1;       ///< of a real run
  std::uint64_t tiny_iterations = 1;  ///< enough to see that it works
  bool countable = false;  ///< one thread, cost as its iterations: instructions can be counted
};

class Suite {
 public:
  /// Reads the command line; ends the program with 2 if it is wrong.
  Suite(std::string name, int argc, const char* const* argv);

  /// Runs the case if it was asked for.
  void run(const Case& what, const std::function<Sample(std::uint64_t iterations)>& measure);

  /// Runs the point that was asked for by --point; the usual one for --tiny; else nothing.
  ///
  /// `iterations(point)` says how many a real run has: crowded points may take less.
  void sweep(const Grid& grid, const std::function<std::uint64_t(const Point&)>& iterations,
             const std::function<Sample(const Point&, std::uint64_t iterations)>& measure);

  /// Returns: what `main` should: 0, or 1 if an answer was wrong or nothing was asked for.
  [[nodiscard]] int finish() const;

 private:
  [[nodiscard]] bool wanted(const std::string& label) const;
  void measure_case(const Case& what, const std::string& label,
                    const std::function<Sample(std::uint64_t)>& measure);
  Point point_of(const Grid& grid) const;

  std::string name_;
  Machine machine_;
  double clock_ns_ = 0;
  std::vector<std::string> prefixes_;
  std::optional<std::string> case_;
  std::optional<std::string> point_;
  bool grid_ = false;
  std::optional<std::uint64_t> iterations_;
  std::size_t runs_ = 5;
  bool list_ = false;
  bool tiny_ = false;
  std::optional<Yardsticks> tiny_yardsticks_;  // once is enough where nobody reads the figures
  bool bare_ = false;
  bool failed_ = false;
  std::size_t cases_ = 0;
};

/// Throws unless `right`: the case's answer is wrong, and its figures are worth nothing.
void require(bool right, const char* what);

}  // namespace leat::bench
