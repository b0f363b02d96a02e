// What      Scope: actors that end before their scope does. `join` waits for all and throws the first
//           failure; leaving the scope otherwise cancels who is left, and waits.
// Protocol  Scope scope;   scope.spawn([&] { ... });   scope.spawn([&] { ... });   scope.join();
//           So they may refer to what stands before the scope.
// Invariants  (1) None of its actors runs when its destructor has returned.
// Limits    An actor that swallows its cancellation, or never waits, keeps its scope.
// Source    Trio's nurseries, Tokio's JoinSet.
#pragma once

#include <leat/actor/self.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/wait/wait.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::actor {

class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    cancel();
    const CancelShield shield;
    for (JoinHandle<void>& child : children_) {
      if (child) (void)child.join_result();
    }
  }

  /// Starts an actor; what `f` returns is dropped. Requires: the caller is an actor, or UsageError.
  template <class F>
  Pid spawn(F&& f) {
    // First what may fail: an actor that runs is a child.
    if (children_.size() == children_.capacity()) children_.reserve(2 * children_.size() + 4);
    children_.push_back(actor::spawn([state = state_, call = std::forward<F>(f)]() mutable -> Exit {
      const Counts counts{*state};
      try {
        if constexpr (std::is_same_v<internal::ReturnOf<F>, Exit>) {
          Exit exit = call();
          if (!exit.ok()) state->failed();
          return exit;
        } else {
          (void)call();
          return Exit::normal();
        }
      } catch (const Cancelled&) {
        throw;
      } catch (...) {
        state->failed();
        throw;
      }
    }));
    const ObjectLock::Guard guard(state_->lock);
    ++state_->started;
    return children_.back().pid();
  }

  /// Waits for all. If one fails the others are cancelled, and when all have ended its failure is
  /// thrown; if several do, that of the one started first.
  void join() {
    {
      ObjectLock::Guard guard(state_->lock);
      while (state_->ended < state_->started && !state_->any_failed) wait(guard, state_->waiting);
    }
    if (any_failed()) cancel();
    Exit first;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      Joined<void> joined = children_[i].join_result();
      if (first.ok() && joined.exit.kind() != ExitKind::cancelled) first = std::move(joined.exit);
    }
    children_.clear();
    if (!first.ok()) first.raise();
  }

  /// Has all end at their next call that may wait.
  void cancel() noexcept {
    for (JoinHandle<void>& child : children_) child.cancel();
  }

  [[nodiscard]] std::size_t size() const noexcept { return children_.size(); }

 private:
  [[nodiscard]] bool any_failed() const noexcept {
    const ObjectLock::Guard guard(state_->lock);
    return state_->any_failed;
  }

  struct State {
    ObjectLock lock;
    // Guarded by lock.
    std::size_t started = 0;
    std::size_t ended = 0;
    bool any_failed = false;
    WaitList waiting;

    void failed() noexcept {
      const ObjectLock::Guard guard(lock);
      any_failed = true;
      waiting.fire_all();
    }
  };
  struct Counts {
    State& state;
    ~Counts() {
      const ObjectLock::Guard guard(state.lock);
      ++state.ended;
      state.waiting.fire_all();
    }
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();  // not on a stack: children write it
  std::vector<JoinHandle<void>> children_;
};

}  // namespace leat::actor
