// What      What a parent is told: that a child which was started under it has ended, and how.
// Protocol  spawn_under(self(), f).detach();   const Signal s = next_signal();
// Invariants  (1) One signal for each child started under an actor that lives. Of one child's end the
//             signal comes once; what a slot's next tenant does never comes under its name.
// Limits    Signals that were not looked at when the parent ends are dropped.
// Source    smarm's signal mailbox of a slot; Erlang's exit signals.
#pragma once

#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/wait/waiter.hpp>

#include <optional>

namespace leat::actor {

/// Waits for the next signal to the running actor.
///
/// Throws: Cancelled, if it had to wait; UsageError on a plain thread.
Signal next_signal();
/// The same, until `deadline` (of `now_here()`) only; a deadline that has passed only looks.
std::optional<Signal> next_signal_until(Nanos deadline);

}  // namespace leat::actor
