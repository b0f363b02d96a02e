// What      A channel: messages from any number of senders to one receiver, in order, without bound
//           or with one.
// Protocol  auto [sender, receiver] = channel<int>();           // or channel<int>(bound)
//           sender.send(1);   while (std::optional<int> m = receiver.receive()) ...
//           Senders are copied and dropped at will. When the last is gone and all is received,
//           `receive` says nullopt; when the receiver is gone, `send` says closed.
// Invariants
//   (1) Messages of one sender arrive in the order they were sent, each once.
//   (2) A receiver that waits is woken by the first message, and by the last sender's end.
//   (3) A message that is not accepted stays with its sender.
// Limits    A message must be movable without throwing. With OnFull::drop_old the oldest message is
//           lost, and counted.
// Cost      Between actors of a solo runtime: no swap, no allocation but for growth. Elsewhere one
//           swap for each call.
#pragma once

#include <leat/actor/wait/wait.hpp>
#include <leat/base/growing_ring.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace leat::actor {

/// What a sender does when there is no room.
enum class OnFull : unsigned char {
  wait,      ///< waits for room
  fail,      ///< says full, and keeps the message
  drop_new,  ///< drops the message, and says so
  drop_old,  ///< drops the oldest message in the channel
};

struct Bound {
  std::size_t messages = 1;  ///< that may wait; at least 1
  OnFull on_full = OnFull::wait;
};

/// What became of a message.
enum class [[nodiscard]] Sent : unsigned char {
  ok,
  full,     ///< there was no room (in time); it stayed with the sender
  dropped,  ///< there was no room; it is gone
  closed,   ///< there is no receiver; it stayed with the sender
};

namespace internal {

[[noreturn]] void empty_bound();

template <class T>
class ChannelCore {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a message must be movable without throwing");

 public:
  explicit ChannelCore(const Bound& bound) : bound_(bound) {
    if (bound.messages == 0) empty_bound();
  }

  Sent send(T& message, Nanos deadline, bool may_wait) {
    std::optional<T> victim;  // dropped when the lock is free again
    ObjectLock::Guard guard(lock_);
    if (!receiver_) return Sent::closed;
    while (queue_.size() >= bound_.messages) [[unlikely]] {
      if (bound_.on_full == OnFull::drop_old) {
        victim.emplace(queue_.pop_front());
        ++dropped_;
      } else if (bound_.on_full == OnFull::drop_new) {
        ++dropped_;
        victim.emplace(std::move(message));
        return Sent::dropped;
      } else if (bound_.on_full == OnFull::fail || !may_wait ||
                 (wait(guard, waiting_senders_, deadline, {WaitKind::room}) == Waited::timed_out &&
                  queue_.size() >= bound_.messages && receiver_)) {
        return Sent::full;
      }
      if (!receiver_) return Sent::closed;
    }
    queue_.push_back(std::move(message));
    fire_one(guard, waiting_receiver_);
    return Sent::ok;
  }

  std::optional<T> receive(Nanos deadline) {
    ObjectLock::Guard guard(lock_);
    while (queue_.empty()) {
      if (senders_ == 0) return std::nullopt;
      if (wait(guard, waiting_receiver_, deadline, {WaitKind::message}) == Waited::timed_out) break;
    }
    return take();
  }
  std::optional<T> try_receive() {
    const ObjectLock::Guard guard(lock_);
    return take();
  }

  void add_sender() noexcept {
    const ObjectLock::Guard guard(lock_);
    ++senders_;
  }
  /// Returns: whether the caller is to delete the core.
  [[nodiscard]] bool drop_sender() noexcept {
    const ObjectLock::Guard guard(lock_);
    if (--senders_ > 0) return false;
    waiting_receiver_.fire_all();
    return !receiver_held_;
  }
  [[nodiscard]] bool drop_receiver() noexcept {
    {
      const ObjectLock::Guard guard(lock_);
      receiver_ = false;
      waiting_senders_.fire_all();
    }
    drop_messages();
    const ObjectLock::Guard guard(lock_);
    receiver_held_ = false;
    return senders_ == 0;
  }

  [[nodiscard]] std::size_t size() noexcept {
    const ObjectLock::Guard guard(lock_);
    return queue_.size();
  }
  [[nodiscard]] std::uint64_t dropped() noexcept {
    const ObjectLock::Guard guard(lock_);
    return dropped_;
  }
  [[nodiscard]] bool is_closed() noexcept {
    const ObjectLock::Guard guard(lock_);
    return !receiver_;
  }
  [[nodiscard]] bool is_at_end() noexcept {
    const ObjectLock::Guard guard(lock_);
    return queue_.empty() && senders_ == 0;
  }

  // -- for select -----------------------------------------------------------------------------------

  [[nodiscard]] bool enlist(Waiter& waiter) noexcept {
    const ObjectLock::Guard guard(lock_);
    if (!queue_.empty() || senders_ == 0) return false;
    waiting_receiver_.push_back(waiter);
    return true;
  }
  void withdraw(Waiter& waiter) noexcept {
    const ObjectLock::Guard guard(lock_);
    if (waiter.listed) waiting_receiver_.remove(waiter);
  }

 private:
  std::optional<T> take() {  // with the lock held
    if (queue_.empty()) return std::nullopt;
    std::optional<T> message(queue_.pop_front());
    if (!waiting_senders_.empty()) [[unlikely]]
      waiting_senders_.fire_one();
    return message;
  }

  void drop_messages() {
    for (;;) {  // one by one, without the lock: a destructor may do anything
      std::optional<T> message;
      {
        const ObjectLock::Guard guard(lock_);
        if (queue_.empty()) return;
        message.emplace(queue_.pop_front());
      }
    }
  }

  ObjectLock lock_;
  // Guarded by lock_.
  const Bound bound_;
  GrowingRing<T> queue_;
  std::size_t senders_ = 1;
  bool receiver_ = true;       // messages are accepted
  bool receiver_held_ = true;  // the core is still used from that side
  std::uint64_t dropped_ = 0;
  WaitList waiting_receiver_;
  WaitList waiting_senders_;
};

}  // namespace internal

/// One of the ends that messages go into. Threads: one at a time; copies are independent.
template <class T>
class Sender {
 public:
  explicit Sender(internal::ChannelCore<T>* core) noexcept : core_(core) {}
  Sender(const Sender& other) noexcept : core_(other.core_) {
    if (core_ != nullptr) core_->add_sender();
  }
  Sender(Sender&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  Sender& operator=(Sender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Sender() { close(); }

  /// Sends a message; waits for room if the channel has a bound and OnFull::wait.
  ///
  /// Returns:  what became of it. Throws: Cancelled, if it had to wait.
  /// Threads:  actors and plain threads.
  /// Ordering: what the caller did before is visible to who receives it.
  /// Requires: not closed or moved from.
  Sent send(T message) { return core_->send(message, kNever, true); }
  /// The same, but leaves a message that is not accepted in `message`, and waits until `deadline`.
  Sent send_until(T& message, Nanos deadline) { return core_->send(message, deadline, true); }
  /// The same, without waiting.
  Sent try_send(T& message) { return core_->send(message, kNever, false); }
  Sent try_send(T&& message) { return core_->send(message, kNever, false); }

  /// Whether the receiver has gone.
  [[nodiscard]] bool is_closed() const noexcept { return core_->is_closed(); }
  /// Messages that were dropped since there was no room.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return core_->dropped(); }

  /// This end is no more. Further calls but this are wrong.
  void close() noexcept {
    if (core_ != nullptr && core_->drop_sender()) delete core_;
    core_ = nullptr;
  }

 private:
  internal::ChannelCore<T>* core_;
};

/// The end that messages come out of. Threads: one at a time.
template <class T>
class Receiver {
 public:
  using Message = T;

  explicit Receiver(internal::ChannelCore<T>* core) noexcept : core_(core) {}
  Receiver(Receiver&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  Receiver& operator=(Receiver&& other) noexcept {
    if (this != &other) {
      close();
      core_ = std::exchange(other.core_, nullptr);
    }
    return *this;
  }
  ~Receiver() { close(); }

  /// Takes the oldest message; waits for one.
  ///
  /// Returns:  nullopt if none can come any more. Throws: Cancelled, if it had to wait.
  /// Threads:  an actor or a plain thread.
  std::optional<T> receive() { return core_->receive(kNever); }
  /// The same, but waits until `deadline` (of `now_here()`) only: nullopt then, too; see `is_at_end`.
  std::optional<T> receive_until(Nanos deadline) { return core_->receive(deadline); }
  std::optional<T> receive_for(Nanos time) { return core_->receive(deadline_after(time)); }
  /// The same, without waiting.
  std::optional<T> try_receive() { return core_->try_receive(); }

  /// Whether none can come any more.
  [[nodiscard]] bool is_at_end() const noexcept { return core_->is_at_end(); }
  /// How many wait, a moment ago.
  [[nodiscard]] std::size_t size_approx() const noexcept { return core_->size(); }

  /// This end is no more; what waits is dropped. Further calls but this are wrong.
  void close() noexcept {
    if (core_ != nullptr && core_->drop_receiver()) delete core_;
    core_ = nullptr;
  }

  // For select.
  [[nodiscard]] bool enlist(Waiter& waiter) noexcept { return core_->enlist(waiter); }
  void withdraw(Waiter& waiter) noexcept { core_->withdraw(waiter); }

 private:
  internal::ChannelCore<T>* core_;
};

template <class T>
struct Channel {
  Sender<T> sender;
  Receiver<T> receiver;
};

/// A channel without bound.
template <class T>
[[nodiscard]] Channel<T> channel() {
  auto* core =
      new internal::ChannelCore<T>({std::numeric_limits<std::size_t>::max(), OnFull::fail});
  return {Sender<T>(core), Receiver<T>(core)};
}

/// A channel in which at most `bound.messages` wait. Throws: UsageError if that is 0.
template <class T>
[[nodiscard]] Channel<T> channel(const Bound& bound) {
  auto* core = new internal::ChannelCore<T>(bound);
  return {Sender<T>(core), Receiver<T>(core)};
}

}  // namespace leat::actor
