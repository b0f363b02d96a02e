// What      What a worker tells of itself: the events of its logs, and the names of their streams.
// Shape     kEventStream             WorkerEvent         operators, edges, runs, messages, sleep, text
//           progress_stream<T>()     ProgressEvent<T>   batches of progress, sent and received
//           reachability_stream<T>() TrackerEvent<T>    how the counts of a scope's tracker change
//           summary_stream<T>()      SummaryEvent<T>    what operators do to times
// Protocol  Register an action under a stream's name (core/log_registry.hpp) before the dataflow is
//           built: its scopes ask once, when their building begins.
// Invariants
//   (1) An address is the same on all workers, and so are the ids of operators and channels.
//   (2) Child 0 of a scope is its boundary, with inverted ports: its outputs are the scope's inputs.
//   (3) Every start of an operator is followed by its stop, before the next start of the same one.
//   (4) A channel's `ChannelsEvent` comes before its messages. Sequence numbers count the messages of
//       a channel from one worker to another from 0, alike on both sides.
//   (5) The changes of all tracker events of a scope sum to its tracker's counts, and to zero once
//       the scope has ended, be it that what was left is taken back.
// Source    Timely Dataflow's `logging` (TimelyEvent, TimelyProgressEvent, TrackerEvent,
//           OperatesSummaryEvent); places in the source, pacts and whole edges are ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/base/type_name.hpp>
#include <leat/progress/location.hpp>
#include <leat/progress/sketch.hpp>
#include <leat/progress/timestamp.hpp>

namespace leat::progress {

/// An operator or a scope was built; a dataflow as well, whose address has one element.
struct OperatesEvent {
  std::uint64_t id = 0;
  Sketch::Address address;
  std::string name;
  std::string place;  // where in the source: `flow.cpp:12`
  bool is_scope = false;
};

/// An edge was built: from an output of one child of a scope to an input of another.
struct ChannelsEvent {
  std::uint64_t id = 0;
  Sketch::Edge edge;  // with the pact's name
  std::string type;   // of its batches
};

/// Messages of a channel reach other workers too, or a scope's batches of progress do.
struct CommChannelsEvent {
  enum class Kind : std::uint8_t { data, progress };
  std::uint64_t id = 0;  // of a channel; of a scope's operator
  Kind kind = Kind::data;
};

/// The frontier of some input of an operator that is about to run is not what it was last time.
struct PushProgressEvent {
  std::uint64_t id = 0;
};

/// A batch of records was sent on a channel, or received.
struct MessagesEvent {
  bool is_send = false;
  std::uint64_t channel = 0;
  std::uint32_t from = 0;  // worker
  std::uint32_t to = 0;    // worker
  std::uint64_t sequence = 0;
  std::uint64_t records = 0;
};

/// An operator, or a scope with all in it, begins to run or has run.
struct ScheduleEvent {
  enum class Kind : std::uint8_t { start, stop };
  std::uint64_t id = 0;
  Kind kind = Kind::start;
};

/// An operator ended and its state is gone.
struct ShutdownEvent {
  std::uint64_t id = 0;
};

/// The worker is about to sleep, for at most `timeout` if there is one; or it woke.
struct ParkEvent {
  enum class Kind : std::uint8_t { park, unpark };
  Kind kind = Kind::park;
  std::optional<Nanos> timeout;
};

/// What a program has to say between the events around it.
struct TextEvent {
  std::string text;
};

using WorkerEvent = std::variant<OperatesEvent, ChannelsEvent, CommChannelsEvent, PushProgressEvent,
                                 MessagesEvent, ScheduleEvent, ShutdownEvent, ParkEvent, TextEvent>;

/// By how much a count changed: of records at an input, of capabilities at an output.
template <class T>
struct CountChange {
  NodeIndex node = 0;  // of the scope
  PortKind kind = PortKind::target;
  std::uint32_t port = 0;  // of the node: its input or output number
  T time{};
  std::int64_t delta = 0;
};

/// A batch of progress left this worker for its peers, or came from one of them.
///
/// A batch that left took effect here at the same moment: no received event follows for it. With one
/// worker every batch counts as sent.
template <class T>
struct ProgressEvent {
  bool is_send = false;
  std::uint32_t from = 0;                // worker
  std::uint64_t sequence = 0;            // of this scope's batches from that worker, from 0
  std::uint64_t scope = 0;               // the scope's id as an operator
  std::vector<CountChange<T>> messages;  // records produced and consumed
  std::vector<CountChange<T>> internal;  // capabilities made and dropped
};

/// Counts of a scope's tracker changed, at once.
template <class T>
struct TrackerEvent {
  std::uint64_t scope = 0;  // the scope's id as an operator
  std::vector<CountChange<T>> changes;
};

/// How the times of an operator's inputs lead to its outputs, one link for each pair of ports that
/// are connected.
template <class T>
struct SummaryEvent {
  struct Link {
    std::uint32_t input = 0;
    std::uint32_t output = 0;
    SummaryOf<T> summary{};
  };
  std::uint64_t id = 0;
  std::vector<Link> links;
};

inline constexpr std::string_view kEventStream = "leat";

template <Timestamp T>
[[nodiscard]] std::string progress_stream() {
  return "leat/progress/" + std::string(type_name<T>());
}
template <Timestamp T>
[[nodiscard]] std::string reachability_stream() {
  return "leat/reachability/" + std::string(type_name<T>());
}
template <Timestamp T>
[[nodiscard]] std::string summary_stream() {
  return "leat/summary/" + std::string(type_name<T>());
}

}  // namespace leat::progress
