// What      A batch of progress as it stands in a worker's log: what one scope's operators did on
//           one worker.
#pragma once

#include <cstdint>
#include <span>

#include <leat/progress/location.hpp>
#include <leat/queue/append_log.hpp>

namespace leat::progress {

/// By how much the count at a port and time changed.
template <class T>
struct LoggedChange {
  T time;
  std::int64_t delta;
  PortIndex port;
};

/// The changes of a log entry. Requires: its scope's times are `T`; checked.
template <class T>
[[nodiscard]] std::span<const LoggedChange<T>> batch_of(const queue::EntryHeader& entry) {
  return entry.records<LoggedChange<T>>();
}

}  // namespace leat::progress
