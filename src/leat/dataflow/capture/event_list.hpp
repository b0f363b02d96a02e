// What      Carries events within a thread: a list that its writer appends to and that any number
//           of readers go along, each at its own pace.
// Shape
//             reader --> [read] --> [event] --> [event] <-- writer
//                                      ^
//             another reader ----------'
// Protocol  `auto [writer, reader] = event_list<T, C>();`. Copies of a reader go on from where it
//           stands. A reader that sleeps is activated by the next event.
// Invariants  (1) What no reader can reach is freed.
//             (2) Who reads an event that no other reader is at or before gets the original, others
//             a copy.
// Threads   One.
// Limits    Unbounded. A list is freed link by link, not by recursion: ten million events end as
//           calmly as ten.
// Source    Timely Dataflow's `EventLink`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/local_ptr.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/stream.hpp>

namespace leat::dataflow {

namespace internal {

template <class T, Container C>
struct ListNode final : LocalCounted<ListNode<T, C>> {
  ListNode() = default;
  ListNode(Carried kind_in, Event<T, C> event_in) : kind(kind_in), event(std::move(event_in)) {}
  ~ListNode() {
    // Nodes that nobody else holds go one after the other, each without its rest.
    auto rest = std::move(next);
    while (rest && rest->local_owners() == 1) {
      auto after = std::move(rest->next);
      rest = std::move(after);
    }
  }

  Carried kind = Carried::event;
  Event<T, C> event;
  LocalPtr<ListNode> next;
};

/// What both ends of a list share.
template <class T, Container C>
struct ListState final : LocalCounted<ListState<T, C>> {
  LocalPtr<ListNode<T, C>> last = make_local<ListNode<T, C>>();
  std::vector<Activator> readers;  // to be told of the next event
  std::uint64_t appended = 0;      // how many nodes
};

}  // namespace internal

/// The writing end of a list.
template <class T, Container C>
class EventListWriter : public internal::Carries<T, C> {
 public:
  using leat_stays_on_its_worker = void;

  explicit EventListWriter(LocalPtr<internal::ListState<T, C>> state) : state_(std::move(state)) {}
  EventListWriter(EventListWriter&&) = default;
  EventListWriter& operator=(EventListWriter&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~EventListWriter() {
    if (state_) append(internal::Carried::cut, {});
  }

  /// Requires: the stream was not ended; so for `end`.
  void push(Event<T, C> event) { append(internal::Carried::event, std::move(event)); }
  void end() {
    append(internal::Carried::end, {});
    state_.reset();
  }

 private:
  void append(internal::Carried kind, Event<T, C> event) {
    LEAT_CHECK(state_ != nullptr, "a stream of events goes on after its end");
    auto node = make_local<internal::ListNode<T, C>>(kind, std::move(event));
    state_->last->next = node;
    state_->last = std::move(node);
    ++state_->appended;
    for (const auto& reader : state_->readers) reader.activate();
    state_->readers.clear();
  }

  LocalPtr<internal::ListState<T, C>> state_;
};

/// A reading end of a list. It can be copied if its batches can.
template <class T, Container C>
class EventListReader
    : public internal::Carries<T, C>,
      private std::conditional_t<CopyableContainer<C>, internal::MayCopy, internal::MoveOnly> {
 public:
  using leat_stays_on_its_worker = void;

  explicit EventListReader(LocalPtr<internal::ListState<T, C>> state)
      : state_(std::move(state)), at_(state_->last) {}

  [[nodiscard]] Next next(Event<T, C>& into) {
    if (!at_->next) {
      if (at_->kind != internal::Carried::event) return how_it_ended();
      sleep();
      return Next::none;
    }
    at_ = LocalPtr<internal::ListNode<T, C>>(at_->next);
    if (at_->kind != internal::Carried::event) return how_it_ended();
    if constexpr (CopyableContainer<C>) {
      const std::uint32_t others = state_->last == at_ ? 1 : 0;
      if (at_->local_owners() > 1 + others) {
        into = at_->event;
        return Next::event;
      }
    }
    into = std::move(at_->event);
    return Next::event;
  }
  [[nodiscard]] const Error& error() const {
    static const Error cut = internal::left_early("event list");
    return cut;
  }
  [[nodiscard]] std::size_t streams() const noexcept { return 1; }

  /// Has `reader` run when there is something after `next` found none.
  void wake_by(Activator reader) {
    wake_ = std::move(reader);
    asleep_since_.reset();
  }

 private:
  void sleep() {
    if (!wake_ || asleep_since_ == state_->appended) return;
    state_->readers.push_back(*wake_);
    asleep_since_ = state_->appended;
  }
  [[nodiscard]] Next how_it_ended() const {
    return at_->kind == internal::Carried::end ? Next::over : Next::broken;
  }

  LocalPtr<internal::ListState<T, C>> state_;
  LocalPtr<internal::ListNode<T, C>> at_;  // what was read last
  std::optional<Activator> wake_;
  std::optional<std::uint64_t> asleep_since_;  // already listed among those to be told
};

template <class T, Container C>
struct EventList {
  EventListWriter<T, C> writer;
  EventListReader<T, C> reader;
};

/// A list for events of one thread.
template <class T, Container C>
[[nodiscard]] EventList<T, C> event_list() {
  auto state = make_local<internal::ListState<T, C>>();
  EventListReader<T, C> reader(state);
  return {EventListWriter<T, C>(std::move(state)), std::move(reader)};
}

}  // namespace leat::dataflow
