// What      The life of an actor that is a kit: init, one message after the other until it is told to
//           stop, terminate, however it ends.
// Protocol  A kit (Server, StateMachine) derives from Life<Kit, Self>, whose friend it makes it, and
//           has `step(Self&)`, which waits for a message or a timeout and has it handled.
// Limits    Internal.
#pragma once

#include <leat/actor/exit.hpp>
#include <leat/actor/self.hpp>

#include <exception>
#include <utility>

namespace leat::actor::internal {

template <class Kit, class Self>
class Life {
 public:
  Life() = default;
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  /// Handles messages in the running actor until `stop`. Returns: how it ends.
  Exit run() {
    Self& self = static_cast<Self&>(*this);
    Exit ends = Exit::normal();
    try {
      if constexpr (requires { self.init(); }) self.init();
      while (!over_) static_cast<Kit&>(*this).step(self);
      ends = std::move(exit_);
    } catch (const Cancelled& why) {
      finish(self, Exit::cancelled(why.what()));
      throw;
    } catch (...) {
      finish(self, Exit::of(std::current_exception()));
      throw;
    }
    finish(self, ends);
    return ends;
  }

 protected:
  ~Life() = default;

  /// Ends the actor when the handler has returned.
  void stop(Exit exit = Exit::normal()) {
    over_ = true;
    exit_ = std::move(exit);
  }

 private:
  static void finish(Self& self, const Exit& exit) {
    if constexpr (requires { self.terminate(exit); }) {
      const CancelShield whole;
      self.terminate(exit);
    }
  }

  bool over_ = false;
  Exit exit_;
};

}  // namespace leat::actor::internal
