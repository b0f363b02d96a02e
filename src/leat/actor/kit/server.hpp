// What      Server: the loop of an actor that has a state, answers questions about it and is told
//           things.
// Protocol  class Counter : public Server<Counter> {
//            public:
//             using Takes = Messages<Add, Get>;
//             void handle(Add add) { count_ += add.by; }      // told: nobody waits
//             int handle(Get) { return count_; }              // asked: Get::Reply is int
//           };
//           auto counter = start_server<Counter>();
//           counter.ref.send(Add{2});   *counter.ref.ask(Get{}) == 2
//           Also, where the class has them:
//             void init()                        before the first message
//             void handle(Q, ReplyTo<R>)         a question that is answered later
//             void handle(Down), handle(ExitSignal), handle(Signal)       signals
//             void timeout()                     what timeout_after asked for
//             void unexpected(std::string_view)  the type of a message that is not in Takes
//             void terminate(const Exit&)        after the last message, however it ends
//           `run` handles messages until a handler calls `stop` (life.hpp).
// Invariants
//   (1) Messages are handled one at a time, in the order of arrival, urgent ones first.
//   (2) A handler that throws ends the server; who had asked hears that there is no answer.
// Limits    A message that is not in Takes is dropped, and counted as a dead letter, unless the
//           class has `unexpected`.
// Source    Erlang's gen_server.
#pragma once

#include <leat/actor/kit/dispatch.hpp>
#include <leat/actor/kit/life.hpp>
#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/receive.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/supervise/supervisor.hpp>

#include <string>
#include <utility>

namespace leat::actor {

template <class Self>
class Server : public internal::Life<Server<Self>, Self> {
  friend internal::Life<Server<Self>, Self>;

 protected:
  ~Server() = default;

  /// Has `timeout` called if no message comes for so long from now on. Any message ends it.
  void timeout_after(Nanos time) { timeout_ = deadline_after(time); }

 private:
  void step(Self& self) {
    internal::Taken taken = internal::take_for<Self>(std::exchange(timeout_, kNever));
    if (taken.letter == nullptr) {
      if constexpr (requires { self.timeout(); }) self.timeout();
      return;
    }
    internal::dispatch(self, taken);
  }

  Nanos timeout_ = kNever;
};

/// A server that runs: its name by which it is asked, and the handle for its end.
template <class S>
struct StartedServer {
  typename internal::RefTo<typename S::Takes>::Type ref;
  JoinHandle<void> handle;
};

/// Starts an actor that makes an S of `args`, and runs it.
template <class S, class... Args>
StartedServer<S> start_server(const SpawnOptions& options, Args... args) {
  auto handle = spawn(options, [... own = std::move(args)]() mutable {
    S server(std::move(own)...);
    return server.run();
  });
  const Pid pid = handle.pid();
  return {typename internal::RefTo<typename S::Takes>::Type(pid), std::move(handle)};
}
template <class S>
StartedServer<S> start_server() {
  return start_server<S>(SpawnOptions{});
}

/// A child that is a server, made of copies of `args` at each start; its actor registers `name` if
/// it is free.
template <class S, class... Args>
[[nodiscard]] ChildSpec server_child(std::string name, Args... args) {
  ChildSpec spec;
  spec.name = name;
  spec.run = [name = std::move(name), ... own = std::move(args)]() {
    internal::register_own_name(name);
    S server(own...);
    return server.run();
  };
  return spec;
}

}  // namespace leat::actor
