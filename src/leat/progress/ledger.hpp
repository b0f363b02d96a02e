// What      Where the operators of one scope write down what they did: records consumed and
//           produced, capabilities made and dropped. One per scope and worker.
// Protocol  Whoever acts writes at once, with the flat port it acted on. The scope takes everything
//           at a moment when no operator of it is running, so what it takes is always the net
//           effect of whole actions. A write from outside a run of the scope (an input handle, a
//           capability dropped elsewhere) activates the scope, so nothing that was written can be
//           forgotten.
// Invariants
//   (1) A capability is written as made before the one it came from is written as dropped.
//   (2) After `close` writes have no effect: the scope is gone, its peers have dropped it as well.
// Cost      An update looks at the last eight entries at most. Nothing is allocated once it has grown;
//           the net of few entries needs no sorting.
// Source    Timely Dataflow's `SharedProgress`, turned from a mailbox per port that the scope must
//           search into one list that it reads.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <leat/base/local_ptr.hpp>
#include <leat/core/activation.hpp>
#include <leat/progress/change_batch.hpp>
#include <leat/progress/location.hpp>
#include <leat/progress/timestamp.hpp>

namespace leat::progress {

/// A time at a port: the key of a count.
template <class T>
struct Pointstamp {
  PortIndex port = 0;
  T time{};
  friend bool operator==(const Pointstamp&, const Pointstamp&) = default;
  friend bool operator<(const Pointstamp& a, const Pointstamp& b) {
    return a.port != b.port ? a.port < b.port : a.time < b.time;
  }
};

/// What was written, the net of it: equal pointstamps are put together as they come, as long as they
/// come close to each other. What an operator takes in and puts out cancels among the last few.
template <class T>
class NetChanges {
 public:
  using Entry = Change<Pointstamp<T>>;

  void update(const Pointstamp<T>& at, std::int64_t delta) {
    Entry* const end = entries_.get() + size_;
    Entry* const begin = size_ > kNear ? end - kNear : entries_.get();
    for (Entry* near = end; near != begin;) {
      --near;
      if (!(near->value == at)) continue;
      near->diff += delta;
      if (near->diff == 0) {
        if (near + 1 != end) *near = std::move(end[-1]);
        --size_;
      }
      return;
    }
    if (delta != 0) append(at, delta);
  }

  /// True if all differences cancel. May put equal ones together.
  [[nodiscard]] bool is_empty() {
    put_together();
    return size_ == 0;
  }
  /// The net, in no order, until the next change.
  [[nodiscard]] std::span<const Entry> net() {
    put_together();
    return {entries_.get(), size_};
  }
  /// The same, in ascending order.
  [[nodiscard]] std::span<const Entry> changes() {
    put_together();
    if (size_ > 1) std::sort(entries_.get(), entries_.get() + size_, before);
    return {entries_.get(), size_};
  }

  [[nodiscard]] auto begin() { return changes().begin(); }
  [[nodiscard]] auto end() { return changes().end(); }

  /// Forgets everything; keeps the memory.
  void clear() noexcept {
    size_ = 0;
    may_repeat_ = false;
  }
  /// Whether the memory is more than a few changes need.
  [[nodiscard]] bool keeps_much() const noexcept { return capacity_ > kFew; }
  /// Gives the memory back, unless something is written.
  void release_spares() noexcept {
    if (size_ != 0) return;
    entries_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr std::size_t kNear = 8;
  static constexpr std::size_t kFew = 32;

  static bool before(const Entry& a, const Entry& b) { return a.value < b.value; }

  void append(const Pointstamp<T>& at, std::int64_t delta) {
    if (size_ == capacity_) grow();
    entries_[size_++] = {at, delta};
    if (size_ > kNear) may_repeat_ = true;
  }
  [[gnu::noinline]] void grow() {
    const std::size_t capacity = capacity_ == 0 ? kNear : 2 * capacity_;
    auto entries = std::make_unique<Entry[]>(capacity);
    std::move(entries_.get(), entries_.get() + size_, entries.get());
    entries_ = std::move(entries);
    capacity_ = capacity;
  }

  void put_together() {
    if (may_repeat_) sort_and_put_together();
  }
  [[gnu::noinline]] void sort_and_put_together() {
    std::sort(entries_.get(), entries_.get() + size_, before);
    std::size_t kept = 0;
    for (std::size_t next = 0; next < size_;) {
      Entry sum = std::move(entries_[next]);
      for (++next; next < size_ && entries_[next].value == sum.value; ++next)
        sum.diff += entries_[next].diff;
      if (sum.diff != 0) entries_[kept++] = std::move(sum);
    }
    size_ = kept;
    may_repeat_ = size_ > kNear;
  }

  std::unique_ptr<Entry[]> entries_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool may_repeat_ = false;  // there are, or were, more than are looked at
};

template <Timestamp T>
class Ledger : public LocalCounted<Ledger<T>> {
 public:
  using Changes = NetChanges<T>;

  explicit Ledger(core::Activation scope) : scope_(scope) {}

  /// Writes down a change of the count at (`port`, `time`).
  ///
  /// Threads: the worker's own. No effect after `close`.
  void update(PortIndex port, const T& time, std::int64_t delta) {
    if (state_ != State::running) {
      if (state_ == State::closed) return;
      scope_.activate();
    }
    changes_.update(Pointstamp<T>{port, time}, delta);
  }

  /// What was written since it was last taken.
  [[nodiscard]] Changes& changes() noexcept { return changes_; }

  /// The scope says when it runs (it will look by itself before it ends) and when it does not.
  void enter_run() noexcept {
    if (state_ == State::resting) state_ = State::running;
  }
  void leave_run() noexcept {
    if (state_ == State::running) state_ = State::resting;
  }
  void close() noexcept {
    state_ = State::closed;
    changes_.clear();
  }
  [[nodiscard]] bool closed() const noexcept { return state_ == State::closed; }

 private:
  enum class State : std::uint8_t { resting, running, closed };

  core::Activation scope_;
  Changes changes_;
  State state_ = State::resting;
};

}  // namespace leat::progress
