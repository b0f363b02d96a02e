// What      select: waits for the first of several things: messages, answers, a time.
// Protocol  select(on(orders, [&](std::optional<Order> o) { ... }),
//                  on(answer, [&](std::optional<int> a) { ... }),
//                  at(deadline, [&] { ... }));
//           Calls the function of one that is ready, and returns its place. An end that can give
//           nothing any more is ready, with nullopt.
// Invariants
//   (1) Exactly one function is called; nothing is taken from the others.
//   (2) Of several that are ready each is as likely as any other.
// Limits    One `at` at most; of several, the earliest that stands first wins.
// Cost      One lock for each end that is looked at; if none is ready, one allocation.
#pragma once

#include <leat/actor/wait/waiter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace leat::actor {
namespace internal {

template <class End, class F>
struct ReceiveArm {
  End& end;
  F function;

  [[nodiscard]] bool is_ready(Nanos /*now*/) const noexcept { return false; }
  bool try_run() {
    // A message, or the end of all: a message may come between the two looks, so it is looked for
    // once more.
    std::optional<typename End::Message> message = end.try_receive();
    if (!message) {
      if (!end.is_at_end()) return false;
      message = end.try_receive();
    }
    function(std::move(message));
    return true;
  }
  [[nodiscard]] bool enlist(Waiter& waiter) { return end.enlist(waiter); }
  void withdraw(Waiter& waiter) { end.withdraw(waiter); }
  [[nodiscard]] Nanos deadline() const noexcept { return kNever; }
};

template <class F>
struct TimeArm {
  Nanos when;
  F function;

  bool try_run() {
    if (when == kNever || now_here() < when) return false;
    function();
    return true;
  }
  [[nodiscard]] bool enlist(Waiter& /*waiter*/) const noexcept { return true; }
  void withdraw(Waiter& /*waiter*/) const noexcept {}
  [[nodiscard]] Nanos deadline() const noexcept { return when; }
};

/// A number that is different each time, for fairness.
[[nodiscard]] std::uint32_t next_turn() noexcept;

template <class Tuple, class Call, std::size_t... I>
bool call_at(Tuple& arms, std::size_t place, Call&& call, std::index_sequence<I...> /*all*/) {
  bool result = false;
  (void)((I == place ? (result = call(std::get<I>(arms)), true) : false) || ...);
  return result;
}

}  // namespace internal

/// When `end` (a Receiver or an Answer) gives a message or is at its end. Not owned.
template <class End, class F>
[[nodiscard]] internal::ReceiveArm<End, F> on(End& end, F function) {
  return {end, std::move(function)};
}

/// When `when` (of `now_here()`) has come.
template <class F>
[[nodiscard]] internal::TimeArm<F> at(Nanos when, F function) {
  return {when, std::move(function)};
}

/// Waits for the first of `arms` and calls its function.
///
/// Returns: its place, from 0. Throws: Cancelled, if it had to wait; what the function throws.
/// Threads: actors and plain threads.
template <class... Arms>
std::size_t select(Arms... arms) {
  constexpr std::size_t kArms = sizeof...(Arms);
  static_assert(kArms > 0, "select needs something to wait for");
  constexpr auto kAll = std::make_index_sequence<kArms>();
  std::tuple<Arms...> all(std::move(arms)...);
  const Nanos deadline =
      std::apply([](const auto&... arm) { return std::min({arm.deadline()...}); }, all);
  std::unique_ptr<Waiter[]> waiters;  // not on the stack: others touch them while we sleep
  for (;;) {
    const std::size_t first = internal::next_turn() % kArms;
    for (std::size_t i = 0; i < kArms; ++i) {
      const std::size_t place = (first + i) % kArms;
      if (internal::call_at(all, place, [](auto& arm) { return arm.try_run(); }, kAll)) {
        return place;
      }
    }
    check_cancelled();
    if (waiters == nullptr) waiters = std::make_unique<Waiter[]>(kArms);
    std::size_t enlisted = 0;
    bool must_look = false;
    const auto withdraw_all = [&] {
      for (std::size_t i = 0; i < enlisted; ++i) {
        internal::call_at(
            all, i,
            [&](auto& arm) {
              arm.withdraw(waiters[i]);
              return true;
            },
            kAll);
      }
    };
    for (; enlisted < kArms && !must_look; ++enlisted) {
      Waiter& waiter = waiters[enlisted];
      waiter.who = who_is_here();
      waiter.listed = false;
      must_look =
          !internal::call_at(all, enlisted, [&](auto& arm) { return arm.enlist(waiter); }, kAll);
    }
    if (!must_look) {
      note_wait({WaitKind::selection}, deadline);
      doze(deadline);
    }
    withdraw_all();
  }
}

}  // namespace leat::actor
