#include <leat/comm/failures.hpp>

#include <utility>

namespace leat::comm {

bool Failures::note(Failure failure) {
  const std::lock_guard lock(mutex_);
  auto& first = first_[failure.worker];
  if (first) return false;
  first = std::move(failure);
  return true;
}

std::optional<Failure> Failures::of(std::size_t worker) const {
  const std::lock_guard lock(mutex_);
  return first_[worker];
}

std::optional<Failure> Failures::built(std::uint64_t id, std::optional<Failure> failure) {
  const std::lock_guard lock(mutex_);
  Building& building = building_[id];
  ++building.arrived;
  if (!failure) {
    ++building.stood;
  } else if (!building.failure) {
    building.failure = std::move(failure);
  }
  std::optional<Failure> one_sided;
  if (building.stood > 0) one_sided = building.failure;
  if (building.arrived == first_.size()) building_.erase(id);
  return one_sided;
}

}  // namespace leat::comm
