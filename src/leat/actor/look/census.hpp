// What      Census: who lives in a runtime, under whom, and what each waits for; as a tree in text,
//           as JSON, and as a report of who waits for ever.
// Protocol  std::puts(tree_text(take_census()).c_str());
//           std::puts(tree_text(take_census(Detail::calls)).c_str());    with a backtrace of each
//           for (const Stuck& stuck : find_stuck(take_census())) ...
// Limits    Actors go on meanwhile: what is said of one was so at some moment, not of all at the
//           same one. Who is stuck stays so: ask twice before you tell anybody.
//           Who waits for a channel, a condition, or a thread cannot be known from outside:
//           `find_stuck` sees circles of those who wait for each other's end, answer, mutex or
//           room; and, if nothing can run and nothing is due, all others, but for what plain
//           threads may still do.
//           Calls are those of who waits, and of who runs on another worker; of who lies in a queue
//           none are known, nor of who has its stack put away.
// Cost      Some 100 ns an actor. Nobody is stopped. With calls some microseconds: a wake of who
//           is just looked at comes that much later, and who runs is interrupted by a signal.
// Source    Erlang's observer, Go's goroutine dump and its report of deadlocks.
#pragma once

#include <leat/actor/pid.hpp>
#include <leat/actor/wait/waiter.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leat::actor {

class Runtime;
class Scheduler;

struct ActorReport {
  Pid pid;
  Pid parent;
  std::string name;
  bool daemon = false;
  bool waits = false;  ///< it is parked; otherwise it runs, or can
  bool timed = false;  ///< it waits until some time at most
  WaitFor waits_for;   ///< if it waits
  Pid waits_on;        ///< the actor that it waits for, if it is known
  std::uint64_t reductions = 0;
  std::size_t messages = 0;  ///< in its mailbox
  std::size_t signals = 0;
  std::size_t links = 0;
  bool traps_exits = false;
  bool is_told_to_end = false;
  bool supervises = false;
  std::vector<std::string> registered;
  std::vector<std::string> calls;  ///< under way, the innermost first; if they were asked for
};

using Census = std::vector<ActorReport>;

/// What a census has.
enum class Detail : unsigned char {
  brief,
  calls,  ///< also which calls are under way
};

/// Of the running actor's runtime. Throws: UsageError on a plain thread.
[[nodiscard]] Census take_census(Detail detail = Detail::brief);
/// Threads: any; for calls not while the runtime runs in another thread than one of its own. With
/// one thread of its own that one looks for the calls, as soon as it comes to it.
[[nodiscard]] Census take_census(Runtime& runtime, Detail detail = Detail::brief);

/// One line: who it is, and what it does.
[[nodiscard]] std::string describe(const ActorReport& actor);

/// One line for each, children under their parents, two blanks further in; under it its calls.
[[nodiscard]] std::string tree_text(const Census& census);
/// The same as JSON: a list of actors, each with its children.
[[nodiscard]] std::string tree_json(const Census& census);

/// Why some actors will wait for ever.
struct Stuck {
  enum class Kind : unsigned char {
    deadlock,  ///< they wait for each other
    leak,      ///< nothing in the runtime can wake it any more
  };
  Kind kind = Kind::leak;
  std::vector<Pid> actors;
  std::string text;  ///< who waits for what
};
[[nodiscard]] std::vector<Stuck> find_stuck(const Census& census);

}  // namespace leat::actor
