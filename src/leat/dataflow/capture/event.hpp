// What      A stream written down as events: what `capture_into` writes and `replay_into` reads.
//           Events know nothing of the dataflow they come from: they may be kept, carried to
//           another thread, process or machine, and replayed by any number of workers.
// Protocol  A stream of events begins with one open time, the least. `Progress` changes how often
//           times are open; `Messages` are records at a time. The writer ends the stream when no
//           time is open any more.
// Invariants
//   (1) The changes of one `Progress` take effect together. No time is ever open less than zero
//       times, and a time becomes open only while one at or before it is.
//   (2) `Messages` come only at times at or after one that is open.
//   (3) From one event to the next the open times are those at which records may still come.
//   (4) A stream that stops in any other way than by its writer's `end` is broken, never over.
// Limits    Order matters within a stream, never between streams: the streams that k workers
//           captured together may be replayed in any interleaving.
// Source    Timely Dataflow's `Event`; ends, and breaks that show, are ours.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <leat/base/result.hpp>
#include <leat/dataflow/container.hpp>
#include <leat/dataflow/stamp.hpp>

namespace leat::dataflow {

/// How often times are open: by how much more or less than before.
template <class T>
struct Progress {
  std::vector<std::pair<T, std::int64_t>> changes;

  friend bool operator==(const Progress&, const Progress&) = default;
};

/// Records, and when they are.
template <class T, Container C>
struct Messages {
  Stamp<T> stamp;
  C batch;

  friend bool operator==(const Messages&, const Messages&) = default;
};

template <class T, Container C>
using Event = std::variant<Progress<T>, Messages<T, C>>;

/// What a look at a stream of events found.
enum class Next : std::uint8_t {
  event,   // one
  none,    // none now; more may come
  over,    // the stream was ended by its writer
  broken,  // it cannot go on: `error()` says why
};

/// How much of what was pushed has left.
enum class Flush : std::uint8_t {
  all,
  some,    // the rest waits until there is room: flush again later
  broken,  // it cannot go on: `error()` says why
};

/// Where events go. `push` and `end` neither wait nor fail: what goes wrong shows at `flush`, which
/// carriers within memory do not need.
///
/// A sink that is destroyed without `end` leaves a broken stream behind.
template <class S>
concept EventSink = std::movable<S> && requires(S sink, typename S::Event event) {
  typename S::Time;
  typename S::Batch;
  sink.push(std::move(event));
  sink.end();
};

template <class S>
concept FlushedSink = EventSink<S> && requires(S sink) {
  { sink.flush() } -> std::same_as<Flush>;
  { sink.error() } -> std::convertible_to<const Error&>;
};

/// Where events come from. `next` never waits. `streams` says how many streams of events come
/// through it, each with its own open time at the beginning.
template <class S>
concept EventSource = std::movable<S> && requires(S source, typename S::Event& event) {
  typename S::Time;
  typename S::Batch;
  { source.next(event) } -> std::same_as<Next>;
  { source.error() } -> std::convertible_to<const Error&>;
  { source.streams() } -> std::convertible_to<std::size_t>;
};

/// Thrown out of an operator whose stream of events broke off, or was none: the world's failure,
/// which reaches the worker's result as the failure of that dataflow.
class StreamBroken : public std::runtime_error {
 public:
  explicit StreamBroken(const std::string& what) : std::runtime_error(what) {}
};

namespace internal {

/// What sinks and sources of events say of themselves.
template <class T, Container C>
struct Carries {
  using Time = T;
  using Batch = C;
  using Event = dataflow::Event<T, C>;
};

/// What a node of a carrier within memory is.
enum class Carried : std::uint8_t {
  event,
  end,
  cut,  // the writer went away
};

/// Says that a stream broke because its writer went away.
[[nodiscard]] inline Error left_early(const char* carrier) {
  return {std::string(carrier) +
          ": the stream of events breaks off: its writer went away without ending it"};
}

}  // namespace internal

}  // namespace leat::dataflow
