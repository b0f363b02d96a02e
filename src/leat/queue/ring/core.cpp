#include <leat/base/check.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/queue/ring/claim.hpp>
#include <leat/queue/ring/core.hpp>
#include <leat/queue/ring/step.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace leat::queue {
namespace {

class OneProcess final : public RingPeers {
 public:
  [[nodiscard]] std::uint64_t self() const noexcept override { return 1; }
  [[nodiscard]] bool is_dead(std::uint64_t) const noexcept override { return false; }
};

void write_text(std::span<Atomic<std::uint64_t>> words, std::string_view text) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t word = 0;
    if (8 * i < text.size()) {
      std::memcpy(&word, text.data() + 8 * i, std::min<std::size_t>(8, text.size() - 8 * i));
    }
    words[i].store_relaxed(word);  // seated orders it
  }
}

std::string read_text(std::span<const Atomic<std::uint64_t>> words) {
  std::string text;
  for (const auto& shared : words) {
    const std::uint64_t word = shared.load_relaxed();  // as write_text
    text.append(reinterpret_cast<const char*>(&word), 8);
  }
  return text.substr(0, text.find('\0'));
}

bool gates(const SeatState& state) noexcept {
  return state.reliable &&
         (state.status == SeatStatus::active || state.status == SeatStatus::making);
}

std::string_view role_name(SeatRole role) noexcept {
  switch (role) {
    case SeatRole::producer:
      return "producer";
    case SeatRole::broadcast:
      return "consumer";
    case SeatRole::member:
      return "member of a group";
    case SeatRole::none:
      break;
  }
  return "nobody";
}

}  // namespace

class RingCore::Lock {
 public:
  static constexpr unsigned kForEver = ~0U;

  explicit Lock(const RingCore& core, unsigned tries_max = kForEver) : word_(core.words_->lock) {
    const std::uint64_t self = core.peers_->self();
    for (unsigned tries = 1; tries < tries_max; ++tries) {
      std::uint64_t holder = 0;
      is_held_ = word_.compare_exchange_strong_acquire(holder, self, registry{}) ||
                 (tries % 64 == 0 && core.peers_->is_dead(holder) &&
                  word_.compare_exchange_strong_acquire(holder, self, registry{}));
      if (is_held_) break;
      spin_pause();
      if (tries % 16 == 0) std::this_thread::yield();
    }
    if (!is_held_) return;
    LEAT_RING_STEP("lock.held");
    // Whatever is still being made was left by a holder who died.
    for (std::uint32_t i = 0; i < core.shape_.groups; ++i) free_unfinished(core.groups_[i].state);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (!is_held_) return;
    LEAT_RING_STEP("lock.giving_back");
    word_.store_release(0, registry{});
  }

 private:
  static void free_unfinished(Atomic<std::uint64_t>& word) noexcept {
    SeatState state = SeatState::of(word.load_relaxed());  // the lock orders it
    if (state.status != SeatStatus::making) return;
    word.store_release(SeatState{.generation = state.generation + 1}.word(), seated{});
  }

  Atomic<std::uint64_t>& word_;
  bool is_held_ = false;

 public:
  [[nodiscard]] bool is_held() const noexcept { return is_held_; }
};

RingCore::RingCore(std::byte* memory, const RingShape& shape,
                   std::shared_ptr<const RingPeers> peers, std::shared_ptr<const void> keep)
    : shape_(shape),
      peers_(std::move(peers)),
      keep_(std::move(keep)),
      unseen_(std::make_unique<RingSeat>()) {
  const RingLayout layout = ring_layout(shape);
  words_ = reinterpret_cast<RingWords*>(memory + layout.words);
  seats_ = reinterpret_cast<RingSeat*>(memory + layout.seats);
  groups_ = reinterpret_cast<RingGroup*>(memory + layout.groups);
  claims_ = reinterpret_cast<Atomic<std::uint64_t>*>(memory + layout.claims);
  slots_ = memory + layout.slots;
}

std::uint64_t RingCore::frontier() const noexcept {
  std::uint64_t next = words_->head.get();
  if (shape_.kind == RingKind::single_producer) return next;
  // The head of many producers is a hint: go on over what is claimed.
  for (;;) {
    const std::uint64_t found = stamp(next).look();
    if (found < stamp::busy(next)) return next;
    const std::uint64_t behind = stamp::sequence(found) + 1;
    if (behind <= next) return next;  // nobody has got so far: it is damaged
    next = behind;
  }
}

std::uint64_t RingCore::resolve(StartAt start) const noexcept {
  switch (start.place) {
    case StartAt::Place::sequence:
      return start.sequence;
    case StartAt::Place::oldest:
      return oldest(frontier());
    case StartAt::Place::latest:
      break;
  }
  return frontier();
}

void RingCore::open_seat(Seated& at, SeatState state, StartAt start) {
  RingSeat& seat = seats_[at.place];
  at.cursor = resolve(start);
  seat.cursor.set(at.cursor);
  LEAT_RING_STEP("sit.cursor_written");
  state.status = SeatStatus::active;
  seat.state.store_release(state.word(), seated{});
  if (!state.reliable) return;
  LEAT_RING_STEP("sit.open");
  if (!LEAT_MUTANT("ring.join_without_epoch")) words_->epoch.fetch_add_acq_rel(1, gate{}, gate{});
  if (start.place != StartAt::Place::latest) return;
  // A producer whose credit was older may have passed the first look: from here on none can.
  at.cursor = frontier();
  seat.cursor.set(at.cursor);
}

Result<RingCore::Seated> RingCore::sit(SeatRole role, std::string_view label, StartAt start,
                                       bool reliable, std::uint64_t group) {
  const std::string what(role_name(role));
  if (label.size() > sizeof(RingSeat::label)) {
    return Error{"ring: asked for a " + what + " labelled \"" + std::string(label) +
                 "\"; found that a label has at most 32 bytes; shorten it"};
  }
  if (reliable && !shape_.reliable) {
    return Error{"ring: asked for a reliable " + what +
                 "; found a ring whose producers wait for nobody; make it with reliable = true"};
  }
  if (observes_) {
    if (role == SeatRole::broadcast && !reliable) {
      return Seated{.place = kNoSeat, .generation = 0, .cursor = resolve(start)};
    }
    return Error{"ring: asked for a " + std::string(reliable ? "reliable " : "") + what +
                 "; found memory that may only be read; join the ring with the right to write"};
  }
  const Lock lock(*this);
  if (role == SeatRole::producer && shape_.kind == RingKind::single_producer) {
    free_dead_seats();
    for (std::uint32_t i = 0; i < shape_.seats; ++i) {
      const SeatState state = state_of(i);
      if (state.status != SeatStatus::active || state.role != SeatRole::producer) continue;
      return Error{"ring: asked for its producer; found that seat " + std::to_string(i) +
                   " has it and is not proven dead; wait until it leaves, or make the ring with "
                   "many_producers"};
    }
    finish_single_producer();
  }
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (std::uint32_t i = 0; i < shape_.seats; ++i) {
      SeatState state = state_of(i);
      if (state.status != SeatStatus::free) continue;
      RingSeat& seat = seats_[i];
      state = {.status = SeatStatus::making,
               .role = role,
               .reliable = reliable,
               .generation = state.generation + 1};
      Seated at{.place = i, .generation = state.generation};
      // Relaxed: `seated` orders them, and in `making` nobody looks at them.
      seat.owner.store_relaxed(peers_->self());
      seat.cursor.note_relaxed(kNone);
      seat.count.store_relaxed(1);
      seat.lost.store_relaxed(0);
      seat.group.store_relaxed(group);
      write_text(seat.label, label);
      LEAT_RING_STEP("sit.owner_written");
      if (role == SeatRole::broadcast) {
        open_seat(at, state, start);
      } else {
        state.status = SeatStatus::active;
        seat.state.store_release(state.word(), seated{});
      }
      LEAT_RING_STEP("sit.done");
      return at;
    }
    if (free_dead_seats().freed == 0) break;
  }
  return Error{"ring: asked for a " + what + "; found all " + std::to_string(shape_.seats) +
               " seats taken by the living; make the ring with more seats"};
}

void RingCore::leave(const Seated& seat) noexcept {
  if (seat.place == kNoSeat) return;
  RingSeat& at = seats_[seat.place];
  std::uint64_t word = at.state.load_acquire(seated{});
  SeatState state = SeatState::of(word);
  if (state.generation != seat.generation || state.status == SeatStatus::free) return;
  // Evicted meanwhile? Then free that: nobody else may.
  while (!at.state.compare_exchange_strong_acq_rel(
      word, SeatState{.generation = seat.generation + 1}.word(), seated{}, seated{})) {
    state = SeatState::of(word);
    if (state.generation != seat.generation || state.status == SeatStatus::free) return;
  }
  if (state.reliable) tell_producers();
  // What a member held is another's now, who may be asleep.
  if (state.role == SeatRole::member && shape_.wakeable) words_->bell.ring();
}

std::uint64_t RingCore::limit(std::uint64_t frontier) noexcept {
  if (!LEAT_MUTANT("ring.limit_without_epoch")) words_->epoch.fetch_add_acq_rel(1, gate{}, gate{});
  std::uint64_t least = frontier;
  if (const Slowest found = slowest();
      found.cursor < least && !LEAT_MUTANT("ring.forget_the_slow")) {
    least = found.cursor;
  }
  return least + shape_.slots;
}

RingCore::Slowest RingCore::slowest() noexcept {
  Slowest least;
  for (std::uint32_t i = 0; i < shape_.seats; ++i) {
    const SeatState state = state_of(i);
    if (!gates(state) || state.role != SeatRole::broadcast) continue;
    const std::uint64_t cursor = seats_[i].cursor.get();
    if (cursor < least.cursor) least = {cursor, i, false};
  }
  for (std::uint32_t i = 0; i < shape_.groups; ++i) {
    if (!gates(group_state(i))) continue;
    const std::uint64_t floor = raise_floor(i);
    if (floor < least.cursor) least = {floor, i, true};
  }
  return least;
}

bool RingCore::evict_slowest(Eviction reason) noexcept {
  const Slowest found = slowest();
  if (found.cursor == kNone) return false;
  return found.is_group ? evict_group(found.place, reason) : evict_seat(found.place, reason);
}

bool RingCore::evict_seat(std::uint32_t place, Eviction reason) noexcept {
  std::uint64_t word = seats_[place].state.load_acquire(seated{});
  SeatState state = SeatState::of(word);
  if (state.status != SeatStatus::active || state.role == SeatRole::producer) return false;
  state.status = SeatStatus::evicted;
  state.reason = reason;
  if (!seats_[place].state.compare_exchange_strong_acq_rel(word, state.word(), seated{},
                                                           seated{})) {
    return false;
  }
  words_->evicted.fetch_add_relaxed(1);  // a count, no more
  tell_producers();
  if (shape_.wakeable) words_->bell.ring();  // it may be asleep
  return true;
}

bool RingCore::evict_group(std::uint32_t place, Eviction reason) noexcept {
  std::uint64_t word = groups_[place].state.load_acquire(seated{});
  SeatState state = SeatState::of(word);
  if (state.status != SeatStatus::active || !state.reliable) return false;
  state.reliable = false;  // it goes on, and may lose
  state.reason = reason;
  if (!groups_[place].state.compare_exchange_strong_acq_rel(word, state.word(), seated{},
                                                            seated{})) {
    return false;
  }
  words_->evicted.fetch_add_relaxed(1);  // a count, no more
  tell_producers();
  return true;
}

std::uint64_t RingCore::headroom() const noexcept {
  const std::uint64_t front = frontier();
  std::uint64_t least = front;
  for (std::uint32_t i = 0; i < shape_.seats; ++i) {
    const SeatState state = state_of(i);
    if (state.status != SeatStatus::active || state.role != SeatRole::broadcast) continue;
    least = std::min(least, seats_[i].cursor.get());
  }
  for (std::uint32_t i = 0; i < shape_.groups; ++i) {
    if (group_state(i).status == SeatStatus::active)
      least = std::min(least, groups_[i].floor.get());
  }
  const std::uint64_t used = front - least;
  return used >= shape_.slots ? 0 : shape_.slots - used;
}

bool RingCore::try_repair() {
  const Lock lock(*this, 10'000);
  return lock.is_held() && free_dead_seats().left == 0;
}

std::size_t RingCore::repair() {
  if (observes_) return 0;
  const Lock lock(*this);
  return free_dead_seats().freed;
}

RingCore::Repaired RingCore::free_dead_seats() {
  Repaired repaired;
  bool producer_died = false;
  for (std::uint32_t i = 0; i < shape_.seats; ++i) {
    const SeatState state = state_of(i);
    if (state.status == SeatStatus::free) continue;
    if (!peers_->is_dead(seats_[i].owner.load_relaxed())) continue;  // `seated` ordered it
    if (state.role == SeatRole::producer) {
      if (shape_.kind == RingKind::many_producers && !bury_in_flight(i)) {
        ++repaired.left;
        continue;
      }
      producer_died = true;
    }
    LEAT_RING_STEP("repair.buried");
    seats_[i].state.store_release(SeatState{.generation = state.generation + 1}.word(), seated{});
    ++repaired.freed;
  }
  if (producer_died && shape_.kind == RingKind::single_producer) finish_single_producer();
  if (repaired.freed > 0) {
    tell_producers();
    if (shape_.wakeable) words_->bell.ring();
  }
  return repaired;
}

bool RingCore::bury_in_flight(std::uint32_t place) {
  // Relaxed: its owner is dead, and the proof of that ordered all it did.
  const std::uint64_t first = seats_[place].cursor.read_relaxed();
  const std::uint64_t count = seats_[place].count.load_relaxed();
  if (first == kNone) return true;
  bool settled = true;
  for (std::uint64_t n = first; n != first + count; ++n) {
    if (stamp(n).look() != stamp::busy(n)) continue;
    if (lives_elsewhere(n)) {
      settled = LEAT_MUTANT("ring.free_unsettled");
    } else if (stamp(n).bury(n)) {
      words_->buried.fetch_add_relaxed(1);  // a count, no more
    }
  }
  return settled;
}

// Two producers may have tried for the same sequence: the one that lost must not be taken for the
// one that won.
bool RingCore::lives_elsewhere(std::uint64_t sequence) const {
  if (LEAT_MUTANT("ring.bury_the_living")) return false;
  for (std::uint32_t i = 0; i < shape_.seats; ++i) {
    const SeatState state = state_of(i);
    if (state.status != SeatStatus::active || state.role != SeatRole::producer) continue;
    // Relaxed: who saw the busy stamp sees what its producer wrote before it.
    const std::uint64_t first = seats_[i].cursor.read_relaxed();
    const std::uint64_t count = seats_[i].count.load_relaxed();
    if (first != kNone && sequence - first < count &&
        !peers_->is_dead(seats_[i].owner.load_relaxed())) {
      return true;
    }
  }
  return false;
}

// The producer is gone: what it published counts, what it had begun does not.
void RingCore::finish_single_producer() {
  std::uint64_t next = words_->head.get();
  for (;; ++next) {
    const std::uint64_t found = stamp(next).look();
    if (found < stamp::busy(next)) break;
    if (stamp(next).bury(next)) words_->buried.fetch_add_relaxed(1);  // a count, no more
  }
  words_->head.set(next);
}

Result<RingCore::Joined> RingCore::join_group(std::string_view name, StartAt start, bool reliable) {
  if (name.empty() || name.size() > sizeof(RingGroup::name)) {
    return Error{"ring: asked for the group \"" + std::string(name) +
                 "\"; found that a group's name has 1 to 64 bytes; choose such a one"};
  }
  if (reliable && !shape_.reliable) {
    return Error{"ring: asked for the reliable group \"" + std::string(name) +
                 "\"; found a ring whose producers wait for nobody; make it with reliable = true"};
  }
  if (observes_) {
    return Error{"ring: asked for the group \"" + std::string(name) +
                 "\"; found memory that may only be read; join the ring with the right to write"};
  }
  const Lock lock(*this);
  if (const auto found = find_group(name)) {
    const SeatState state = group_state(*found);
    if (state.reliable != reliable && state.reason == Eviction::none) {
      return Error{"ring: asked for the group \"" + std::string(name) + "\" as " +
                   (reliable ? "reliable" : "lossy") + "; found that it is " +
                   (state.reliable ? "reliable" : "lossy") + "; all its members must agree"};
    }
    return Joined{*found, state.generation};
  }
  std::uint32_t room = 0;
  while (room < shape_.groups && group_state(room).status != SeatStatus::free) ++room;
  if (room == shape_.groups) {
    return Error{"ring: asked for a further group, \"" + std::string(name) + "\"; found " +
                 std::to_string(shape_.groups) +
                 ", as many as it was made for; make the ring with more groups"};
  }
  RingGroup& group = groups_[room];
  SeatState state{.status = SeatStatus::making,
                  .reliable = reliable,
                  .generation = group_state(room).generation + 1};
  // Relaxed: `seated` orders them.
  group.key.store_relaxed(fnv1a(name));
  write_text(group.name, name);
  group.lost.store_relaxed(0);
  group.redelivered.store_relaxed(0);
  group.skipped.store_relaxed(0);
  std::uint64_t first = resolve(start);
  group.floor.set(first);
  group.state.store_release(state.word(), seated{});
  LEAT_RING_STEP("group.making");
  if (reliable) {
    words_->epoch.fetch_add_acq_rel(1, gate{}, gate{});
    if (start.place == StartAt::Place::latest) first = frontier();
  }
  group.floor.set(first);
  group.next.store_relaxed(first);
  Atomic<std::uint64_t>* const words = claims(room);
  for (std::uint64_t n = first; n != first + shape_.window; ++n) {
    words[n & (shape_.window - 1)].store_relaxed(claim::done(n / shape_.window - 1));
  }
  LEAT_RING_STEP("group.made");
  state.status = SeatStatus::active;
  group.state.store_release(state.word(), seated{});
  return Joined{room, state.generation};
}

std::optional<std::uint32_t> RingCore::find_group(std::string_view name) const {
  const std::uint64_t key = fnv1a(name);
  for (std::uint32_t i = 0; i < shape_.groups; ++i) {
    if (group_state(i).status == SeatStatus::free) continue;
    if (groups_[i].key.load_relaxed() == key && read_text(groups_[i].name) == name) return i;
  }
  return std::nullopt;
}

Result<void> RingCore::remove_group(std::string_view name) {
  const std::string asked = "ring: asked to remove the group \"" + std::string(name) + "\"; found ";
  if (observes_) {
    return Error{asked + "memory that may only be read; join the ring with the right to write"};
  }
  const Lock lock(*this);
  const auto found = find_group(name);
  if (!found) return Error{asked + "none of that name; a ring's report names those there are"};
  free_dead_seats();
  for (std::uint32_t i = 0; i < shape_.seats; ++i) {
    const SeatState state = state_of(i);
    if (state.role != SeatRole::member || state.status == SeatStatus::free) continue;
    if (seats_[i].group.load_relaxed() != *found) continue;  // `seated` ordered it
    return Error{asked + "that seat " + std::to_string(i) +
                 " is a member of it and is not proven dead; wait until it leaves"};
  }
  const std::uint32_t generation = group_state(*found).generation;
  groups_[*found].state.store_release(SeatState{.generation = generation + 1}.word(), seated{});
  tell_producers();
  return {};
}

std::uint64_t RingCore::fast_forward(std::uint32_t place) noexcept {
  RingGroup& group = groups_[place];
  Atomic<std::uint64_t>* const words = claims(place);
  const std::uint64_t end = frontier();
  std::uint64_t skipped = 0;
  std::uint64_t next = group.next.load_relaxed();  // a hint: the words decide
  while (next < end) {
    Atomic<std::uint64_t>& word = words[next & (shape_.window - 1)];
    const std::uint64_t lap = next / shape_.window;
    std::uint64_t found = word.load_acquire(claim::handover{});
    const std::int64_t ahead = claim::ahead(found, lap);
    if (ahead >= 0) {
      ++next;
    } else if (ahead < -1 || !claim::is_done(found)) {
      break;
    } else if (word.compare_exchange_strong_acq_rel(found, claim::done(lap), claim::handover{},
                                                    claim::handover{})) {
      ++next;
      ++skipped;
    }
  }
  if (group.next.load_relaxed() < next) group.next.store_relaxed(next);  // as above
  group.skipped.fetch_add_relaxed(skipped);                              // a count, no more
  raise_floor(place);
  tell_producers();
  return skipped;
}

std::uint64_t RingCore::raise_floor(std::uint32_t place) noexcept {
  RingGroup& group = groups_[place];
  Atomic<std::uint64_t>* const words = claims(place);
  const std::uint64_t floor = group.floor.get();
  if (group_state(place).status != SeatStatus::active) return floor;
  std::uint64_t raised = floor;
  for (; raised != floor + shape_.window; ++raised) {
    const std::uint64_t word = words[raised & (shape_.window - 1)].load_acquire(claim::handover{});
    const std::int64_t ahead = claim::ahead(word, raised / shape_.window);
    if (ahead < 0 || (ahead == 0 && !claim::is_done(word))) break;
  }
  return raised > floor ? group.floor.raise(raised) : floor;
}

// Of two producers that tried for the same sequence both may be named.
MessageRange RingCore::being_written_by(std::uint32_t place) const noexcept {
  std::uint64_t first = words_->head.get();
  std::uint64_t count = shape_.slots;
  if (shape_.kind == RingKind::many_producers) {
    first = seats_[place].cursor.read_relaxed();  // for people
    count = std::min(count, seats_[place].count.load_relaxed());
    if (first == kNone) return {};
  }
  MessageRange writing{first, 0};
  for (std::uint64_t n = first; n != first + count; ++n) {
    const bool busy = stamp(n).look() == stamp::busy(n);
    if (busy) {
      ++writing.count;
    } else if (writing.count > 0 || shape_.kind == RingKind::single_producer) {
      break;
    } else {
      ++writing.first;
    }
  }
  return writing.count > 0 ? writing : MessageRange{};
}

RingReport RingCore::report() const {
  RingReport report;
  report.frontier = frontier();
  report.published = report.frontier;
  if (shape_.kind == RingKind::many_producers) {
    for (std::uint64_t n = oldest(report.frontier); n < report.frontier; ++n) {
      if (stamp(n).look() == stamp::busy(n)) {
        report.published = n;
        break;
      }
    }
  }
  report.buried = words_->buried.load_relaxed();
  report.evicted = words_->evicted.load_relaxed();
  const auto lag = [&](std::uint64_t cursor) {
    return cursor < report.frontier ? report.frontier - cursor : 0;
  };
  for (std::uint32_t i = 0; i < shape_.seats; ++i) {
    const SeatState state = state_of(i);
    if (state.status == SeatStatus::free || state.status == SeatStatus::making) continue;
    RingReport::Seat seat;
    seat.place = i;
    seat.state = state;
    seat.owner = seats_[i].owner.load_relaxed();
    seat.label = read_text(seats_[i].label);
    seat.lost = seats_[i].lost.load_relaxed();
    if (state.role == SeatRole::broadcast) {
      seat.cursor = seats_[i].cursor.read_relaxed();
      seat.lag = lag(seat.cursor);
    } else if (state.role == SeatRole::producer) {
      seat.writing = being_written_by(i);
    }
    if (state_of(i).generation != state.generation) continue;  // somebody else's by now
    report.seats.push_back(std::move(seat));
  }
  for (std::uint32_t i = 0; i < shape_.groups; ++i) {
    const SeatState state = group_state(i);
    if (state.status != SeatStatus::active) continue;
    RingReport::Group group;
    group.place = i;
    group.state = state;
    group.name = read_text(groups_[i].name);
    group.next = groups_[i].next.load_relaxed();
    group.floor = groups_[i].floor.get();
    group.lag = lag(group.next);
    group.lost = groups_[i].lost.load_relaxed();
    group.redelivered = groups_[i].redelivered.load_relaxed();
    group.skipped = groups_[i].skipped.load_relaxed();
    report.groups.push_back(std::move(group));
  }
  return report;
}

std::shared_ptr<const RingPeers> private_ring_peers() {
  static const auto peers = std::make_shared<OneProcess>();
  return peers;
}

std::shared_ptr<RingCore> make_private_ring(const RingShape& shape) {
  const std::size_t bytes = ring_layout(shape).total;
  constexpr std::align_val_t kAlign{4096};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, kAlign));
  std::memset(memory, 0, bytes);
  std::shared_ptr<const void> keep(memory, [](const void* at) {
    ::operator delete(const_cast<void*>(at), std::align_val_t{4096});
  });
  return std::make_shared<RingCore>(memory, shape, private_ring_peers(), std::move(keep));
}

}  // namespace leat::queue
