// What      Carries events from one thread to another: one writer, one reader, no lock.
// Shape
//             reader's head --> [read] --next--> [event] --next--> [event] <-- writer's tail
// Protocol  `auto [writer, reader] = event_link<T, C>();`, then one end goes to another thread.
//           push: link a new node behind the last, then tell the reader (nudge.hpp). next: follow
//           the link and free the node before; without one, arm the nudge, and look once more if
//           it has news.
//           A reader that goes away has the writer drop what it pushes.
// Invariants
//   (1) Every node but the last belongs to the reader: the writer touches a node last when it links
//       the next one to it.
//   (2) Events come in the order of `push`; the last node says whether the stream was ended or cut.
// Ordering  link    writer -> reader: the event is whole before its node is followed.
//           The flag that the reader is gone is a hint: what is pushed meanwhile is freed with the
//           link.
// Limits    Unbounded. Nodes are freed one by one, not by recursion.
// Cost      push: an allocation, a store and an exchange. next: a load and a free.
// Source    Timely Dataflow's `link_sync::EventLink`, which locks.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/function.hpp>
#include <leat/base/plain.hpp>
#include <leat/dataflow/capture/event.hpp>
#include <leat/dataflow/capture/nudge.hpp>
#include <leat/dataflow/sendable.hpp>

namespace leat::dataflow {

namespace internal {

template <class T, Container C>
struct LinkNode {
  Atomic<LinkNode*> next{nullptr};
  Plain<Carried> kind{Carried::event};
  Plain<Event<T, C>> event;
};

/// What both ends of a link share; the last of them frees it.
template <class T, Container C>
class LinkState {
  using Node = LinkNode<T, C>;
  struct link : Edge {};  // writer -> reader: the event is whole before its node is followed

 public:
  LinkState() = default;
  LinkState(const LinkState&) = delete;
  LinkState& operator=(const LinkState&) = delete;
  ~LinkState() {
    while (head_ != nullptr) delete std::exchange(head_, head_->next.load_acquire(link{}));
  }

  void append(Carried kind, Event<T, C> event) {
    if (reader_left_.load_relaxed()) return;  // a hint; what is appended meanwhile does no harm
    auto node = std::make_unique<Node>();
    node->kind.set(kind);
    node->event.set(std::move(event));
    Node* const last = std::exchange(tail_, node.get());
    last->next.store_release(node.release(), link{});
    nudge_.tell();
  }

  /// Returns: the next node, which is good until the next call; null if there is none.
  [[nodiscard]] Node* advance() {
    do {
      if (Node* const next = head_->next.load_acquire(link{})) {
        delete std::exchange(head_, next);
        return next;
      }
    } while (!nudge_.arm());
    return nullptr;
  }

  void reader_left() noexcept { reader_left_.store_relaxed(true); }  // a hint
  [[nodiscard]] Nudge& nudge() noexcept { return nudge_; }

 private:
  Nudge nudge_;
  alignas(kSector) Node* head_ = new Node;  // the reader's
  alignas(kSector) Node* tail_ = head_;     // the writer's
  Atomic<bool> reader_left_{false};
};

}  // namespace internal

/// The writing end of a link. Threads: one at a time.
template <class T, Container C>
class EventLinkWriter : public internal::Carries<T, C> {
 public:
  explicit EventLinkWriter(std::shared_ptr<internal::LinkState<T, C>> state)
      : state_(std::move(state)) {}
  EventLinkWriter(EventLinkWriter&&) = default;
  EventLinkWriter& operator=(EventLinkWriter&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~EventLinkWriter() {
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
  std::shared_ptr<internal::LinkState<T, C>> state_;
};

/// The reading end of a link. Threads: one at a time.
template <class T, Container C>
class EventLinkReader : public internal::Carries<T, C> {
 public:
  explicit EventLinkReader(std::shared_ptr<internal::LinkState<T, C>> state)
      : state_(std::move(state)) {}
  EventLinkReader(EventLinkReader&&) = default;
  EventLinkReader& operator=(EventLinkReader&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(last_, other.last_);
    return *this;
  }
  ~EventLinkReader() {
    if (state_) state_->reader_left();
  }

  /// Takes the next event. Never waits.
  [[nodiscard]] Next next(Event<T, C>& into) {
    if (last_ == Next::over || last_ == Next::broken) return last_;
    auto* const node = state_->advance();
    if (node == nullptr) return last_ = Next::none;
    switch (node->kind.read()) {
      case internal::Carried::event:
        into = std::move(node->event.write());
        return last_ = Next::event;
      case internal::Carried::end:
        return last_ = Next::over;
      case internal::Carried::cut:
        break;
    }
    return last_ = Next::broken;
  }
  [[nodiscard]] const Error& error() const {
    static const Error cut = internal::left_early("event link");
    return cut;
  }
  [[nodiscard]] std::size_t streams() const noexcept { return 1; }

  /// Has `wake` called, by the writer's thread, when there is something after `next` found none.
  /// Once.
  void wake_by(Function<void()> wake) { state_->nudge().wake_by(std::move(wake)); }

 private:
  std::shared_ptr<internal::LinkState<T, C>> state_;
  Next last_ = Next::none;  // what was found last
};

template <class T, Container C>
struct EventLink {
  EventLinkWriter<T, C> writer;
  EventLinkReader<T, C> reader;
};

/// A link for events from one thread to another.
template <class T, Container C>
[[nodiscard]] EventLink<T, C> event_link() {
  static_assert(Sendable<T> && Sendable<C> && Sendable<RecordOf<C>>,
                "event_link: these records must stay on their worker (IsSendable<Record> is "
                "false); carry them in an event_list");
  auto state = std::make_shared<internal::LinkState<T, C>>();
  return {EventLinkWriter<T, C>(state), EventLinkReader<T, C>(state)};
}

}  // namespace leat::dataflow
