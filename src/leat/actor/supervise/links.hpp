// What      How actors hear of each other's end. A link ends both; a monitor tells one of them,
//           once; an exit asks an actor to end, for a reason.
// Protocol  Monitor watch = monitor(pid);   ...   Down down = receive<Down>();
//           link(pid);    one ends badly: so does the other, for the same reason
//           trap_exit(true);    the same, but it comes as an ExitSignal that can be received
// Invariants
//   (1) A monitor gives exactly one Down, also if there is nobody with that name, and none once it
//       was let go of.
//   (2) What an actor sent before it ended comes before its Down and its ExitSignal.
//   (3) After `unlink` nothing comes of the link, also if the other ends at that moment.
// Limits    An actor ends at its next call that may wait, and not in a CancelShield; it has then
//           ended for the reason that came first, `kill`'s above all others.
//           One that has no name yet or any more counts as Exit::no_actor, unless it has not been
//           joined or forgotten yet: then it is known how it ended.
// Source    Erlang.
#pragma once

#include <leat/actor/exit.hpp>
#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/pid.hpp>
#include <leat/actor/spawn.hpp>

#include <cstdint>
#include <utility>

namespace leat::actor {

namespace internal {
struct Watch;
}

/// Watches one actor. Dropped, it lets go: then its Down does not come, or is taken back.
///
/// Threads: the actor that watches.
class [[nodiscard]] Monitor {
 public:
  /// Nobody.
  Monitor() noexcept = default;
  explicit Monitor(internal::Watch& watch) noexcept : watch_(&watch) {}
  Monitor(Monitor&& other) noexcept : watch_(std::exchange(other.watch_, nullptr)) {}
  Monitor& operator=(Monitor&& other) noexcept {
    if (this != &other) {
      demonitor();
      watch_ = std::exchange(other.watch_, nullptr);
    }
    return *this;
  }
  ~Monitor() { demonitor(); }

  explicit operator bool() const noexcept { return watch_ != nullptr; }
  /// Tells its Down from others. 0: nobody is watched.
  [[nodiscard]] std::uint64_t id() const noexcept;
  [[nodiscard]] Pid pid() const noexcept;

  /// Lets go. Returns: whether its Down had not been received, and now will not be.
  bool demonitor() noexcept;

 private:
  internal::Watch* watch_ = nullptr;
};

/// Has the running actor told when `pid` ends: it gets a Down. `urgent`: before all that is not.
Monitor monitor(Pid pid, bool urgent = false);

/// Waits for a monitor's Down, and leaves all other letters where they are. Returns: how it ended.
/// Throws: Cancelled.
Exit await_end_of(const Monitor& watch);

/// Ties the running actor and `pid` together: if one of them ends other than normally the other
/// does, for the same reason. Doing it twice is doing it once.
void link(Pid pid);
/// Unties them; an ExitSignal that has come already and was not received is taken back.
void unlink(Pid pid);

/// Whether exits come to the running actor as an ExitSignal each, be they of links, of a parent
/// that it follows, or sent; normal ones too. Returns: what it was before.
bool trap_exit(bool traps);

/// Asks `pid` to end for that reason; one that traps exits gets an ExitSignal. A normal exit is
/// ignored, but by who traps. Returns: whether it lives.
bool send_exit(Pid pid, const Exit& exit);
/// Has `pid` end, whether it traps exits or not. Returns: whether it lives.
bool kill(Pid pid);

/// Starts an actor that is linked to the caller.
template <class F>
JoinHandle<internal::ValueOf<F>> spawn_linked(const SpawnOptions& options, F&& f) {
  auto handle = spawn(options, std::forward<F>(f));
  link(handle.pid());
  return handle;
}
template <class F>
JoinHandle<internal::ValueOf<F>> spawn_linked(F&& f) {
  return spawn_linked(SpawnOptions{}, std::forward<F>(f));
}

}  // namespace leat::actor
