// What      Events as text, one line each, for people: `schedule 3 start`.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <leat/progress/watch/events.hpp>
#include <leat/progress/watch/time_text.hpp>

namespace leat::progress {

[[nodiscard]] std::string text_of(const WorkerEvent& event);
/// `[0, 2, 1]`.
[[nodiscard]] std::string text_of(const Sketch::Address& address);

namespace internal {
/// ` 3.in0 +2 @ 7` for each change.
template <class T>
void print_changes(std::ostringstream& out, const std::vector<CountChange<T>>& changes) {
  for (const auto& change : changes) {
    out << ' ' << change.node << (change.kind == PortKind::target ? ".in" : ".out") << change.port
        << (change.delta < 0 ? " " : " +") << change.delta << " @ " << time_text(change.time);
  }
}
}  // namespace internal

template <class T>
[[nodiscard]] std::string text_of(const ProgressEvent<T>& event) {
  std::ostringstream out;
  out << (event.is_send ? "progress sent by " : "progress from ") << event.from << " #"
      << event.sequence << " of scope " << event.scope << ": messages";
  internal::print_changes(out, event.messages);
  out << "; internal";
  internal::print_changes(out, event.internal);
  return out.str();
}

template <class T>
[[nodiscard]] std::string text_of(const TrackerEvent<T>& event) {
  std::ostringstream out;
  out << "counts of scope " << event.scope << ":";
  internal::print_changes(out, event.changes);
  return out.str();
}

template <class T>
[[nodiscard]] std::string text_of(const SummaryEvent<T>& event) {
  std::ostringstream out;
  out << "summary " << event.id << ":";
  for (const auto& link : event.links) {
    out << " in" << link.input << "->out" << link.output << " by " << time_text(link.summary);
  }
  return out.str();
}

}  // namespace leat::progress
