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
// Cost      An update looks at one entry, which is found by the port's number, and at eight more if the
//           port has several times. Nothing is allocated once it has grown; the net needs no sorting
//           unless ports had several times among many.
// Source    Timely Dataflow's `SharedProgress`, turned from a mailbox per port that the scope must
//           search into one list that it reads.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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

/// What was written, the net of it: equal pointstamps are put together as they come, unless there are
/// many and their port has other times besides. What an operator takes in and puts out cancels.
template <class T>
class NetChanges {
 public:
  using Entry = Change<Pointstamp<T>>;

  void update(const Pointstamp<T>& at, std::int64_t delta) {
    Entry* const last = last_of(at.port);
    if (last == nullptr) {
      if (delta != 0) append(at, delta);
    } else if (last->value.time == at.time) {
      add(*last, delta);
    } else {
      update_other_time(at, delta);
    }
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
    if (size_ > 1) sort();
    return {entries_.get(), size_};
  }

  [[nodiscard]] auto begin() { return changes().begin(); }
  [[nodiscard]] auto end() { return changes().end(); }

  /// Forgets everything; keeps the memory.
  void clear() noexcept {
    size_ = 0;
    may_repeat_ = false;
    with_other_times_ = kNoPort;
  }
  /// Whether the memory is more than a few changes need.
  [[nodiscard]] bool keeps_much() const noexcept {
    return capacity_ > kFew || last_.size() > 2 * kFew;
  }
  /// Gives the memory back, unless something is written.
  void release_spares() noexcept {
    if (size_ != 0) return;
    entries_.reset();
    capacity_ = 0;
    last_ = {};
  }

 private:
  static constexpr std::size_t kNear = 8;
  static constexpr std::size_t kFew = 32;
  static constexpr PortIndex kNoPort = UINT32_MAX;
  static constexpr PortIndex kSeveral = UINT32_MAX - 1;

  static bool before(const Entry& a, const Entry& b) { return a.value < b.value; }

  // An entry of the port; null if it has none, which is certain unless `may_repeat_`.
  [[nodiscard]] Entry* last_of(PortIndex port) noexcept {
    if (port >= last_.size() || last_[port] >= size_) return nullptr;
    Entry& entry = entries_[last_[port]];
    return entry.value.port == port ? &entry : nullptr;
  }
  void note_last(std::size_t index) noexcept {
    last_[entries_[index].value.port] = static_cast<std::uint32_t>(index);
  }

  void append(const Pointstamp<T>& at, std::int64_t delta) {
    if (size_ == capacity_ || at.port >= last_.size()) [[unlikely]]
      grow(at.port);
    entries_[size_] = {at, delta};
    last_[at.port] = static_cast<std::uint32_t>(size_++);
  }
  void add(Entry& entry, std::int64_t delta) {
    entry.diff += delta;
    if (entry.diff == 0) take_out(entry);
  }
  void take_out(Entry& entry) {
    const PortIndex port = entry.value.port;
    Entry& last = entries_[--size_];
    if (&entry != &last) {
      entry = std::move(last);
      note_last(static_cast<std::size_t>(&entry - entries_.get()));
    }
    if (with_other_times_ == port || with_other_times_ == kSeveral) [[unlikely]]
      find_other_time(port);
  }

  // The port has an entry, of another time than the one that is found first.
  [[gnu::noinline]] void update_other_time(const Pointstamp<T>& at, std::int64_t delta) {
    Entry* const end = entries_.get() + size_;
    for (Entry* near = size_ > kNear ? end - kNear : entries_.get(); near != end; ++near) {
      if (near->value == at) {
        add(*near, delta);
        return;
      }
    }
    if (delta == 0) return;
    if (size_ > kNear) may_repeat_ = true;
    if (with_other_times_ != at.port)
      with_other_times_ = with_other_times_ == kNoPort ? at.port : kSeveral;
    append(at, delta);
  }
  // An entry of the port was taken out; it may have another.
  [[gnu::noinline]] void find_other_time(PortIndex port) {
    if (size_ > kNear) {
      may_repeat_ = true;
      return;
    }
    for (std::size_t i = 0; i < size_; ++i) {
      if (entries_[i].value.port == port) note_last(i);
    }
  }

  [[gnu::noinline]] void grow(PortIndex port) {
    if (port >= last_.size()) last_.resize(std::bit_ceil(port + std::size_t{1}), 0);
    if (size_ != capacity_) return;
    const std::size_t capacity = capacity_ == 0 ? kNear : 2 * capacity_;
    auto entries = std::make_unique<Entry[]>(capacity);
    std::move(entries_.get(), entries_.get() + size_, entries.get());
    entries_ = std::move(entries);
    capacity_ = capacity;
  }

  [[gnu::noinline]] void sort() {
    std::sort(entries_.get(), entries_.get() + size_, before);
    for (std::size_t i = 0; i < size_; ++i) note_last(i);
  }
  void put_together() {
    if (may_repeat_) [[unlikely]]
      sort_and_put_together();
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
    may_repeat_ = false;
    for (std::size_t i = 0; i < size_; ++i) note_last(i);
  }

  std::unique_ptr<Entry[]> entries_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::vector<std::uint32_t> last_;       // by port: where an entry of it is or was
  PortIndex with_other_times_ = kNoPort;  // which may have several entries
  bool may_repeat_ = false;               // a pointstamp may
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
    if (state_ != State::running && !may_write_at_rest()) [[unlikely]]
      return;
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

  [[gnu::noinline]] bool may_write_at_rest() {
    if (state_ == State::closed) return false;
    scope_.activate();
    return true;
  }

  core::Activation scope_;
  Changes changes_;
  State state_ = State::resting;
};

}  // namespace leat::progress
