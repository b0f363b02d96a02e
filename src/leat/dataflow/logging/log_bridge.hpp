// What      A log as a stream of events, so that a dataflow can replay it: of the same worker, of
//           another thread's, later, or elsewhere.
// Protocol  `log_into<WorkerEvent>(worker.logs(), kEventStream, std::move(sink))`, before the
//           dataflow that is to be seen is built; the sink is one of the carriers within memory
//           (capture/event_link.hpp and the like), and its other end goes to `replay_into`. Bytes are
//           one step more: replay, then `capture_into`.
//           Times are those of the log. A batch of the log becomes one message at the bound that
//           the log gave before it: no event in it is earlier. Each record has its own time, too.
//           A heartbeat moves the bound on, so a quiet log does not hold anybody up.
// Invariants
//   (1) The open times of the stream are at every moment exactly one, the log's last bound; none
//       once the log has ended.
//   (2) The stream ends when the log does: when nobody holds it any more. That is when its name is
//       removed or bound anew and what was built with it has ended; at the latest with the worker.
// Limits    A replay of a worker's log on the same worker is heard in that log: it makes events as
//           long as it runs. Build it before the log is bound, so that it is not.
// Source    Timely Dataflow's `BatchLogger`.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <utility>

#include <leat/base/clock.hpp>
#include <leat/core/log_registry.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/stamp.hpp>

namespace leat::dataflow {

/// The action of a log of `E`s that writes them to a sink.
template <class E, EventSink Sink>
class LogBridge {
  static_assert(std::same_as<typename Sink::Time, Nanos> &&
                    std::same_as<typename Sink::Batch, core::LogBatch<E>>,
                "log_into: the sink takes times of Nanos and batches of LogBatch<E>");
  static_assert(
      !FlushedSink<Sink>,
      "log_into: a log cannot wait for room; take a carrier within memory, replay it, and "
      "capture that");

 public:
  explicit LogBridge(Sink sink) : sink_(std::move(sink)) {}
  LogBridge(LogBridge&& other) noexcept(std::is_nothrow_move_constructible_v<Sink>)
      : sink_(std::move(other.sink_)),
        bound_(other.bound_),
        is_open_(std::exchange(other.is_open_, false)) {}
  LogBridge& operator=(LogBridge&&) = delete;
  /// Ends the stream.
  ~LogBridge() {
    if (!is_open_) return;
    sink_.push(Progress<Nanos>{{{bound_, -1}}});
    sink_.end();
  }

  void operator()(Nanos bound, core::LogBatch<E>& batch) {
    if (!batch.empty()) {
      sink_.push(Messages<Nanos, core::LogBatch<E>>{Stamp<Nanos>(bound_), std::move(batch)});
      batch = {};
    }
    if (bound <= bound_) return;
    sink_.push(Progress<Nanos>{{{bound, +1}, {bound_, -1}}});
    bound_ = bound;
  }

 private:
  Sink sink_;
  Nanos bound_{0};  // the least time, at which every stream of events begins
  bool is_open_ = true;
};

/// Binds `name` to a log whose events go to `sink`.
///
/// Returns: what stood there before (see `LogRegistry::insert`).
template <class E, EventSink Sink>
core::LogBinding log_into(core::LogRegistry& logs, std::string_view name, Sink sink) {
  return logs.insert<E>(name, LogBridge<E, Sink>(std::move(sink)));
}

}  // namespace leat::dataflow
