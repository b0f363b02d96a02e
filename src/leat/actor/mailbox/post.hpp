// What      send: puts a message of any type into an actor's mailbox, where `receive` finds it.
// Protocol  send(pid, Ping{1});   send("log", Line{"hello"});   send(runtime, pid, Ping{2});
// Invariants
//   (1) What one actor sends another arrives in that order, each once, its signals (Down,
//       ExitSignal) too; but for urgent messages, which overtake.
//   (2) A message to nobody is said to be `closed`, counted, and told to Config::on_dead_letter;
//       so is one that its receiver had not taken when it ended (without the first).
// Cost      One allocation, one lock.
#pragma once

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/pid.hpp>

#include <string_view>
#include <utility>

namespace leat::actor {

class Runtime;
class Scheduler;

namespace internal {

/// Puts `letter` into the mailbox of `to`; on `ok` and `dropped` it is gone.
Sent post(Scheduler& scheduler, Pid to, LetterPtr& letter, Nanos deadline, bool may_wait);
Sent post_from_here(Pid to, LetterPtr letter, bool may_wait);
Sent post_by_name(std::string_view name, LetterPtr letter);

template <class T>
LetterPtr make_letter(T message, bool urgent = false) {
  LetterPtr letter(new LetterOf<T>(std::move(message)));
  letter->urgent = urgent;
  return letter;
}

[[nodiscard]] Scheduler& scheduler_of(Runtime& runtime) noexcept;

}  // namespace internal

/// Sends a message; waits for room if the receiver bounded its mailbox so, and after the message was
/// sent if the receiver has too many (Config::slow_senders_above).
///
/// Returns:  `ok`; `closed` if nobody with that Pid lives; what a bound says otherwise.
/// Throws:   Cancelled, if it had to wait; UsageError on a plain thread (name the runtime there).
/// Ordering: what the caller did before is visible to who receives it.
template <class T>
Sent send(Pid to, T message) {
  return internal::post_from_here(to, internal::make_letter(std::move(message)), true);
}
/// The same to who has that name; `closed` if nobody has.
template <class T>
Sent send(std::string_view name, T message) {
  return internal::post_by_name(name, internal::make_letter(std::move(message)));
}
/// The same, without waiting: `full` instead.
template <class T>
Sent try_send(Pid to, T message) {
  return internal::post_from_here(to, internal::make_letter(std::move(message)), false);
}
/// The same; it is received before all that is not urgent.
template <class T>
Sent send_urgent(Pid to, T message) {
  return internal::post_from_here(to, internal::make_letter(std::move(message), true), true);
}
/// The same from any thread.
template <class T>
Sent send(Runtime& runtime, Pid to, T message) {
  internal::LetterPtr letter = internal::make_letter(std::move(message));
  return internal::post(internal::scheduler_of(runtime), to, letter, kNever, true);
}

/// Has at most `bound.messages` wait in the running actor's mailbox; signals are exempt.
///
/// Throws: UsageError if that is 0, or on a plain thread.
void bound_mailbox(const Bound& bound);
/// How many messages wait in the running actor's mailbox, and how many a bound has dropped.
[[nodiscard]] std::size_t mailbox_size();
[[nodiscard]] std::uint64_t mailbox_dropped();
/// Messages of a runtime that came too late for their receiver.
[[nodiscard]] std::uint64_t dead_letters(Runtime& runtime) noexcept;

}  // namespace leat::actor
