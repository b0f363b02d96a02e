// What      What travels on an edge of a dataflow: a batch of records and when it is; and the
//           virtual ends that carry it. The batch is where the cost of indirection is paid, never
//           the record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <leat/base/codec.hpp>
#include <leat/base/small_vector.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/wire/wire.hpp>
#include <leat/dataflow/container.hpp>
#include <leat/dataflow/stamp.hpp>
#include <leat/progress/order.hpp>

namespace leat::dataflow {

/// At how many times one message may be on its way as bytes. One unless a capability set sent it.
inline constexpr std::size_t kWireTimesMax = 1024;

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

/// The number of times, the times, then the batch.
template <class T, class C>
struct leat::comm::Wire<leat::dataflow::Message<T, C>> {
  using Message = dataflow::Message<T, C>;

  static constexpr bool kCan = Encodable<T> && Encodable<C>;
  using Types = RecordTypes<T, C>;

  static void encode(ByteSink& sink, const Message& message) {
    const auto times = message.stamp.times();
    if (times.size() > dataflow::kWireTimesMax) {
      throw UsageError("a message to another worker",
                       "at most " + std::to_string(dataflow::kWireTimesMax) + " times",
                       std::to_string(times.size()), "send with fewer capabilities at once");
    }
    sink.write_plain(std::uint64_t{times.size()});
    for (const T& time : times) Codec<T>::encode(sink, time);
    Codec<C>::encode(sink, message.batch);
  }
  [[nodiscard]] static bool decode(ByteSource& from, Message& into) {
    std::size_t many = 0;
    if (!from.read_count(many, Codec<T>::kBytesMin)) return false;
    if (many == 1) [[likely]] {
      T time{};
      if (!Codec<T>::decode(from, time)) return false;
      into.stamp = dataflow::Stamp<T>(std::move(time));
      return Codec<C>::decode(from, into.batch);
    }
    if (many == 0) return from.fail("records without a time");
    if (many > dataflow::kWireTimesMax) {
      return from.fail("records at too many times", many, dataflow::kWireTimesMax);
    }
    SmallVector<T, 1> times;
    for (; many > 0; --many) {
      T time{};
      if (!Codec<T>::decode(from, time)) return false;
      for (const T& other : times) {
        if (progress::less_equal(other, time) || progress::less_equal(time, other))
          return from.fail("records at times of which one is before another");
      }
      times.push_back(std::move(time));
    }
    into.stamp = dataflow::Stamp<T>(std::span<const T>(times.data(), times.size()));
    return Codec<C>::decode(from, into.batch);
  }
  static void empty(Message& message) { message.batch.clear(); }
};
