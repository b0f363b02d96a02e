#include <leat/actor/mailbox/receive.hpp>

#include <leat/actor/mailbox/mailbox.hpp>
#include <leat/actor/scheduler/actor.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/wait/wait.hpp>

namespace leat::actor::internal {
namespace {

// Holds off who would drop an old letter while we look at one without the lock.
class Looking {
 public:
  explicit Looking(Mailbox& box) noexcept : box_(box) { box_.looking = true; }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;
  ~Looking() { box_.looking = false; }

 private:
  Mailbox& box_;
};

// The oldest that fits, of those that came after `seen`; not looked for beyond `best`.
Letter* first_fitting(ObjectLock::Guard& guard, Mailbox& box, const Pattern& pattern,
                      std::uint64_t seen, const Letter* best) {
  if (pattern.is_time) return nullptr;
  if (pattern.kind == nullptr) return box.first_of_all();
  if (pattern.matches == nullptr) return box.first(*pattern.kind);
  const Looking looking(box);
  for (const bool urgent : {true, false}) {
    for (Letter* letter = box.first_after(*pattern.kind, urgent, seen); letter != nullptr;
         letter = letter->next) {
      if (best != nullptr && Mailbox::order(*best) < Mailbox::order(*letter)) return nullptr;
      guard.unlock();
      bool fits = false;
      try {
        fits = pattern.matches(pattern.context, *letter);
      } catch (...) {
        guard.lock();
        throw;
      }
      guard.lock();
      if (fits) return letter;
    }
  }
  return nullptr;
}

}  // namespace

Taken take_letter(std::span<const Pattern> patterns, Nanos deadline) {
  Actor& self = actor_here("receive");
  std::uint64_t seen = 0;
  bool timed_out = false;
  ObjectLock::Guard guard(self.lock);
  for (;;) {
    if (Mailbox* const box = self.mailbox) {
      const std::uint64_t newest = box->last_number();
      Letter* best = nullptr;
      std::size_t which = 0;
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        Letter* const found = first_fitting(guard, *box, patterns[i], seen, best);
        if (found != nullptr &&
            (best == nullptr || Mailbox::order(*found) < Mailbox::order(*best))) {
          best = found;
          which = i;
        }
      }
      if (best != nullptr) {
        box->remove(*best);
        if (best->watched != Letter::Watched::no) best->watched = Letter::Watched::in_hand;
        box->let_senders_go();
        return {LetterPtr(best), which};
      }
      seen = newest;
      if (box->last_number() != newest) continue;  // some came while we looked
    }
    if (timed_out || deadline == Nanos::min()) return {};
    timed_out = wait(guard, self.letter_waiters, deadline, {WaitKind::letter}) == Waited::timed_out;
  }
}

void give_back_letter(LetterPtr letter) {
  Actor& self = actor_here("receive");
  const ObjectLock::Guard guard(self.lock);
  if (letter->watched != Letter::Watched::no) letter->watched = Letter::Watched::delivered;
  mailbox_of(self).put_back(*letter.release());
}

}  // namespace leat::actor::internal
