#include <leat/actor/scheduler/lanes.hpp>

#include <algorithm>

namespace leat::actor {

Lanes::Lanes(const std::vector<std::uint32_t>& shares) {
  for (const std::uint32_t one : shares) {
    lanes_.push_back(one == 0 ? nullptr : std::make_unique<Lane>());
    if (one != 0) lanes_.back()->shares = one;
  }
}

bool Lanes::put(Actor& actor, bool stays) noexcept {
  Lane& lane = *lanes_[actor.group];
  if (stays) {
    lane.stay.push(actor);
  } else if (!lane.queue.push(&actor)) {
    return false;
  }
  if (!lane.waits) {
    lane.waits = true;
    if (&lane != runs_) lane.pass = std::max(lane.pass, pass_);
  }
  return true;
}

Actor* Lanes::choose(Sharing sharing, Nanos now) noexcept {
  charge(now);
  for (;;) {
    Lane* least = nullptr;
    for (const std::unique_ptr<Lane>& lane : lanes_) {
      if (lane != nullptr && lane->waits && (least == nullptr || lane->pass < least->pass)) {
        least = lane.get();
      }
    }
    if (least == nullptr) {
      runs_ = nullptr;
      return nullptr;
    }
    Actor* actor = least->stay.pop();
    if (actor == nullptr) actor = least->queue.pop(sharing);
    if (actor == nullptr) {
      least->waits = false;  // thieves took them, or there was but the one
      continue;
    }
    pass_ = least->pass;
    runs_ = least;
    return actor;
  }
}

void Lanes::begin(const Actor& actor, Nanos now) noexcept {
  charge(now);
  runs_ = lanes_[actor.group].get();
}

bool Lanes::has_loot() const noexcept {
  return std::ranges::any_of(lanes_, [](const std::unique_ptr<Lane>& lane) {
    return lane != nullptr && !lane->queue.was_empty();
  });
}

Nanos Lanes::time_of(std::size_t group) const noexcept {
  return group < lanes_.size() && lanes_[group] != nullptr ? lanes_[group]->time : Nanos{0};
}

void Lanes::charge(Nanos now) noexcept {
  if (runs_ != nullptr) {
    const Nanos spent = now - since_;
    runs_->time += spent;
    runs_->pass += static_cast<std::uint64_t>(spent.count()) * kScale / runs_->shares;
  }
  since_ = now;
}

}  // namespace leat::actor
