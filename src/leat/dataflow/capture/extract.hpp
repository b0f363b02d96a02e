// What      What a captured stream carried, as plain values: for tests, and for programs that want
//           a result and not a stream.
// Source    Timely Dataflow's `Extract`.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/usage_error.hpp>
#include <leat/dataflow/capture/event.hpp>

namespace leat::dataflow {

/// The records of a stream of events: per time, in ascending order, its records, in ascending
/// order. Times without records are left out; a record at several times is listed at each.
///
/// Requires: the stream has been written to its end.
/// Errors:   `UsageError` if it has not; `StreamBroken` if it is broken.
template <EventSource Source>
[[nodiscard]] auto extract(Source source) {
  using T = typename Source::Time;
  using C = typename Source::Batch;
  std::map<T, std::vector<RecordOf<C>>> per_time;
  Event<T, C> event;
  for (;;) {
    const Next next = source.next(event);
    if (next == Next::over) break;
    if (next == Next::broken) throw StreamBroken("extract: " + source.error().message);
    if (next == Next::none) {
      throw UsageError("extract", "a stream of events that was written to its end",
                       "one that goes on", "step the dataflow that writes it until it has ended");
    }
    auto* const messages = std::get_if<Messages<T, C>>(&event);
    if (messages == nullptr || record_count(messages->batch) == 0) continue;
    const auto times = messages->stamp.times();
    if constexpr (Copyable<RecordOf<C>>) {
      for (const T& time : times.first(times.size() - 1)) {
        auto& records = per_time[time];
        records.insert(records.end(), messages->batch.begin(), messages->batch.end());
      }
    }
    auto& records = per_time[times.back()];
    records.insert(records.end(), std::make_move_iterator(messages->batch.begin()),
                   std::make_move_iterator(messages->batch.end()));
  }
  std::vector<std::pair<T, std::vector<RecordOf<C>>>> result;
  result.reserve(per_time.size());
  for (auto& [time, records] : per_time) {
    std::sort(records.begin(), records.end());
    result.emplace_back(time, std::move(records));
  }
  return result;
}

}  // namespace leat::dataflow
