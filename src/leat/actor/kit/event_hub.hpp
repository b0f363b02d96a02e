// What      EventHub: an actor that hands each event to all handlers that were added to it, one
//           after the other, in the order in which they were added.
// Protocol  EventHub<Alarm> hub;   const auto id = hub.add([](const Alarm& a) { ... });
//           hub.notify(Alarm{});   hub.remove(id);
// Invariants
//   (1) A handler that throws is taken out, and its failure told; the others and the hub go on.
// Source    Erlang's gen_event.
#pragma once

#include <leat/actor/kit/server.hpp>
#include <leat/actor/supervise/here.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace leat::actor {

namespace internal {

template <class Event>
class EventServer : public Server<EventServer<Event>> {
 public:
  using Handler = std::function<void(const Event&)>;
  struct Tell {
    Event event;
  };
  struct TellAll {
    using Reply = std::size_t;
    Event event;
  };
  struct Add {
    using Reply = std::uint64_t;
    Handler handler;
  };
  struct Remove {
    using Reply = bool;
    std::uint64_t id;
  };
  using Takes = Messages<Tell, TellAll, Add, Remove>;

  void handle(Tell tell) { (void)all(tell.event); }
  std::size_t handle(TellAll tell) { return all(tell.event); }
  std::uint64_t handle(Add add) {
    handlers_.emplace_back(++ids_, std::move(add.handler));
    return ids_;
  }
  bool handle(Remove remove) {
    return std::erase_if(handlers_, [&](const auto& one) { return one.first == remove.id; }) > 0;
  }

 private:
  std::size_t all(const Event& event) {
    std::size_t told = 0;
    std::erase_if(handlers_, [&](auto& one) {
      try {
        one.second(event);
        ++told;
        return false;
      } catch (const Cancelled&) {
        throw;
      } catch (...) {  // a handler's affair: it ends, as an actor of its own would
        tell_failure(Exit::of(std::current_exception()));
        return true;
      }
    });
    return told;
  }

  std::vector<std::pair<std::uint64_t, Handler>> handlers_;
  std::uint64_t ids_ = 0;
};

}  // namespace internal

/// A hub's name. Copies are of the same one, which ends when who made it ends.
template <class Event>
class EventHub {
  using Hub = internal::EventServer<Event>;

 public:
  EventHub()
      : pid_(start_server<Hub>(SpawnOptions{.name = "events", .parent = self(), .follows = true})
                 .ref.pid()) {}

  [[nodiscard]] Pid pid() const noexcept { return pid_; }

  /// Adds a handler, which runs in the hub. Returns: its number, for `remove`; 0 if the hub has
  /// ended.
  std::uint64_t add(std::function<void(const Event&)> handler) const {
    return ask(pid_, typename Hub::Add{std::move(handler)}).value.value_or(0);
  }
  /// Returns: whether it was there.
  bool remove(std::uint64_t id) const {
    return ask(pid_, typename Hub::Remove{id}).value.value_or(false);
  }
  /// Has all handlers told, and does not wait.
  Sent notify(Event event) const { return send(pid_, typename Hub::Tell{std::move(event)}); }
  /// The same, and waits until all were. Returns: how many were.
  std::size_t notify_and_wait(Event event) const {
    return ask(pid_, typename Hub::TellAll{std::move(event)}).value.value_or(0);
  }

 private:
  Pid pid_;
};

}  // namespace leat::actor
