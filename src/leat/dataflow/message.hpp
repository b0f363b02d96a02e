// What      What travels on an edge of a dataflow: a batch of records and when it is; and the
//           virtual ends that carry it. The batch is where the cost of indirection is paid, never
//           the record.
#pragma once

#include <memory>
#include <utility>

#include <leat/dataflow/container.hpp>
#include <leat/dataflow/stamp.hpp>

namespace leat::dataflow {

template <class T, Container C>
struct Message {
  Stamp<T> stamp;
  C batch;
};

template <class T, Container C>
class MessageRing;

/// Where batches go in.
template <class T, Container C>
class Push {
 public:
  Push() = default;
  Push(const Push&) = delete;
  Push& operator=(const Push&) = delete;
  virtual ~Push() = default;

  /// Takes the batch out of `message`. Leaves an empty one there, which may own memory to fill
  /// again.
  ///
  /// What `push` took may wait inside until `flush` (records on their way to other workers do).
  virtual void push(Message<T, C>& message) = 0;

  /// Sends on all that waits inside; nothing if nothing does.
  virtual void flush() = 0;

  /// Whether something may ever wait inside. If not, nobody needs to call `flush`.
  [[nodiscard]] virtual bool may_hold() const { return true; }

  /// Gives back memory that is kept for records to come.
  virtual void release_spares() {}

  /// Ends it, unless the other end of its edge is in the same object and is still needed.
  virtual void let_go() noexcept { delete this; }
};

/// Where batches come out.
template <class T, Container C>
class Pull {
 public:
  Pull() = default;
  Pull(const Pull&) = delete;
  Pull& operator=(const Pull&) = delete;
  virtual ~Pull() = default;

  /// Exchanges the next message into `message`, whose old batch (empty) goes back to the sender's
  /// side.
  ///
  /// Returns: false if there is none now.
  virtual bool pull(Message<T, C>& message) = 0;

  /// Whether there may be something to pull.
  [[nodiscard]] virtual bool was_pending() const = 0;

  /// Where all that may be pulled waits, if it does so within the worker and nobody wants to know;
  /// null if not.
  [[nodiscard]] virtual MessageRing<T, C>* ring() noexcept { return nullptr; }

  /// Gives back memory that is kept for records to come.
  virtual void release_spares() {}

  /// Ends it, unless the other end of its edge is in the same object and is still needed.
  virtual void let_go() noexcept { delete this; }
};

/// How whoever owns an end of an edge is rid of it.
struct LetGo {
  LetGo() = default;
  template <class End>
  LetGo(std::default_delete<End>) noexcept {}  // for an end made by make_unique
  template <class End>
  void operator()(End* end) const noexcept {
    end->let_go();
  }
};
template <class T, Container C>
using PushPtr = std::unique_ptr<Push<T, C>, LetGo>;
template <class T, Container C>
using PullPtr = std::unique_ptr<Pull<T, C>, LetGo>;

}  // namespace leat::dataflow
