// What      receive: takes the oldest message that fits out of the running actor's mailbox, and
//           leaves the others where they are.
// Protocol  receive(on<Ping>([](Ping p) { ... }),
//                   when<Order>([](const Order& o) { return o.urgent; }, [](Order o) { ... }),
//                   on<Down>([](Down d) { ... }),
//                   at(deadline, [] { ... }));
//           const Ping ping = receive<Ping>();
// Invariants
//   (1) Of all that fit the oldest is taken, an urgent one before all others; each is taken once.
//   (2) What does not fit stays, in its order.
// Limits    A predicate is asked for each message of its type once in a call; it may do anything
//           but receive. One that throws leaves all where it was.
// Cost      By type: independent of how many wait. By predicate: one call for each of that type.
//           A reply to `ask` does not come through the mailbox at all.
// Source    Erlang's receive.
#pragma once

#include <leat/actor/channel/select.hpp>
#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/wait/waiter.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace leat::actor {

namespace internal {

/// What a letter must be.
struct Pattern {
  const LetterKind* kind = nullptr;  ///< null: any
  bool (*matches)(void* context, Letter& letter) = nullptr;
  void* context = nullptr;
  bool is_time = false;  ///< no letter at all
};

struct Taken {
  LetterPtr letter;  ///< null: the deadline came first
  std::size_t pattern = 0;
};

/// Waits for a letter that fits one of `patterns`, and takes it.
Taken take_letter(std::span<const Pattern> patterns, Nanos deadline);
/// Gives one back, to where it lay. Threads: the actor.
void give_back_letter(LetterPtr letter);

template <class T>
T value_of(LetterPtr letter) noexcept {
  return std::move(static_cast<LetterOf<T>&>(*letter).value);
}

template <class T, class F>
struct KindArm {
  F function;

  [[nodiscard]] Pattern pattern() noexcept { return {&LetterOf<T>::kKind, nullptr, nullptr}; }
  void run(LetterPtr letter) { function(value_of<T>(std::move(letter))); }
  [[nodiscard]] Nanos deadline() const noexcept { return kNever; }
};

template <class T, class P, class F>
struct FitArm {
  P predicate;
  F function;

  [[nodiscard]] Pattern pattern() noexcept {
    return {&LetterOf<T>::kKind,
            [](void* self, Letter& letter) -> bool {
              return static_cast<FitArm*>(self)->predicate(
                  std::as_const(static_cast<LetterOf<T>&>(letter).value));
            },
            this};
  }
  void run(LetterPtr letter) { function(value_of<T>(std::move(letter))); }
  [[nodiscard]] Nanos deadline() const noexcept { return kNever; }
};

template <class F>
struct RestArm {
  F function;

  [[nodiscard]] static Pattern pattern() noexcept { return {}; }
  void run(LetterPtr letter) {
    const std::string_view type = letter->kind->name;
    letter.reset();
    function(type);
  }
  [[nodiscard]] static Nanos deadline() noexcept { return kNever; }
};

template <class Arm>
Pattern pattern_of(Arm& arm) noexcept {
  return arm.pattern();
}
template <class F>
Pattern pattern_of(TimeArm<F>& /*arm*/) noexcept {
  return {.is_time = true};
}
template <class Arm>
void run_arm(Arm& arm, LetterPtr& letter) {
  arm.run(std::move(letter));
}
template <class F>
void run_arm(TimeArm<F>& arm, LetterPtr& /*letter*/) {
  arm.function();
}

}  // namespace internal

/// The oldest message of type T.
template <class T, class F>
[[nodiscard]] internal::KindArm<T, F> on(F function) {
  return {std::move(function)};
}
/// The oldest message of type T for which `predicate(const T&)` says yes.
template <class T, class P, class F>
[[nodiscard]] internal::FitArm<T, P, F> when(P predicate, F function) {
  return {std::move(predicate), std::move(function)};
}
/// Any other message: it is dropped, and `function(type)` called. Put it last.
template <class F>
[[nodiscard]] internal::RestArm<F> otherwise(F function) {
  return {std::move(function)};
}

/// Waits for the first message that fits one of `arms`, and calls its function. One arm may be an
/// `at(deadline, f)`: a deadline that has passed only looks.
///
/// Returns: the place of the arm, from 0.
/// Throws:  Cancelled, if it had to wait; what is called throws; UsageError on a plain thread.
template <class... Arms>
std::size_t receive(Arms... arms) {
  static_assert(sizeof...(Arms) > 0, "receive needs something to wait for");
  const internal::Pattern patterns[] = {internal::pattern_of(arms)...};
  const Nanos deadline = std::min({arms.deadline()...});
  internal::Taken taken = internal::take_letter(patterns, deadline);
  std::size_t place = 0;
  const bool timed = taken.letter == nullptr;
  const auto run = [&](auto& arm) {
    const bool chosen = timed ? patterns[place].is_time : place == taken.pattern;
    if (chosen) {
      internal::run_arm(arm, taken.letter);
    } else {
      ++place;
    }
    return chosen;
  };
  (void)(run(arms) || ...);
  return place;
}

/// Waits for a message of type T.
template <class T>
T receive() {
  const internal::Pattern pattern{.kind = &internal::LetterOf<T>::kKind};
  return internal::value_of<T>(internal::take_letter({&pattern, 1}, kNever).letter);
}
/// The same, until `deadline` (of `now_here()`) only; one that has passed only looks.
template <class T>
std::optional<T> receive_until(Nanos deadline) {
  const internal::Pattern pattern{.kind = &internal::LetterOf<T>::kKind};
  internal::Taken taken = internal::take_letter({&pattern, 1}, deadline);
  if (taken.letter == nullptr) return std::nullopt;
  return internal::value_of<T>(std::move(taken.letter));
}
template <class T>
std::optional<T> receive_for(Nanos time) {
  return receive_until<T>(deadline_after(time));
}

}  // namespace leat::actor
