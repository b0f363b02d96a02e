// What      ask: a question to an actor, and its answer. The type of the question says that of the
//           answer, so a wrong answer does not compile.
// Protocol  struct Get { using Reply = int;  std::string key; };
//           asker:    Asked<int> n = ask(pid, Get{"x"}, milliseconds(5));   if (n) use(*n);
//           answerer: receive(on<Call<Get>>([](Call<Get> call) { call.reply(42); }));
// Invariants
//   (1) A question is answered once at most. If the answerer ends, or drops the call, the asker
//       hears of it at once.
//   (2) An answer that comes after the asker gave up is dropped, and the answerer told: it never
//       enters a mailbox. (What Erlang has aliases for.)
// Cost      Two allocations. The answer is found at once, however many messages wait for the asker.
// Source    Erlang's gen_server:call and aliases; CAF's typed requests.
#pragma once

#include <leat/actor/channel/oneshot.hpp>
#include <leat/actor/mailbox/post.hpp>

#include <optional>
#include <utility>

namespace leat::actor {

/// What is answered when there is nothing to say but that it was done.
struct Done {};

/// A type of question: it says what its answer is.
template <class Q>
concept Question = requires { typename Q::Reply; };

/// Answers one question, once. It may be kept, and handed on, and used by another actor or thread.
template <class R>
class ReplyTo {
 public:
  explicit ReplyTo(Promise<R> promise) noexcept : promise_(std::move(promise)) {}

  /// Never waits. Returns: `closed` if nobody waits for it any more, or it was answered before.
  Sent operator()(R answer) noexcept { return promise_.send(std::move(answer)); }

  [[nodiscard]] bool is_awaited() const noexcept { return promise_.is_awaited(); }

 private:
  Promise<R> promise_;
};

/// A question as it lies in the mailbox.
template <Question Q>
struct Call {
  Q question;
  ReplyTo<typename Q::Reply> reply;
};

enum class AskState : unsigned char {
  ok,
  no_actor,   ///< nobody with that Pid lives
  no_answer,  ///< it ended, or dropped the question
  timed_out,
  full,  ///< its mailbox has no room
};

/// An answer, or why there is none.
template <class R>
struct [[nodiscard]] Asked {
  std::optional<R> value;
  AskState state = AskState::ok;

  explicit operator bool() const noexcept { return value.has_value(); }
  [[nodiscard]] R& operator*() noexcept { return *value; }
};

/// Asks, and does not wait: the answer can be received from what is returned, also by `select`; it
/// is at its end, without an answer, if there will be none.
///
/// Throws: UsageError on a plain thread.
template <Question Q>
Answer<typename Q::Reply> request(Pid to, Q question) {
  auto pair = oneshot<typename Q::Reply>();
  (void)internal::post_from_here(
      to,
      internal::make_letter(
          Call<Q>{std::move(question), ReplyTo<typename Q::Reply>(std::move(pair.promise))}),
      true);
  return std::move(pair.answer);
}

namespace internal {

/// Says for reports whose answer the running actor waits for, while it lives.
class Asking {
 public:
  explicit Asking(Pid whom) noexcept;
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking();
};

}  // namespace internal

/// Asks, and waits for the answer until `deadline`.
///
/// Throws: Cancelled; UsageError on a plain thread.
template <Question Q>
Asked<typename Q::Reply> ask_until(Pid to, Q question, Nanos deadline) {
  auto pair = oneshot<typename Q::Reply>();
  const Sent sent = internal::post_from_here(
      to,
      internal::make_letter(
          Call<Q>{std::move(question), ReplyTo<typename Q::Reply>(std::move(pair.promise))}),
      true);
  if (sent == Sent::closed) return {std::nullopt, AskState::no_actor};
  if (sent != Sent::ok) return {std::nullopt, AskState::full};
  const internal::Asking asking(to);
  std::optional<typename Q::Reply> value = pair.answer.receive_until(deadline);
  if (value) return {std::move(value), AskState::ok};
  if (pair.answer.is_at_end()) return {std::nullopt, AskState::no_answer};
  return {std::nullopt, AskState::timed_out};
}
/// The same, for `time`, or for ever.
template <Question Q>
Asked<typename Q::Reply> ask(Pid to, Q question, Nanos time = kNever) {
  return ask_until(to, std::move(question), time == kNever ? kNever : deadline_after(time));
}

/// The name of an actor of which it is known what it takes: other messages do not compile.
template <class... Messages>
class Ref {
 public:
  Ref() noexcept = default;
  explicit Ref(Pid pid) noexcept : pid_(pid) {}

  [[nodiscard]] Pid pid() const noexcept { return pid_; }

  template <class T>
  Sent send(T message) const {
    static_assert((std::is_same_v<T, Messages> || ...), "this actor takes no such message");
    return actor::send(pid_, std::move(message));
  }
  template <Question Q>
  Asked<typename Q::Reply> ask(Q question, Nanos time = kNever) const {
    static_assert((std::is_same_v<Q, Messages> || ...), "this actor answers no such question");
    return actor::ask(pid_, std::move(question), time);
  }

 private:
  Pid pid_;
};

}  // namespace leat::actor
