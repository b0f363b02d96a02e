// What      What the kits share: the patterns for a list of messages, and the way from a letter to
//           the handler of its type.
// Limits    Internal.
#pragma once

#include <leat/actor/mailbox/ask.hpp>
#include <leat/actor/mailbox/receive.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::actor {

/// What an actor takes: types of messages and of questions.
template <class... M>
struct Messages {};

namespace internal {

template <class M>
struct AsLies {
  using Type = M;
};
template <Question M>
struct AsLies<M> {
  using Type = Call<M>;
};

template <class List>
struct RefTo;
template <class... M>
struct RefTo<Messages<M...>> {
  using Type = Ref<M...>;
};

/// A message that nobody takes is dropped here, and counted.
void drop_unexpected(const LetterKind& kind);
void register_own_name(std::string_view name);

template <class Self, class T>
concept Handles = requires(Self& self, T value) { self.handle(std::move(value)); };

// A question's answer is returned, or given later.
template <class Self, class M>
void hand_over(Self& self, Letter& letter) {
  using Lies = typename AsLies<M>::Type;
  Lies& value = static_cast<LetterOf<Lies>&>(letter).value;
  if constexpr (Question<M>) {
    using R = typename M::Reply;
    if constexpr (requires { self.handle(std::move(value.question), std::move(value.reply)); }) {
      self.handle(std::move(value.question), std::move(value.reply));
    } else {
      static_assert(std::convertible_to<decltype(self.handle(std::move(value.question))), R>,
                    "handle(Q) returns Q::Reply, or it takes a ReplyTo<Q::Reply> besides");
      (void)value.reply(self.handle(std::move(value.question)));
    }
  } else {
    self.handle(std::move(value));
  }
}

template <class Self, class T>
constexpr LetterKind const* signal_kind() {
  // A pattern that no letter fits, where the class does not handle it.
  struct Never {};
  if constexpr (Handles<Self, T>) {
    return &LetterOf<T>::kKind;
  } else {
    return &LetterOf<Never>::kKind;
  }
}

template <class Self, class... M>
Taken take_of(Messages<M...> /*takes*/, Nanos deadline) {
  const Pattern patterns[] = {{.kind = &LetterOf<typename AsLies<M>::Type>::kKind}...,
                              {.kind = signal_kind<Self, Signal>()},
                              {.kind = signal_kind<Self, Down>()},
                              {.kind = signal_kind<Self, ExitSignal>()},
                              {}};
  return take_letter(patterns, deadline);
}
template <class Self>
Taken take_for(Nanos deadline) {
  return take_of<Self>(typename Self::Takes(), deadline);
}

template <class Self, class T>
void hand_signal(Self& self, Letter& letter) {
  if constexpr (Handles<Self, T>) self.handle(std::move(static_cast<LetterOf<T>&>(letter).value));
}

template <class Self, class... M>
void dispatch_of(Self& self, Taken& taken, Messages<M...> /*takes*/) {
  using Hand = void (*)(Self&, Letter&);
  static constexpr Hand kHands[] = {&hand_over<Self, M>..., &hand_signal<Self, Signal>,
                                    &hand_signal<Self, Down>, &hand_signal<Self, ExitSignal>};
  if (taken.pattern < std::size(kHands)) {
    kHands[taken.pattern](self, *taken.letter);
  } else if constexpr (requires { self.unexpected(std::string_view()); }) {
    self.unexpected(taken.letter->kind->name);
  } else {
    drop_unexpected(*taken.letter->kind);
  }
}
/// Calls the handler of a letter's type.
template <class Self>
void dispatch(Self& self, Taken& taken) {
  dispatch_of(self, taken, typename Self::Takes());
}

}  // namespace internal
}  // namespace leat::actor
