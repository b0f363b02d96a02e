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
// Cost      A few instructions and no allocation while an activation touches few (port, time)
//           pairs.
// Source    Timely Dataflow's `SharedProgress`, turned from a mailbox per port that the scope must
//           search into one list that it reads.
#pragma once

#include <compare>
#include <cstdint>
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

template <Timestamp T>
class Ledger : public LocalCounted<Ledger<T>> {
 public:
  using Changes = ChangeBatch<Pointstamp<T>, 4>;

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
