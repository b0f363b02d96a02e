#include <leat/core/timers.hpp>

#include <leat/base/check.hpp>

#include <algorithm>
#include <utility>

namespace leat::core {

TimerId Timers::arm(Nanos deadline, Function<void()> callback) {
  LEAT_CHECK(static_cast<bool>(callback), "a timer without a callback");
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
    free_slots_.reserve(slots_.size());  // so that giving a slot back cannot fail
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const std::uint64_t order = next_order_++;
  slots_[slot].callback = std::move(callback);
  slots_[slot].order = order;
  heap_.push_back({deadline, order, slot});
  slots_[slot].place = heap_.size() - 1;
  sift_up(heap_.size() - 1);
  return {slot, order};
}

bool Timers::cancel(TimerId id) noexcept {
  if (id.order_ == 0 || id.slot_ >= slots_.size() || slots_[id.slot_].order != id.order_) {
    return false;
  }
  // Destroyed only when all is in order again: what it owns may come back here.
  const Function<void()> callback = take(slots_[id.slot_].place);
  return true;
}

std::optional<Nanos> Timers::next_deadline() const noexcept {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().deadline;
}

std::optional<Nanos> Timers::time_left() const noexcept {
  if (heap_.empty()) return std::nullopt;
  return std::max(Nanos{0}, heap_.front().deadline - clock_.now());
}

std::size_t Timers::fire_due() {
  LEAT_CHECK(!firing_, "a timer's callback fired timers");
  if (heap_.empty()) return 0;
  const Nanos now = clock_.now();
  if (heap_.front().deadline > now) return 0;

  struct Firing {
    explicit Firing(bool& flag) noexcept : flag_(flag) { flag_ = true; }
    ~Firing() { flag_ = false; }
    bool& flag_;
  } const firing(firing_);

  // First find all that are due, then fire them: what callbacks arm meanwhile is not among them,
  // and what they cancel has lost its slot. They stay in the heap until their turn, so an exception
  // leaves the rest where they are.
  find_due(now);
  std::size_t fired = 0;
  for (const Entry& entry : due_) {
    const Slot& slot = slots_[entry.slot];
    if (slot.order != entry.order) continue;
    Function<void()> callback = take(slot.place);
    callback();
    ++fired;
  }
  return fired;
}

// The entries that are due hang together at the top of the heap: walk no further than they reach.
void Timers::find_due(Nanos now) {
  due_.clear();
  due_places_.assign(1, 0);
  while (!due_places_.empty()) {
    const std::size_t place = due_places_.back();
    due_places_.pop_back();
    if (place >= heap_.size() || heap_[place].deadline > now) continue;
    due_.push_back(heap_[place]);
    due_places_.push_back(2 * place + 1);
    due_places_.push_back(2 * place + 2);
  }
  std::sort(due_.begin(), due_.end(), earlier);
}

void Timers::put(std::size_t place, const Entry& entry) noexcept {
  heap_[place] = entry;
  slots_[entry.slot].place = place;
}

void Timers::sift_up(std::size_t place) noexcept {
  const Entry entry = heap_[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (!earlier(entry, heap_[parent])) break;
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, entry);
}

void Timers::sift_down(std::size_t place) noexcept {
  const Entry entry = heap_[place];
  while (true) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && earlier(heap_[child + 1], heap_[child])) ++child;
    if (!earlier(heap_[child], entry)) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, entry);
}

Function<void()> Timers::take(std::size_t place) noexcept {
  const std::uint32_t slot = heap_[place].slot;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (place < heap_.size()) {
    put(place, last);
    sift_up(place);
    sift_down(slots_[last.slot].place);
  }
  slots_[slot].order = 0;
  free_slots_.push_back(slot);
  return std::move(slots_[slot].callback);
}

}  // namespace leat::core
