#include <leat/actor/mailbox/mailbox.hpp>

#include <leat/actor/scheduler/scheduler.hpp>

namespace leat::actor {

Mailbox::Lane* Mailbox::lane_of(const Kind& kind) noexcept {
  for (Lane& lane : lanes_) {
    if (lane.kind == &kind) return &lane;
  }
  return nullptr;
}
const Mailbox::Lane* Mailbox::lane_of(const Kind& kind) const noexcept {
  return const_cast<Mailbox*>(this)->lane_of(kind);
}

void Mailbox::count(const Letter& letter, bool more) noexcept {
  std::size_t& counter = letter.kind->is_signal ? signals_ : messages_;
  more ? ++counter : --counter;
}

void Mailbox::put(Letter& letter) {
  letter.number = ++numbers_;
  put_back(letter);
}

void Mailbox::put_back(Letter& letter) {
  Lane* lane = lane_of(*letter.kind);
  if (lane == nullptr) lane = &lanes_.emplace_back(Lane{letter.kind, {}});
  List& list = lane->lists[letter.urgent ? 0 : 1];
  // Usually the last; one that comes back lies near the front.
  Letter* before = list.last;
  if (before != nullptr && before->number > letter.number) {
    before = list.first;
    while (before->number < letter.number) before = before->next;
    before = before->previous;
  }
  letter.previous = before;
  letter.next = before == nullptr ? list.first : before->next;
  (letter.previous == nullptr ? list.first : letter.previous->next) = &letter;
  (letter.next == nullptr ? list.last : letter.next->previous) = &letter;
  count(letter, true);
}

void Mailbox::remove(Letter& letter) noexcept {
  List& list = lane_of(*letter.kind)->lists[letter.urgent ? 0 : 1];
  (letter.previous == nullptr ? list.first : letter.previous->next) = letter.next;
  (letter.next == nullptr ? list.last : letter.next->previous) = letter.previous;
  letter.previous = nullptr;
  letter.next = nullptr;
  count(letter, false);
}

Mailbox::Letter* Mailbox::first(const Kind& kind) const noexcept {
  const Lane* const lane = lane_of(kind);
  if (lane == nullptr) return nullptr;
  return lane->lists[0].first != nullptr ? lane->lists[0].first : lane->lists[1].first;
}

Mailbox::Letter* Mailbox::first_after(const Kind& kind, bool urgent,
                                      std::uint64_t seen) const noexcept {
  const Lane* const lane = lane_of(kind);
  if (lane == nullptr) return nullptr;
  const List& list = lane->lists[urgent ? 0 : 1];
  if (seen == 0) return list.first;
  Letter* found = nullptr;
  for (Letter* at = list.last; at != nullptr && at->number > seen; at = at->previous) found = at;
  return found;
}

Mailbox::Letter* Mailbox::next(const Letter& letter) const noexcept {
  if (letter.next != nullptr || !letter.urgent) return letter.next;
  return lane_of(*letter.kind)->lists[1].first;
}

Mailbox::Letter* Mailbox::first_of_all() const noexcept {
  Letter* best = nullptr;
  for (const Lane& lane : lanes_) {
    for (const List& list : lane.lists) {
      if (list.first != nullptr && (best == nullptr || order(*list.first) < order(*best))) {
        best = list.first;
      }
    }
  }
  return best;
}

Mailbox::Letter* Mailbox::first_message() const noexcept {
  Letter* best = nullptr;
  for (const Lane& lane : lanes_) {
    if (lane.kind->is_signal) continue;
    for (const List& list : lane.lists) {
      if (list.first != nullptr && (best == nullptr || list.first->number < best->number)) {
        best = list.first;
      }
    }
  }
  return best;
}

namespace internal {

Mailbox& mailbox_of(Actor& actor) {
  if (actor.mailbox == nullptr) actor.mailbox = new Mailbox();
  return *actor.mailbox;
}

void put_letter(Actor& actor, Letter& letter) {
  mailbox_of(actor).put(letter);
  actor.letter_waiters.fire_one();
}

void end_mailbox(Scheduler& scheduler, Pid owner, Mailbox& mailbox) noexcept {
  for (const Mailbox::Lane& lane : mailbox.lanes()) {
    for (const Mailbox::List& list : lane.lists) {
      for (Letter* letter = list.first; letter != nullptr;) {
        Letter* const next = letter->next;
        if (!letter->kind->is_signal) scheduler.dead_letter(owner, letter->kind->name);
        letter->drop(letter);
        letter = next;
      }
    }
  }
  delete &mailbox;
}

}  // namespace internal
}  // namespace leat::actor
