// What      StateMachine: a server that is in one of several states, and puts off what does not
//           suit the one it is in.
// Protocol  enum class Door { open, closed };
//           class Lock : public StateMachine<Lock, Door> {
//            public:
//             using Takes = Messages<Push, Code>;
//             Lock() : StateMachine(Door::closed) {}
//             void handle(Code code) {
//               if (!code.right) return;
//               go_to(Door::open);
//               state_timeout(seconds(5));
//             }
//             void handle(const Push& push) { if (state() == Door::closed) return postpone(); ... }
//             void state_timeout_over() { go_to(Door::closed); }
//           };
//           Handlers are as those of a Server (init, signals, terminate, unexpected). One that may
//           postpone takes its message by reference, and leaves it as it was if it does. Also:
//             void enter(State from)       after each change of state
//             void state_timeout_over()    the state has lasted as long as state_timeout said
//             void timeout()               as of Server
// Invariants
//   (1) What was postponed is handled after the next change of state, in the order in which it
//       came, before what came later.
//   (2) A timeout of a state ends with the state.
// Source    Erlang's gen_statem.
#pragma once

#include <leat/actor/kit/dispatch.hpp>
#include <leat/actor/kit/life.hpp>
#include <leat/actor/self.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace leat::actor {

template <class Self, class State>
class StateMachine : public internal::Life<StateMachine<Self, State>, Self> {
  friend internal::Life<StateMachine<Self, State>, Self>;

 protected:
  explicit StateMachine(State first) noexcept : state_(std::move(first)) {}
  ~StateMachine() = default;

  [[nodiscard]] const State& state() const noexcept { return state_; }

  /// Changes the state when the handler has returned. To the same state: nothing changes.
  void go_to(State next) {
    next_ = std::move(next);
    changes_ = true;
  }
  /// Keeps the message that is being handled for the next state.
  void postpone() noexcept { postponed_ = true; }
  /// Has `state_timeout_over` called when this state, or the one that go_to named, has lasted so
  /// long.
  void state_timeout(Nanos time) {
    state_timeout_ = deadline_after(time);
    timed_anew_ = true;
  }
  void timeout_after(Nanos time) { timeout_ = deadline_after(time); }

 private:
  void step(Self& self) {
    const Nanos timeout = std::exchange(timeout_, kNever);
    const Nanos state_timeout = state_timeout_;
    timed_anew_ = false;
    internal::Taken taken = internal::take_for<Self>(std::min(timeout, state_timeout));
    if (taken.letter == nullptr) {
      if (state_timeout <= timeout) {
        timeout_ = timeout;
        state_timeout_ = kNever;
        if constexpr (requires { self.state_timeout_over(); }) self.state_timeout_over();
      } else {
        if constexpr (requires { self.timeout(); }) self.timeout();
      }
    } else {
      internal::dispatch(self, taken);
      if (std::exchange(postponed_, false)) put_off_.push_back(std::move(taken.letter));
    }
    if (std::exchange(changes_, false)) change(self);
  }

  void change(Self& self) {
    if (next_ == state_) return;
    const State from = std::exchange(state_, std::move(next_));
    if (!std::exchange(timed_anew_, false)) state_timeout_ = kNever;  // the old state's
    for (internal::LetterPtr& letter : put_off_) internal::give_back_letter(std::move(letter));
    put_off_.clear();
    if constexpr (requires { self.enter(from); }) self.enter(from);
    if (std::exchange(changes_, false)) change(self);
  }

  State state_;
  State next_{};
  bool changes_ = false;
  bool postponed_ = false;
  bool timed_anew_ = false;
  Nanos timeout_ = kNever;
  Nanos state_timeout_ = kNever;
  std::vector<internal::LetterPtr> put_off_;
};

}  // namespace leat::actor
