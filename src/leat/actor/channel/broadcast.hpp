// What      broadcast: each message to each subscriber. Who falls more than the room behind loses the
//           oldest, and is told how many.
// Protocol  Broadcast<int> all(64);   Subscriber<int> s = all.subscribe();
//           all.send(1);   s.receive().message == 1
// Invariants  (1) A subscriber gets what was sent since it subscribed, in order, but for what it is
//             told it lost.
// Limits    Messages are copied under the lock. Sending never waits.
#pragma once

#include <leat/actor/wait/wait.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace leat::actor {
namespace internal {

[[noreturn]] void empty_broadcast();

template <class T>
struct BroadcastCore {
  explicit BroadcastCore(std::size_t room) : ring(room) {}

  ObjectLock lock;
  // Guarded by lock.
  std::vector<std::optional<T>> ring;
  std::uint64_t sent = 0;
  bool open = true;
  WaitList waiting;
};

}  // namespace internal

/// What a subscriber got: a message; or none, since it lost `lost`; or none, at the end.
template <class T>
struct Heard {
  std::optional<T> message;
  std::uint64_t lost = 0;
};

/// Threads: one at a time; copies are independent.
template <class T>
class Subscriber {
 public:
  explicit Subscriber(std::shared_ptr<internal::BroadcastCore<T>> core, std::uint64_t next) noexcept
      : core_(std::move(core)), next_(next) {}

  /// The next message. Waits for it, until `deadline`. Throws: Cancelled, if it had to wait.
  Heard<T> receive(Nanos deadline = kNever) {
    ObjectLock::Guard guard(core_->lock);
    while (next_ == core_->sent) {
      if (!core_->open) return {};
      if (wait(guard, core_->waiting, deadline) == Waited::timed_out) {
        if (next_ == core_->sent) return {};
      }
    }
    const std::uint64_t room = core_->ring.size();
    if (core_->sent - next_ > room) {
      const std::uint64_t lost = core_->sent - room - next_;
      next_ += lost;
      return {std::nullopt, lost};
    }
    return {core_->ring[static_cast<std::size_t>(next_++ % room)], 0};
  }

 private:
  std::shared_ptr<internal::BroadcastCore<T>> core_;
  std::uint64_t next_;
};

template <class T>
class Broadcast {
 public:
  /// Throws: UsageError if `room` is 0.
  explicit Broadcast(std::size_t room) {
    if (room == 0) internal::empty_broadcast();
    core_ = std::make_shared<internal::BroadcastCore<T>>(room);
  }
  Broadcast(Broadcast&&) noexcept = default;
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;
  ~Broadcast() {
    if (core_ == nullptr) return;
    const ObjectLock::Guard guard(core_->lock);
    core_->open = false;
    core_->waiting.fire_all();
  }

  /// Gets what is sent from now on.
  [[nodiscard]] Subscriber<T> subscribe() {
    const ObjectLock::Guard guard(core_->lock);
    return Subscriber<T>(core_, core_->sent);
  }

  /// Never waits. Threads: any.
  void send(T message) {
    std::optional<T> gone(std::move(message));
    const ObjectLock::Guard guard(core_->lock);
    std::swap(core_->ring[static_cast<std::size_t>(core_->sent % core_->ring.size())], gone);
    ++core_->sent;
    core_->waiting.fire_all();
  }

 private:
  std::shared_ptr<internal::BroadcastCore<T>> core_;
};

}  // namespace leat::actor
