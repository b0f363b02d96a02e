#include <leat/comm/remote_activation.hpp>

#include <utility>

#include <leat/base/mutant.hpp>

namespace leat::comm {

void internal::RemoteBell::release(core::Doorbell* bell) noexcept {
  // The bell may end with this reference.
  const auto last = std::move(static_cast<RemoteBell*>(static_cast<core::Bell*>(bell))->self);
}

RemotePlace::RemotePlace(Seat& seat, core::Activation whom) : seat_(seat) {
  auto bell = std::make_shared<internal::RemoteBell>();
  bell->set_listener(whom);
  bell_ = bell.get();
  bell_->self = std::move(bell);
}

RemotePlace::~RemotePlace() {
  if (!bell_->close()) internal::RemoteBell::release(bell_);
}

RemoteActivator RemotePlace::activator() const { return {bell_->self, seat_.shared_from_this()}; }

bool RemoteActivator::activate() const noexcept { return activate_all({this, 1}) == 1; }

std::size_t activate_all(std::span<const RemoteActivator> whom) noexcept {
  std::size_t there = 0;
  Seat* to_ring = nullptr;
  const auto ring = [&] {
    if (to_ring != nullptr) to_ring->parker().ring();
  };
  for (const RemoteActivator& one : whom) {
    if (!one.bell_) continue;
    if (to_ring != one.seat_.get()) {
      ring();
      to_ring = nullptr;
    }
    if (LEAT_MUTANT("remote_activation.ring_first")) one.seat_->parker().ring();
    const core::Mark mark = one.seat_->ready().mark(*one.bell_);
    if (mark != core::Mark::closed) ++there;
    if (mark == core::Mark::edge && !LEAT_MUTANT("remote_activation.ring_first")) {
      to_ring = one.seat_.get();
    }
  }
  ring();
  return there;
}

}  // namespace leat::comm
