// A source that could produce everything at once, and is asked for ten numbers at a time, and only
// when a probe behind the last operator says that what was sent before has come through. However slow
// that operator is, little is under way.
//
//   flow_controlled [flags]
//
// prints to standard error, on each worker, 100000 lines, ten of a hundred at each time:
//
//   @ 0: (0, 0)
//   @ 0: (1, 1)
//   ...
//   @ 99900: (99999, 99999)

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

namespace df = leat::dataflow;

int main(int argc, char** argv) {
  const auto outcome = df::execute_from_args(argc, argv, [](df::Worker& worker) {
    worker.dataflow([](auto& scope) {
      // [flow_controlled]
      constexpr std::uint64_t kNumbers = 100'000;
      using Pair = std::pair<std::uint64_t, std::uint64_t>;
      using Portion = df::Portion<Pair>;
      const auto time_of = [](std::uint64_t x) { return x / 100 * 100; };
      auto more = [time_of, next = std::uint64_t{0}](std::uint64_t now) mutable {
        if (next == kNumbers) return std::optional<Portion>();  // the end
        Portion portion;
        auto& [time, pairs] = portion.records.emplace_back(time_of(next), std::vector<Pair>());
        for (int i = 0; i < 10; ++i, ++next) pairs.emplace_back(next, next);
        portion.lower_bound = time_of(next);
        portion.target = now;  // wait until nothing before this portion is under way
        return std::optional(std::move(portion));
      };
      df::Probe<> done;
      df::flow_controlled<Pair>(scope, "numbers", std::move(more), done) |
          df::inspect_time([](std::uint64_t time, const Pair& pair) {
            std::fprintf(stderr, "@ %lu: (%lu, %lu)\n", time, pair.first, pair.second);
          }) |
          df::probe(done);
      // [/flow_controlled]
    });
  });
  return outcome.exit_code();
}
