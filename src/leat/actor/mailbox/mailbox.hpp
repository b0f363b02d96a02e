// What      Mailbox: the letters of one actor, in the order in which they came, by kind.
// Shape     A lane for each kind of letter that ever came, of two lists: what is urgent, and the
//           rest.
//             Ping        | 3 | 7 |           a letter has a number, so that the oldest of several
//             Call<Get>   | 4 | 5 | 6 |       lanes is found by looking at their heads
//             Down        |
// Invariants
//   (1) The owner alone takes letters out, but for OnFull::drop_old; others put them in.
//   (2) Signals are not counted for the bound, and never dropped.
//   (3) While the owner looks through a lane (`looking`), nobody else takes anything out.
// Limits    Internal. Everything is guarded by the actor's lock.
// Cost      To find the oldest letter of some kinds: a look at the head of each lane, however many
//           wait.
// Source    Erlang's receive; lanes by kind in place of its save position are ours.
#pragma once

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/mailbox/letter.hpp>
#include <leat/actor/wait/waiter.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace leat::actor {

struct Actor;
class Scheduler;

class Mailbox {
 public:
  using Letter = internal::Letter;
  using Kind = internal::LetterKind;

  struct List {
    Letter* first = nullptr;
    Letter* last = nullptr;
  };
  struct Lane {
    const Kind* kind;
    List lists[2];  // urgent ones; the others
  };

  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Behind the others, with a number.
  void put(Letter& letter);
  /// Where its number says. Requires: it was here before.
  void put_back(Letter& letter);
  void remove(Letter& letter) noexcept;

  /// The oldest of a kind; null if there is none.
  [[nodiscard]] Letter* first(const Kind& kind) const noexcept;
  /// The oldest of the urgent ones of a kind, or of the others, that came after number `seen`.
  [[nodiscard]] Letter* first_after(const Kind& kind, bool urgent,
                                    std::uint64_t seen) const noexcept;
  /// The number of who came last.
  [[nodiscard]] std::uint64_t last_number() const noexcept { return numbers_; }
  /// The one behind `letter` of its kind.
  [[nodiscard]] Letter* next(const Letter& letter) const noexcept;
  /// The oldest of all.
  [[nodiscard]] Letter* first_of_all() const noexcept;
  /// The oldest that is no signal.
  [[nodiscard]] Letter* first_message() const noexcept;

  /// Which of two comes first: urgent ones, then older ones.
  [[nodiscard]] static std::uint64_t order(const Letter& letter) noexcept {
    return letter.number | (letter.urgent ? 0 : std::uint64_t{1} << 63);
  }

  [[nodiscard]] bool has_room() const noexcept { return messages_ < bound.messages; }
  [[nodiscard]] bool is_bounded() const noexcept {
    return bound.messages != std::numeric_limits<std::size_t>::max();
  }
  /// Called when the owner has taken a letter out.
  void let_senders_go() noexcept {
    if (senders.empty()) return;
    if (is_bounded()) {
      senders.fire_one();
    } else if (messages_ <= few) {
      senders.fire_all();
    }
  }
  [[nodiscard]] std::size_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::size_t size() const noexcept { return messages_ + signals_; }
  [[nodiscard]] const std::vector<Lane>& lanes() const noexcept { return lanes_; }

  Bound bound{std::numeric_limits<std::size_t>::max(), OnFull::fail};
  WaitList senders;  ///< who waits for room, or until there are few enough
  /// Senders of a mailbox without a bound go on when no more are left. See Config::slow_senders_above.
  std::size_t few = 0;
  bool looking = false;  ///< the owner looks through a lane, without the lock
  std::uint64_t dropped = 0;

 private:
  [[nodiscard]] Lane* lane_of(const Kind& kind) noexcept;
  [[nodiscard]] const Lane* lane_of(const Kind& kind) const noexcept;
  void count(const Letter& letter, bool more) noexcept;

  std::vector<Lane> lanes_;
  std::uint64_t numbers_ = 0;
  std::size_t messages_ = 0;
  std::size_t signals_ = 0;
};

namespace internal {

/// The actor's mailbox, made if there is none. Requires: its lock is held, and it lives.
[[nodiscard]] Mailbox& mailbox_of(Actor& actor);

/// Puts a letter into the mailbox of an actor that lives, and wakes it. Requires: its lock is held.
void put_letter(Actor& actor, Letter& letter);

/// Ends a mailbox and all that is in it, without any lock; messages become dead letters.
void end_mailbox(Scheduler& scheduler, Pid owner, Mailbox& mailbox) noexcept;

}  // namespace internal
}  // namespace leat::actor
