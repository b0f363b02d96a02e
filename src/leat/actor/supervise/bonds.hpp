// What      Bonds: what binds an actor to others: with whom it ends, who is told when it ends, its
//           names; and why it has been told to end. Made when there is something to say.
// Protocol  A link is there when both sides have each other in `links`. To make it: each puts the
//           other in, its own side first. To undo it: the same. Whoever ends takes its links out
//           and tells each of them; who is told looks whether it still has who tells it. So an
//           unlink holds from the moment that the own side is changed.
//           A monitor is a letter that waits with whoever is watched, and is sent when that one
//           ends:
//               armed -> delivered -> in_hand -> taken        by the lock of who watches
//           Whoever lets go of a monitor looks at this first: is it armed, then no Down will come,
//           and if the watched one lives it is taken from its list.
// Invariants
//   (1) A monitor's letter is delivered once, or never if it was let go of before.
//   (2) No two locks are held at once.
//   (3) `watches` is guarded by the lock of the watched, a Watch's state by that of the watcher.
// Limits    Internal.
// Source    Erlang's links and monitors.
#pragma once

#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/supervise/pid_set.hpp>

#include <optional>
#include <string>
#include <vector>

namespace leat::actor {

class Mailbox;
class Scheduler;

namespace internal {

/// A monitor, from its making until it was read or let go of.
struct Watch : LetterOf<Down> {
  Watch(Down&& down, Actor& by) noexcept;

  Watch* before = nullptr;  // in the list of who is watched
  Watch* after = nullptr;
  Actor& watcher;
  Pid watcher_pid;
  bool handle = true;  // guarded by the watcher's lock
};

}  // namespace internal

struct Bonds {
  bool traps = false;        ///< gets exits as letters
  bool supervises = false;   ///< its children are its own affair
  std::optional<Exit> doom;  ///< why it is to end
  PidSet links;
  PidSet followers;  ///< who ends when it ends, and not the other way round
  internal::Watch* watches = nullptr;
  std::vector<std::string> names;
};

namespace internal {

/// Requires: the actor's lock is held, and it lives.
[[nodiscard]] Bonds& bonds_of(Actor& actor);

/// How an exit came to somebody.
enum class ExitVia : unsigned char {
  link,    ///< from one it is linked with, or was
  parent,  ///< from the one that it follows
  sent,    ///< by send_exit
  kill,    ///< by kill: it cannot be trapped
};

/// Tells `to` that `from` ended, or wants it to end. Returns: whether it lives.
bool give_exit(Scheduler& scheduler, Pid to, Pid from, const Exit& exit, ExitVia via);

/// Has `child`, which nobody else knows yet, end when `parent` does. Returns: whether that one
/// lives.
bool follow(Scheduler& scheduler, Pid parent, Pid child);
void unfollow(Scheduler& scheduler, Pid parent, Pid child) noexcept;

/// Gives up the names of an actor that is about to end, so that nobody finds it by them when it
/// has.
///
/// Requires: `guard` holds its lock, and lets go of it for a while.
void free_names(ObjectLock::Guard& guard, Actor& actor) noexcept;

/// What an actor that has ended leaves: each of them may be null.
struct Estate {
  Letter* farewell = nullptr;
  Mailbox* mailbox = nullptr;
  Bonds* bonds = nullptr;
  Exit exit;
};

/// Takes it out, and lets those go on who wait for room. Requires: the actor's lock is held.
[[nodiscard]] Estate take_estate(Actor& actor);

/// Tells all who are to know that `actor` has ended, its parent first, and ends its estate.
///
/// Returns: whether anybody heard of it.
bool settle_estate(Actor& actor, Estate estate) noexcept;

}  // namespace internal
}  // namespace leat::actor
