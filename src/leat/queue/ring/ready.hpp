// What      RingReady: a descriptor that becomes readable when there is something for an end of a
//           ring, whoever produced it, also in another process. For a loop that waits for descriptors
//           (poll, epoll) and should wait for a ring as well.
// Shape     auto ready = RingReady::of(consumer).value();
//           epoll adds ready.descriptor();
//           loop:  do {
//                    while (consumer.try_pop(message) == Pull::ok) use(message);
//                  } while (!ready.arm(consumer));
//                  wait for descriptors
// Protocol  A thread of its own sleeps on the ring's bell in the place of the loop. `arm` says to it
//           what the end waits for; when that is there, it makes the descriptor readable, once, and
//           sleeps until it is armed again. A producer does nothing for it that it does not do for
//           any sleeper.
// Invariants
//   (1) What comes after `arm` makes the descriptor readable; what was there before makes it say no.
// Limits    Needs a wakeable ring and the right to write to it. A producer that is killed just before
//           it wakes sleepers is noticed after a tenth of a second. That a consumer was sent away, or
//           that a member of a group left something to others, shows when the loop looks by itself.
// Threads   `arm` and `clear` by the end's own; the descriptor by any.
// Cost      A thread that sleeps, for each. A message to a loop that waits takes two wakes in place of
//           one.
// Source    Ours; an eventfd behind an event count. Flux's tiles register a waker with each producer of
//           their own process.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/function.hpp>
#include <leat/base/result.hpp>
#include <leat/queue/ring/core.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace leat::queue {

/// An end that can say what it waits for.
template <class End>
concept RingWaiter = requires(const End& end) {
  { end.awaited().is_there() } -> std::same_as<bool>;
  { *end.awaited().bell } -> std::same_as<RingBell&>;
  { end.can_sleep() } -> std::same_as<bool>;
  { end.memory() } -> std::convertible_to<std::shared_ptr<const void>>;
};

class RingReady {
 public:
  /// Errors: the ring is not wakeable, or may only be looked at; no descriptor is left.
  template <RingWaiter End>
  [[nodiscard]] static Result<RingReady> of(const End& end) {
    if (!end.can_sleep()) {
      return Error{
          "ring: asked for a descriptor that tells of messages; found a ring on which nobody can "
          "sleep; make it with wakeable = true, and join it with the right to write"};
    }
    return on(*end.awaited().bell, end.memory());
  }

  RingReady(RingReady&&) noexcept;
  RingReady& operator=(RingReady&&) noexcept;
  /// Ends its thread.
  ~RingReady();

  /// Readable from when something is there until `clear` or `arm`.
  [[nodiscard]] int descriptor() const noexcept;

  /// Clears the descriptor and has it become readable when something is there for `end`.
  ///
  /// Requires: the end that it was made of. Returns: false if something is there already: then it is
  ///           not armed, and nothing will come of it.
  template <RingWaiter End>
  bool arm(const End& end) {
    const auto awaited = end.awaited();
    LEAT_CHECK(awaited.bell == bell(), "a descriptor of a ring is armed for another ring");
    clear();
    if (awaited.is_there()) return false;
    arm_for([awaited] { return awaited.is_there(); });
    return true;
  }

  /// Makes the descriptor not readable, and forgets what it was armed for.
  void clear();

 private:
  class Watch;

  explicit RingReady(std::unique_ptr<Watch> watch) noexcept;
  [[nodiscard]] static Result<RingReady> on(RingBell& bell, std::shared_ptr<const void> memory);
  [[nodiscard]] const RingBell* bell() const noexcept;
  void arm_for(Function<bool()> is_there);

  std::unique_ptr<Watch> watch_;
};

}  // namespace leat::queue
