// What      Carries the events of several writers on any threads to one reader: as many streams of
//           events as there are writers, mixed in one queue.
// Protocol  `auto [writers, reader] = event_channel<T, C>(k);` makes k writers, each for one stream
//           of events. The channel is over when all k have ended theirs, and broken when one of
//           them went away without.
// Invariants  (1) The events of one writer come in its order; of several in some order. The times
//             that are open to the reader are those of all streams together: k at the beginning.
// Ordering  queue/mpsc.hpp (link, handoff) and nudge.hpp (news, asleep).
// Limits    Unbounded. A writer that is preempted in the middle of `push` hides what others pushed
//           behind it until it goes on; it tells the reader afterwards.
// Cost      push: an allocation and two exchanges. next: a load and a free.
// Source    Timely Dataflow captures into the senders of Rust's mpsc channels.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/function.hpp>
#include <leat/base/plain.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/capture/nudge.hpp>
#include <leat/dataflow/sendable.hpp>
#include <leat/queue/mpsc.hpp>

namespace leat::dataflow {

namespace internal {

template <class T, Container C>
struct ChannelNode : queue::MpscNode {
  ChannelNode(Carried kind_in, Event<T, C> event_in) : kind(kind_in), event(std::move(event_in)) {}
  Carried kind;
  Event<T, C> event;
};

/// What all ends of a channel share; the last of them frees it.
template <class T, Container C>
struct ChannelState {
  ChannelState() = default;
  ChannelState(const ChannelState&) = delete;
  ChannelState& operator=(const ChannelState&) = delete;
  ~ChannelState() {
    while (auto* node = queue.pop()) delete node;
  }

  void append(Carried kind, Event<T, C> event) {
    if (reader_left.load_relaxed()) return;  // a hint; what is appended meanwhile does no harm
    queue.push(std::make_unique<ChannelNode<T, C>>(kind, std::move(event)).release());
    nudge.tell();
  }

  queue::Mpsc<ChannelNode<T, C>> queue;
  Nudge nudge;
  Atomic<bool> reader_left{false};
};

}  // namespace internal

/// The writing end of one stream of a channel. Threads: one at a time.
template <class T, Container C>
class EventChannelWriter : public internal::Carries<T, C> {
 public:
  explicit EventChannelWriter(std::shared_ptr<internal::ChannelState<T, C>> state)
      : state_(std::move(state)) {}
  EventChannelWriter(EventChannelWriter&&) = default;
  EventChannelWriter& operator=(EventChannelWriter&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~EventChannelWriter() {
    if (state_) state_->append(internal::Carried::cut, {});
  }

  /// Requires: the stream was not ended; so for `end`.
  /// Threads:  the writer. Never waits.
  void push(Event<T, C> event) {
    LEAT_CHECK(state_ != nullptr, "a stream of events goes on after its end");
    state_->append(internal::Carried::event, std::move(event));
  }
  void end() {
    LEAT_CHECK(state_ != nullptr, "a stream of events ends twice");
    std::exchange(state_, nullptr)->append(internal::Carried::end, {});
  }

 private:
  std::shared_ptr<internal::ChannelState<T, C>> state_;
};

/// The reading end of a channel. Threads: one at a time.
template <class T, Container C>
class EventChannelReader : public internal::Carries<T, C> {
 public:
  EventChannelReader(std::shared_ptr<internal::ChannelState<T, C>> state, std::size_t streams)
      : state_(std::move(state)), streams_(streams), open_(streams) {}
  EventChannelReader(EventChannelReader&&) = default;
  EventChannelReader& operator=(EventChannelReader&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(streams_, other.streams_);
    std::swap(open_, other.open_);
    std::swap(is_broken_, other.is_broken_);
    return *this;
  }
  ~EventChannelReader() {
    if (state_) state_->reader_left.store_relaxed(true);  // a hint
  }

  /// Takes the next event. Never waits.
  [[nodiscard]] Next next(Event<T, C>& into) {
    while (!is_broken_ && open_ > 0) {
      const std::unique_ptr<internal::ChannelNode<T, C>> node(state_->queue.pop());
      if (!node) {
        if (state_->nudge.arm()) return Next::none;
        continue;
      }
      if (node->kind == internal::Carried::event) {
        into = std::move(node->event);
        return Next::event;
      }
      is_broken_ = node->kind == internal::Carried::cut;
      --open_;
    }
    return is_broken_ ? Next::broken : Next::over;
  }
  [[nodiscard]] const Error& error() const {
    static const Error cut = internal::left_early("event channel");
    return cut;
  }
  [[nodiscard]] std::size_t streams() const noexcept { return streams_; }

  /// Has `wake` called, by writers' threads, when there is something after `next` found none. Once.
  void wake_by(Function<void()> wake) { state_->nudge.wake_by(std::move(wake)); }

 private:
  std::shared_ptr<internal::ChannelState<T, C>> state_;
  std::size_t streams_;
  std::size_t open_;  // streams that have not ended
  bool is_broken_ = false;
};

template <class T, Container C>
struct EventChannel {
  std::vector<EventChannelWriter<T, C>> writers;
  EventChannelReader<T, C> reader;
};

/// A channel for `streams` streams of events from any threads to one.
template <class T, Container C>
[[nodiscard]] EventChannel<T, C> event_channel(std::size_t streams) {
  static_assert(Sendable<T> && Sendable<C> && Sendable<RecordOf<C>>,
                "event_channel: these records must stay on their worker (IsSendable<Record> is "
                "false); carry them in an event_list");
  auto state = std::make_shared<internal::ChannelState<T, C>>();
  std::vector<EventChannelWriter<T, C>> writers;
  for (std::size_t i = 0; i < streams; ++i) writers.emplace_back(state);
  return {std::move(writers), EventChannelReader<T, C>(std::move(state), streams)};
}

}  // namespace leat::dataflow
