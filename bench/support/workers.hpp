// What      Runs a function on dataflow workers that are pinned to cores, and takes together what
//           they return.
#pragma once

#include "pin.hpp"
#include "sample.hpp"

#include <leat/core/config.hpp>
#include <leat/dataflow/execute.hpp>
#include <leat/dataflow/worker.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::bench {

/// What one worker did: its lap, how much (for the check), and what its coordination cost.
struct Shift {
  Lap lap;
  std::uint64_t count = 0;
  dataflow::WorkerCounters counters;
};

/// Runs `work(worker)`, which returns a Shift, on each of `config.workers` workers.
///
/// Returns: one Shift per worker. Errors: what `work` or an operator throws.
template <class Work>
[[nodiscard]] std::vector<Shift> on_workers(const core::Config& config, const Work& work) {
  auto outcome = dataflow::execute(config, [&work](dataflow::Worker& worker) {
    pin_by_index(worker.index());
    Shift shift = work(worker);
    shift.counters = worker.counters();
    return shift;
  });
  outcome.rethrow();
  std::vector<Shift> shifts;
  for (std::size_t i = 0; i < config.workers; ++i) shifts.push_back(std::move(outcome.value(i)));
  return shifts;
}

/// The same, with everything but the number of workers as usual.
template <class Work>
[[nodiscard]] std::vector<Shift> on_workers(std::size_t workers, const Work& work) {
  core::Config config;
  config.workers = workers;
  return on_workers(config, work);
}

/// All workers' laps as one.
[[nodiscard]] inline Lap joined_lap(const std::vector<Shift>& shifts) {
  std::vector<Lap> laps;
  for (const Shift& shift : shifts) laps.push_back(shift.lap);
  return joined(laps);
}

/// Adds how often workers slept and woke each other.
inline void add_coordination(Sample& sample, const std::vector<Shift>& shifts,
                             std::uint64_t iterations) {
  std::uint64_t parks = 0;
  std::uint64_t wakes = 0;
  for (const Shift& shift : shifts) {
    parks += shift.counters.parks;
    wakes += shift.counters.wakes_sent;
  }
  sample.add("parks_per_iteration", "1",
             static_cast<double>(parks) / static_cast<double>(iterations));
  sample.add("wakes_per_iteration", "1",
             static_cast<double>(wakes) / static_cast<double>(iterations));
}

}  // namespace leat::bench
