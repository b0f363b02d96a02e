// What      Writes a stream down as events, in an order in which it can be replayed.
// Protocol  `stream | capture_into(sink)` for any sink of event.hpp, one per worker; or
//           `auto events = stream | capture()`, which hands the reading end of a link back.
//           Each activation writes first how the frontier of the input changed, then the messages
//           that it took: messages that are taken are at or after the frontier that is shown. When
//           the frontier is empty the stream is ended.
// Invariants  (1) What was taken is pushed before progress hears that it was consumed. So no
//             worker's captured stream passes a time before every worker's messages at it were
//             written down somewhere.
// Limits    A sink that cannot keep up is offered what waits every `retry`; the operator remains
//           until all has left. A sink that breaks ends the dataflow with `StreamBroken`.
// Source    Timely Dataflow's `Capture`.
#pragma once

#include <chrono>
#include <concepts>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/capture/alarm.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/capture/event_link.hpp>
#include <leat/dataflow/pipe.hpp>
#include <leat/progress/antichain.hpp>

namespace leat::dataflow {

namespace internal {

/// The frontier of the captured stream, as the events said it last.
template <progress::Timestamp T>
class WrittenFrontier {
 public:
  /// What must be written for readers to see `frontier`; empty if they do already.
  [[nodiscard]] Progress<T> changes_to(progress::AntichainRef<T> frontier) {
    Progress<T> progress;
    if (frontier == progress::AntichainRef<T>(std::span<const T>(written_))) return progress;
    for (const T& time : frontier) progress.changes.emplace_back(time, +1);
    for (const T& time : written_) progress.changes.emplace_back(time, -1);
    written_.assign(frontier.begin(), frontier.end());
    return progress;
  }

 private:
  std::vector<T> written_{progress::TimestampTraits<T>::minimum()};
};

template <EventSink Sink>
class CaptureOp : public Named<CaptureOp<Sink>> {
 public:
  CaptureOp(Sink sink, Nanos retry, progress::NodeName name)
      : Named<CaptureOp>(std::move(name.name), name.where), sink_(std::move(sink)), retry_(retry) {}

  template <progress::Timestamp T, Container C>
  void apply(Stream<T, C> stream) && {
    static_assert(std::same_as<T, typename Sink::Time> && std::same_as<C, typename Sink::Batch>,
                  "capture_into: the sink takes events of other times or batches than the stream "
                  "has");
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto& timers = stream.scope_state()->context->scheduler.timers();
    builder.build([&](auto) {
      return [input = std::move(input), sink = std::move(sink_), retry = retry_,
              alarm = Alarm(timers, builder.info().activation), who = this->name_.described(),
              written = WrittenFrontier<T>(), is_ended = false]() mutable {
        if (!is_ended) {
          is_ended = input.frontier().empty();
          if (auto progress = written.changes_to(input.frontier()); !progress.changes.empty())
            sink.push(std::move(progress));
          input.for_each([&](auto& message) {
            sink.push(Messages<T, C>{message.stamp(), std::move(message.records())});
          });
          if (is_ended) sink.end();
        }
        const bool left = all_left(sink, who);
        if (!left) alarm.set(retry);
        return !left;
      };
    });
  }

 private:
  static bool all_left(Sink& sink, const std::string& who) {
    if constexpr (FlushedSink<Sink>) {
      const Flush flush = sink.flush();
      if (flush == Flush::broken) throw StreamBroken(who + ": " + sink.error().message);
      return flush == Flush::all;
    } else {
      return true;
    }
  }

  Sink sink_;
  Nanos retry_;
};

class CaptureLinkOp : public Named<CaptureLinkOp> {
 public:
  explicit CaptureLinkOp(std::source_location where) : Named("capture", where) {}

  template <progress::Timestamp T, Container C>
  [[nodiscard]] EventLinkReader<T, C> apply(Stream<T, C> stream) && {
    auto [writer, reader] = event_link<T, C>();
    CaptureOp<EventLinkWriter<T, C>>(std::move(writer), Nanos{0}, std::move(name_))
        .apply(std::move(stream));
    return std::move(reader);
  }
};

}  // namespace internal

/// How long a capture waits before it offers again what its sink had no room for.
inline constexpr Nanos kCaptureRetry = std::chrono::milliseconds(1);

/// `stream | capture_into(sink)`: writes the stream to `sink`, which it owns.
template <EventSink Sink>
[[nodiscard]] internal::CaptureOp<Sink> capture_into(
    Sink sink, Nanos retry = kCaptureRetry,
    std::source_location where = std::source_location::current()) {
  return {std::move(sink), retry, {"capture", where}};
}

/// `auto events = stream | capture()`: writes the stream to a link and returns the end to read it
/// at, on any thread.
[[nodiscard]] inline internal::CaptureLinkOp capture(
    std::source_location where = std::source_location::current()) {
  return internal::CaptureLinkOp(where);
}

}  // namespace leat::dataflow
