// What      oneshot: one value, once, from one who has it to one who waits for it.
// Protocol  auto [promise, answer] = oneshot<int>();   promise.send(7);   answer.receive() == 7
//           If the promise is dropped unsent, `receive` says nullopt.
// Cost      One allocation for both ends. Between actors of a solo runtime no swap.
#pragma once

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/wait/wait.hpp>

#include <optional>
#include <utility>

namespace leat::actor {
namespace internal {

template <class T>
class OneshotCore {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a value must be movable without throwing");

 public:
  /// Returns: whether the caller is to delete the core; `accepted` whether somebody may get it.
  [[nodiscard]] bool send(T* value, bool& accepted) noexcept {
    const ObjectLock::Guard guard(lock_);
    promise_ = false;
    accepted = answer_ && value != nullptr;
    if (!answer_) return true;
    if (value != nullptr) value_.emplace(std::move(*value));
    fire_one(guard, waiting_);
    return false;
  }
  std::optional<T> receive(Nanos deadline) {
    ObjectLock::Guard guard(lock_);
    while (!value_ && promise_) {
      if (wait(guard, waiting_, deadline, {WaitKind::answer}) == Waited::timed_out) break;
    }
    return std::exchange(value_, std::nullopt);
  }
  [[nodiscard]] bool drop_answer() noexcept {
    const ObjectLock::Guard guard(lock_);
    answer_ = false;
    return !promise_;
  }
  [[nodiscard]] bool is_awaited() noexcept {
    const ObjectLock::Guard guard(lock_);
    return answer_;
  }
  [[nodiscard]] bool is_at_end() noexcept {
    const ObjectLock::Guard guard(lock_);
    return !promise_ && !value_;
  }
  [[nodiscard]] bool enlist(Waiter& waiter) noexcept {
    const ObjectLock::Guard guard(lock_);
    if (value_ || !promise_) return false;
    waiting_.push_back(waiter);
    return true;
  }
  void withdraw(Waiter& waiter) noexcept {
    const ObjectLock::Guard guard(lock_);
    if (waiter.listed) waiting_.remove(waiter);
  }

 private:
  ObjectLock lock_;
  // Guarded by lock_.
  bool promise_ = true;
  bool answer_ = true;
  std::optional<T> value_;
  WaitList waiting_;
};

}  // namespace internal

/// The end that the value goes into. Threads: one at a time.
template <class T>
class Promise {
 public:
  explicit Promise(internal::OneshotCore<T>* core) noexcept : core_(core) {}
  Promise(Promise&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  Promise& operator=(Promise&& other) noexcept {
    if (this != &other) {
      finish(nullptr);
      core_ = std::exchange(other.core_, nullptr);
    }
    return *this;
  }
  ~Promise() { finish(nullptr); }

  /// Gives the value. Never waits. Returns: `ok`, or `closed` if nobody waits any more, or if this was
  /// done before. Ordering: what the caller did before is visible to who receives it.
  Sent send(T value) noexcept { return finish(&value) ? Sent::ok : Sent::closed; }

  /// Whether somebody may still get it.
  [[nodiscard]] bool is_awaited() const noexcept { return core_ != nullptr && core_->is_awaited(); }

 private:
  bool finish(T* value) noexcept {
    if (core_ == nullptr) return false;
    bool accepted = false;
    auto* const core = std::exchange(core_, nullptr);
    if (core->send(value, accepted)) delete core;
    return accepted;
  }

  internal::OneshotCore<T>* core_;
};

/// The end that the value comes out of. Threads: one at a time.
template <class T>
class Answer {
 public:
  using Message = T;

  explicit Answer(internal::OneshotCore<T>* core) noexcept : core_(core) {}
  Answer(Answer&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  Answer& operator=(Answer&& other) noexcept {
    if (this != &other) {
      close();
      core_ = std::exchange(other.core_, nullptr);
    }
    return *this;
  }
  ~Answer() { close(); }

  /// Waits for the value. Returns: nullopt if it was dropped, or taken before. Throws: Cancelled, if
  /// it had to wait. Requires: not closed or moved from.
  std::optional<T> receive() { return core_->receive(kNever); }
  /// The same, until `deadline` (of `now_here()`) only.
  std::optional<T> receive_until(Nanos deadline) { return core_->receive(deadline); }
  std::optional<T> receive_for(Nanos time) { return core_->receive(deadline_after(time)); }
  std::optional<T> try_receive() { return core_->receive(Nanos::min()); }

  [[nodiscard]] bool is_at_end() const noexcept { return core_->is_at_end(); }

  void close() noexcept {
    if (core_ != nullptr && core_->drop_answer()) delete core_;
    core_ = nullptr;
  }

  // For select.
  [[nodiscard]] bool enlist(Waiter& waiter) noexcept { return core_->enlist(waiter); }
  void withdraw(Waiter& waiter) noexcept { core_->withdraw(waiter); }

 private:
  internal::OneshotCore<T>* core_;
};

template <class T>
struct Oneshot {
  Promise<T> promise;
  Answer<T> answer;
};

template <class T>
[[nodiscard]] Oneshot<T> oneshot() {
  auto* core = new internal::OneshotCore<T>();
  return {Promise<T>(core), Answer<T>(core)};
}

}  // namespace leat::actor
