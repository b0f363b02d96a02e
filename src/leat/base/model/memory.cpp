#include <leat/base/model/memory.hpp>

#include <algorithm>

#include <leat/base/check.hpp>

namespace leat::model::internal {
namespace {

std::string thread_name(int thread) { return "T" + std::to_string(thread); }

std::size_t index_of(int i) { return static_cast<std::size_t>(i); }

}  // namespace

bool ScOrder::fits(const ScSet& before, const ScSet& after) const noexcept {
  if (after.none()) return true;
  if ((before & after).any()) return false;
  for (int i = 0; i < count_; ++i) {
    if (after[index_of(i)] && (follow_[index_of(i)] & before).any()) return false;
  }
  return true;
}

int ScOrder::add(const ScSet& before, const ScSet& after) noexcept {
  const int event = count_++;
  ScSet& mine = follow_[index_of(event)];
  mine = after;
  if (after.any()) {
    for (int i = 0; i < event; ++i) {
      if (after[index_of(i)]) mine |= follow_[index_of(i)];
    }
  }
  for (int i = 0; i < event; ++i) {
    ScSet& theirs = follow_[index_of(i)];
    if (before[index_of(i)] || (theirs & before).any()) {
      theirs |= mine;
      theirs.set(index_of(event));
    }
  }
  return event;
}

void ScOrder::relate(const ScSet& before, const ScSet& after) noexcept {
  if (before.none() || after.none()) return;
  ScSet reached = after;
  for (int i = 0; i < count_; ++i) {
    if (after[index_of(i)]) reached |= follow_[index_of(i)];
  }
  for (int i = 0; i < count_; ++i) {
    ScSet& theirs = follow_[index_of(i)];
    if (before[index_of(i)] || (theirs & before).any()) theirs |= reached;
  }
}

void Memory::reset(int stale_repeats, int promises_max) {
  for (Thread& each : threads_) {
    each.clock = {};
    each.view.clear();
    each.before.reset();
    each.fences.reset();
    each.released = -1;
    each.reads.clear();
  }
  fences_ = 0;
  used_ = 0;
  messages_used_ = 0;
  sc_.reset();
  plains_.clear();
  stored.clear();
  stale_repeats_ = stale_repeats;
  promises_max_ = promises_max;
  promises_open_ = 0;
}

std::uint32_t Memory::tick(int t) { return ++thread(t).clock.at[index_of(t)]; }

void Memory::start_thread(int child, int parent) {
  tick(parent);
  thread(child).clock = thread(parent).clock;
  thread(child).view = thread(parent).view;
  thread(child).before = thread(parent).before;
  thread(child).fences = thread(parent).fences;
  thread(child).released = -1;
  thread(child).reads.clear();
}

void Memory::join_thread(int parent, int child) {
  thread(parent).clock.join(thread(child).clock);
  join_view(thread(parent).view, thread(child).view);
  thread(parent).before |= thread(child).before;
  thread(parent).fences |= thread(child).fences;
  tick(parent);
}

int Memory::find(const void* address) const noexcept {
  for (int i = used_ - 1; i >= 0; --i) {
    if (locations_[index_of(i)].address == address) return i;
  }
  return -1;
}

int Memory::location(const void* address, const Word& raw) {
  if (const int found = find(address); found >= 0) return found;
  create(kNobody, address, raw);
  return used_ - 1;
}

void Memory::create(int t, const void* address, const Word& value) {
  if (const int old = find(address); old >= 0) at(old).address = nullptr;  // the bytes live anew
  if (index_of(used_) == locations_.size()) locations_.emplace_back();
  Location& fresh = locations_[index_of(used_++)];
  fresh.address = address;
  fresh.name.clear();
  fresh.stores.clear();
  fresh.stores.emplace_back().value = value;
  fresh.order.assign(1, 0);
  fresh.accesses.clear();
  fresh.creator = t;
  fresh.created = t == kNobody ? 0 : tick(t);
  fresh.destroyed = false;
  fresh.accessed = {};
  fresh.repeats = {};
}

std::optional<std::string> Memory::destroy(int t, const void* address) {
  const int found = find(address);
  if (found < 0) return std::nullopt;
  tick(t);
  Location& location = at(found);
  location.destroyed = true;
  if (const int other = location.accessed.ahead_of(thread(t).clock); other != kNobody) {
    return thread_name(t) + " destroys the atomic while the last access of " + thread_name(other) +
           " does not happen before that";
  }
  return std::nullopt;
}

std::optional<std::string> Memory::touch(int t, int l) {
  Location& location = at(l);
  location.accessed.at[index_of(t)] = tick(t);
  if (location.destroyed) return thread_name(t) + " uses the atomic after its end";
  if (!thread(t).clock.knows(location.creator, location.created)) {
    return thread_name(t) + " uses the atomic, and its construction by " +
           thread_name(location.creator) + " does not happen before that";
  }
  return std::nullopt;
}

int Memory::floor(int t, int l) {
  const View& view = thread(t).view;
  const int store = index_of(l) < view.size() ? view[index_of(l)] : -1;
  return store < 0 ? 0 : at(l).stores[index_of(store)].position;
}

void Memory::raise(int t, int l, int store) {
  View& view = thread(t).view;
  if (index_of(l) >= view.size()) view.resize(index_of(l) + 1, -1);
  view[index_of(l)] = static_cast<std::int16_t>(store);
}

void Memory::join_view(View& into, const View& from) {
  if (into.size() < from.size()) into.resize(from.size(), -1);
  for (std::size_t l = 0; l < from.size(); ++l) {
    if (from[l] < 0) continue;
    const auto& stores = locations_[l].stores;
    if (into[l] < 0 || stores[index_of(into[l])].position < stores[index_of(from[l])].position) {
      into[l] = from[l];
    }
  }
}

void Memory::join_message(Message& into, const Message& from) {
  into.clock.join(from.clock);
  join_view(into.view, from.view);
  into.before |= from.before;
  into.before_sc |= from.before_sc;
  into.fences |= from.fences;
}

int Memory::new_message() {
  if (index_of(messages_used_) == messages_.size()) messages_.emplace_back();
  Message& fresh = messages_[index_of(messages_used_)];
  fresh.clock = {};
  fresh.view.clear();
  fresh.before.reset();
  fresh.before_sc.reset();
  fresh.fences.reset();
  return messages_used_++;
}

const Message* Memory::carried_by(const Store& store, bool wanted) const {
  return wanted && store.message >= 0 ? &messages_[index_of(store.message)] : nullptr;
}

Memory::Neighbours Memory::neighbours(int t, const Location& location, int p, Kind kind,
                                      const Message* acquired) {
  // Coherence-ordered before, by position: a store, then its readers, then the next store.
  Neighbours sets{thread(t).before, {}, thread(t).fences};
  if (acquired != nullptr) {
    sets.before |= acquired->before_sc;
    sets.fences |= acquired->fences;
  }
  for (const Access& other : location.accesses) {
    if (other.event < 0 && fences_ == 0) continue;
    const int q = location.stores[index_of(other.store)].position;
    bool earlier = q < p;
    bool later = q > p;
    if (q == p) {
      switch (kind) {
        case Kind::read:
          earlier = other.writes;  // two readers of one store are not ordered
          break;
        case Kind::fresh_write:
          later = true;  // the store now at p, and its readers, come behind
          break;
        case Kind::promised_write:
          later = true;  // its readers
          break;
      }
    }
    if (earlier) {
      if (other.event >= 0) sets.before.set(index_of(other.event));
      sets.before |= other.fences;
    }
    if (later) {
      if (other.event >= 0) sets.after.set(index_of(other.event));
      sets.after |= other.behind;
    }
  }
  return sets;
}

bool Memory::fits(int t, const Location& location, int p, Kind kind, const Message* acquired,
                  bool seq_cst) {
  if (!seq_cst && fences_ == 0) return true;
  Neighbours sets = neighbours(t, location, p, kind, acquired);
  if (seq_cst) sets.fences |= sets.before;
  return sc_.fits(sets.fences, sets.after);
}

// Notes an access, whose store is in place, and what follows from it for S. Returns: its number
// there; -1 if it is not seq_cst.
int Memory::enter(int t, Location& location, int p, Kind kind, const Message* acquired,
                  bool seq_cst) {
  int event = -1;
  ScSet fences;
  if (seq_cst || fences_ > 0) {
    if (sc_.full()) return event;  // the engine stops this execution
    const Kind placed = kind == Kind::fresh_write ? Kind::promised_write : kind;
    const Neighbours sets = neighbours(t, location, p, placed, acquired);
    fences = sets.fences;
    sc_.relate(sets.fences, sets.after);
    if (seq_cst) {
      event = sc_.add(sets.before, sets.after);
      thread(t).before |= sets.before;
      thread(t).before.set(index_of(event));
    }
  }
  location.accesses.push_back({event,
                               location.order[index_of(p)],
                               kind != Kind::read,
                               t,
                               thread(t).clock.at[index_of(t)],
                               fences,
                               {}});
  return event;
}

// [atomics.fences] and [atomics.order] 4.
void Memory::fence(int t, Order order) {
  tick(t);
  Thread& me = thread(t);
  ScSet before = me.before;  // what the fence acquires precedes what follows, not the fence itself
  if (order.acquire) {
    for (const Read& each : me.reads) {
      Store& store = at(each.location).stores[index_of(each.store)];
      acquire(t, carried_by(store, true));
      for (Store::Reader& reader : store.readers) reader.acquire |= reader.thread == t;
    }
    me.reads.clear();
  }
  const int made = order.release ? new_message() : -1;
  if (order.release) {
    message(made).clock = me.clock;
    message(made).view = me.view;
    message(made).before = me.before;
    me.released = made;
  }
  if (order.seq_cst && !sc_.full()) {
    const auto rank = [](const Location& location, const Access& access) {
      return 2 * location.stores[index_of(access.store)].position + (access.writes ? 0 : 1);
    };
    for (int l = 0; l < used_; ++l) {
      int highest = -1;
      for (const Access& access : at(l).accesses) {
        if (!me.clock.knows(access.thread, access.time)) continue;
        highest = std::max(highest, rank(at(l), access));
      }
      for (const Access& access : at(l).accesses) {
        if (rank(at(l), access) >= highest) continue;
        if (access.event >= 0) before.set(index_of(access.event));
        before |= access.fences;
      }
    }
    const int event = sc_.add(before, {});
    for (int l = 0; l < used_; ++l) {
      for (Access& access : at(l).accesses) {
        if (me.clock.knows(access.thread, access.time)) access.behind.set(index_of(event));
      }
    }
    me.before |= before;
    me.before.set(index_of(event));
    me.fences.set(index_of(event));
    ++fences_;
  }
  if (order.release) message(made).fences = me.fences;
}

void Memory::load_places(int t, int l, Order order, std::vector<Place>& out) {
  out.clear();
  Location& location = at(l);
  const int newest = static_cast<int>(location.order.size()) - 1;
  const int lowest = floor(t, l);
  const Location::Repeat& repeat = location.repeats[index_of(t)];
  for (int p = newest; p >= lowest; --p) {
    const int index = location.order[index_of(p)];
    const Store& store = location.stores[index_of(index)];
    if (p < newest) {
      if (repeat.store == index && repeat.count >= stale_repeats_) continue;
      if (!fits(t, location, p, Kind::read, carried_by(store, order.acquire), order.seq_cst)) {
        continue;
      }
    }
    out.push_back({Place::Kind::normal, p, store.value});
  }
  promise_places(t, l, order, out);
}

// The values that somebody may yet store, each right behind any position that the thread may read.
void Memory::promise_places(int t, int l, Order order, std::vector<Place>& out) {
  Location& location = at(l);
  const int newest = static_cast<int>(location.order.size()) - 1;
  if (promises_open_ >= promises_max_ || index_of(l) >= futures.size()) return;
  for (const Future& future : futures[index_of(l)]) {
    if ((future.writers & ~(1U << t)) == 0) continue;
    for (int p = newest; p >= floor(t, l); --p) {
      if (p < newest) {
        if (location.stores[index_of(location.order[index_of(p + 1)])].modifies) continue;
        if (!fits(t, location, p + 1, Kind::fresh_write, nullptr, order.seq_cst)) continue;
      }
      out.push_back({Place::Kind::promise, p, future.value});
    }
  }
}

Word Memory::load(int t, int l, Order order, const Place& place) {
  return read(t, l, order, place, false);
}

// The load, whole or the first half of a read-modify-write.
Word Memory::read(int t, int l, Order order, const Place& place, bool modifies) {
  Location& location = at(l);
  int p = place.position;
  if (place.kind == Place::Kind::promise) p = promise(location, p, place.value);
  const int index = location.order[index_of(p)];
  Store& store = location.stores[index_of(index)];
  if (unsettled(location, p)) {
    store.readers.push_back({t, thread(t).clock.at[index_of(t)], order.acquire});
  }
  Location::Repeat& repeat = location.repeats[index_of(t)];
  const bool stale = index_of(p) + 1 < location.order.size();
  repeat.count = !stale ? 0 : repeat.store == index ? repeat.count + 1 : 1;
  repeat.store = index;

  const Message* acquired = carried_by(store, order.acquire);
  if (!modifies) enter(t, location, p, Kind::read, acquired, order.seq_cst);
  raise(t, l, index);
  acquire(t, acquired);
  if (store.message >= 0 || unsettled(location, p)) thread(t).reads.push_back({l, index});
  return store.value;
}

void Memory::acquire(int t, const Message* acquired) {
  if (acquired == nullptr) return;
  thread(t).clock.join(acquired->clock);
  join_view(thread(t).view, acquired->view);
  // Not before_sc: a seq_cst store that is acquired by a weaker load does not strongly happen
  // before what follows.
  thread(t).before |= acquired->before;
  thread(t).fences |= acquired->fences;
}

// Makes the promise that somebody stores `value` right behind position `p`. Returns: its position.
int Memory::promise(Location& location, int p, const Word& value) {
  Store& store = location.stores[index_of(insert(location, p + 1))];
  store.value = value;
  store.promised = true;
  ++promises_open_;
  return p + 1;
}

// Whether what the store at `p` synchronises with is open: it is promised, or modifies one that is.
bool Memory::unsettled(const Location& location, int p) const {
  if (promises_open_ == 0) return false;
  for (;; --p) {
    const Store& store = location.stores[index_of(location.order[index_of(p)])];
    if (store.promised) return true;
    if (!store.modifies) return false;
  }
}

bool Memory::may_fulfil(int t, const Location& location, int p, const Word& value, Order order,
                        bool synchronises) {
  const Store& promise = location.stores[index_of(location.order[index_of(p)])];
  if (!promise.promised || promise.value != value) return false;
  for (std::size_t q = index_of(p); q < location.order.size(); ++q) {
    const Store& store = location.stores[index_of(location.order[q])];
    if (q > index_of(p) && !store.modifies) break;
    for (const Store::Reader& reader : store.readers) {
      if (thread(t).clock.knows(reader.thread, reader.time)) return false;  // it read before
      if (synchronises && reader.acquire) return false;                     // see Limits
    }
  }
  return fits(t, location, p, Kind::promised_write, nullptr, order.seq_cst);
}

// The store at `p` has come true: those that modify it continue its release sequence.
void Memory::settle(Location& location, int p) {
  const int head = location.stores[index_of(location.order[index_of(p)])].message;
  if (head < 0) return;
  for (std::size_t q = index_of(p) + 1; q < location.order.size(); ++q) {
    Store& store = location.stores[index_of(location.order[q])];
    if (!store.modifies) return;
    if (store.message < 0) {
      store.message = head;
      continue;
    }
    const int both = new_message();
    message(both) = message(store.message);
    join_message(message(both), message(head));
    store.message = both;
  }
}

void Memory::store_places(int t, int l, const Word& value, Order order, std::vector<Place>& out) {
  out.clear();
  Location& location = at(l);
  const int end = static_cast<int>(location.order.size());
  for (int p = end; p > floor(t, l); --p) {
    if (p < end) {
      if (may_fulfil(t, location, p, value, order, order.release || thread(t).released >= 0)) {
        out.push_back({Place::Kind::fulfil, p, value});
      }
      if (location.stores[index_of(location.order[index_of(p)])].modifies) continue;
      if (!fits(t, location, p, Kind::fresh_write, nullptr, order.seq_cst)) continue;
    }
    out.push_back({Place::Kind::normal, p, value});
  }
}

void Memory::store(int t, int l, const Word& value, Order order, const Place& place) {
  write(t, l, value, order, place.position, place.kind == Place::Kind::fulfil, -1, false);
}

int Memory::insert(Location& location, int position) {
  const int index = static_cast<int>(location.stores.size());
  location.stores.emplace_back();
  location.order.insert(location.order.begin() + position, index);
  for (std::size_t q = index_of(position); q < location.order.size(); ++q) {
    location.stores[index_of(location.order[q])].position = static_cast<int>(q);
  }
  return index;
}

// What a store carries to those who acquire it. `before` is what its thread knew of S before it,
// `event` its own number there, `carried` the message of the release sequence it continues.
int Memory::make_message(int t, Order order, const ScSet& before, int event, int carried) {
  if (!order.release) {
    const int released = thread(t).released;
    if (released < 0) return carried;
    if (carried < 0) return released;
    const int joined = new_message();
    message(joined) = message(released);
    join_message(message(joined), message(carried));
    return joined;
  }
  const int made = new_message();
  Message& fresh = message(made);
  fresh.clock = thread(t).clock;
  fresh.view = thread(t).view;
  fresh.before = before;
  fresh.fences = thread(t).fences;
  if (order.seq_cst && event >= 0) {
    fresh.before_sc = before;
    fresh.before_sc.set(index_of(event));
  }
  if (carried >= 0) join_message(fresh, message(carried));
  return made;
}

void Memory::write(int t, int l, const Word& value, Order order, int position, bool fulfils,
                   int carried, bool modifies) {
  Location& location = at(l);
  const int index = fulfils ? location.order[index_of(position)] : insert(location, position);
  Store& store = location.stores[index_of(index)];
  store.value = value;
  store.writer = t;
  store.time = thread(t).clock.at[index_of(t)];
  store.modifies = modifies;
  if (fulfils) {
    store.promised = false;
    --promises_open_;
  }
  raise(t, l, index);
  const ScSet before = thread(t).before;
  const int event =
      enter(t, location, position, Kind::promised_write,
            carried >= 0 && order.acquire ? &message(carried) : nullptr, order.seq_cst);
  location.stores[index_of(index)].message = make_message(t, order, before, event, carried);
  if (fulfils) settle(location, position);
  note_stored(t, l, value);
}

void Memory::note_stored(int t, int l, const Word& value) {
  if (promises_max_ == 0) return;
  if (index_of(l) >= stored.size()) stored.resize(index_of(l) + 1);
  for (Future& each : stored[index_of(l)]) {
    if (each.value == value) {
      each.writers |= 1U << t;
      return;
    }
  }
  stored[index_of(l)].push_back({value, 1U << t});
}

void Memory::add_stored(std::vector<std::vector<Future>>& to) const {
  if (to.size() < stored.size()) to.resize(stored.size());
  for (std::size_t l = 0; l < stored.size(); ++l) {
    for (const Future& each : stored[l]) {
      const auto same = std::find_if(to[l].begin(), to[l].end(), [&](const Future& other) {
        return other.value == each.value;
      });
      if (same == to[l].end()) {
        to[l].push_back(each);
      } else {
        same->writers |= each.writers;
      }
    }
  }
}

void Memory::modify_places(int t, int l, const Change& change, bool weak, Order order,
                           std::vector<Place>& out) {
  out.clear();
  Location& location = at(l);
  const int newest = static_cast<int>(location.order.size()) - 1;
  const int lowest = floor(t, l);
  const Location::Repeat& repeat = location.repeats[index_of(t)];
  const Order failed{.acquire = order.acquire, .seq_cst = order.seq_cst};
  bool spurious = weak;
  for (int p = newest; p >= lowest; --p) {
    const int index = location.order[index_of(p)];
    const Store& store = location.stores[index_of(index)];
    const std::optional<Word> made = change.make(change.context, store.value);
    if (!made) {
      if (p < newest) {
        if (repeat.store == index && repeat.count >= stale_repeats_) continue;
        if (!fits(t, location, p, Kind::read, carried_by(store, failed.acquire), failed.seq_cst)) {
          continue;
        }
      }
      out.push_back({Place::Kind::failed, p, store.value});
      continue;
    }
    if (p < newest) {
      const Store& next = location.stores[index_of(location.order[index_of(p + 1)])];
      if (may_fulfil(t, location, p + 1, *made, order,
                     order.release || thread(t).released >= 0 || store.message >= 0)) {
        out.push_back({Place::Kind::fulfil, p, store.value});
      }
      if (next.modifies) continue;  // another one has taken it
      if (!fits(t, location, p + 1, Kind::fresh_write, carried_by(store, order.acquire),
                order.seq_cst)) {
        continue;
      }
    }
    out.push_back({Place::Kind::normal, p, store.value});
    if (spurious) out.push_back({Place::Kind::spurious, p, store.value});
    spurious = false;
  }
  promise_places(t, l, order, out);
}

Modified Memory::modify(int t, int l, const Change& change, Order order, const Place& place) {
  if (place.kind == Place::Kind::failed || place.kind == Place::Kind::spurious) {
    const Order failed{.acquire = order.acquire, .seq_cst = order.seq_cst && order.acquire};
    const Word before = load(t, l, failed, {Place::Kind::normal, place.position, {}});
    return {before, newest(l), false};
  }
  int p = place.position;
  if (place.kind == Place::Kind::promise) {
    p = promise(at(l), p, place.value);
    if (!change.make(change.context, place.value)) {
      return modify(t, l, change, order, {Place::Kind::failed, p, place.value});
    }
  }
  // The load half is not an operation of its own in S: the whole enters it once, as a write. What
  // it acquires comes last, because it happens before what follows, not before the operation
  // itself.
  const int carried = at(l).stores[index_of(at(l).order[index_of(p)])].message;
  const Word before = read(t, l, kRelaxed, {Place::Kind::normal, p, {}}, true);
  if (order.acquire && unsettled(at(l), p)) {
    at(l).stores[index_of(at(l).order[index_of(p)])].readers.back().acquire = true;
  }
  write(t, l, *change.make(change.context, before), order, p + 1, place.kind == Place::Kind::fulfil,
        carried, true);
  if (order.acquire && carried >= 0) acquire(t, &message(carried));
  return {before, newest(l), true};
}

const Word& Memory::newest(int l) const {
  const Location& location = locations_[index_of(l)];
  return location.stores[index_of(location.order.back())].value;
}

void Memory::looked_at_newest(int t, int l) { raise(t, l, at(l).order.back()); }

void Memory::plain_create(int t, const void* address) {
  Plain* found = nullptr;
  for (Plain& each : plains_) {
    if (each.address == address) found = &each;
  }
  if (found == nullptr) found = &plains_.emplace_back();
  *found = {address, t, tick(t), {}};
}

std::optional<std::string> Memory::plain_read(int t, const void* address) {
  const std::uint32_t now = tick(t);
  for (Plain& each : plains_) {
    if (each.address != address) continue;
    each.reads.at[index_of(t)] = now;
    if (thread(t).clock.knows(each.writer, each.written)) return std::nullopt;
    return "data race: " + thread_name(t) + " reads plain data, and the last write by " +
           thread_name(each.writer) + " does not happen before that";
  }
  Plain& fresh = plains_.emplace_back();
  fresh.address = address;
  fresh.reads.at[index_of(t)] = now;
  return std::nullopt;
}

std::optional<std::string> Memory::plain_write(int t, const void* address) {
  const std::uint32_t now = tick(t);
  for (Plain& each : plains_) {
    if (each.address != address) continue;
    std::optional<std::string> wrong;
    if (!thread(t).clock.knows(each.writer, each.written)) {
      wrong = "data race: " + thread_name(t) + " writes plain data, and the last write by " +
              thread_name(each.writer) + " does not happen before that";
    } else if (const int reader = each.reads.ahead_of(thread(t).clock); reader != kNobody) {
      wrong = "data race: " + thread_name(t) + " writes plain data, and the last read by " +
              thread_name(reader) + " does not happen before that";
    }
    each.writer = t;
    each.written = now;
    each.reads = {};
    return wrong;
  }
  plains_.push_back({address, t, now, {}});
  return std::nullopt;
}

}  // namespace leat::model::internal
