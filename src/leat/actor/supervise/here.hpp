// What      Whose runtime the caller is in: for calls that name actors by their Pid.
// Limits    Internal.
#pragma once

namespace leat::actor {

struct Actor;
class Exit;
class Scheduler;

namespace internal {

/// The scheduler of the running actor. Throws: UsageError on a plain thread, with `call` as who
/// asks.
[[nodiscard]] Scheduler& scheduler_here(const char* call);
/// The running actor. Throws: the same.
[[nodiscard]] Actor& actor_here(const char* call);

/// The running actor's children are its own affair, also when all are told to end.
void say_that_it_supervises();

/// Tells whoever the runtime was given for that (Config::on_lost_failure) of a failure of the
/// running actor, that it does not end by.
void tell_failure(const Exit& exit);

}  // namespace internal
}  // namespace leat::actor
