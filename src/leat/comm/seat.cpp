#include <leat/comm/seat.hpp>

#include <utility>

#include <leat/base/mutant.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/comm/net/links.hpp>

namespace leat::comm {

Seat::Seat(Fabric& fabric, std::size_t index)
    : fabric_(fabric),
      index_(index),
      peers_(fabric.peers()),
      first_(fabric.first_worker()),
      neighbours_(fabric.workers()),
      // The links are one more reader.
      log_(fabric.workers() + (fabric.processes() > 1 ? 1 : 0)) {}

void Seat::announce(std::size_t to, core::Bell& bell) {
  Seat& receiver = fabric_.seat(to);
  const auto announced = core::announce(receiver.ready_, receiver.parker_, bell);
  if (announced.mark == core::Mark::edge) ++counters_.notices;
  if (announced.woke) ++counters_.wakes_sent;
}

void Seat::announce_again(std::size_t to, core::Bell& bell) {
  Seat& receiver = fabric_.seat(to);
  ++counters_.notices;
  if (receiver.ready_.mark(bell) != core::Mark::closed && receiver.parker_.ring()) {
    ++counters_.wakes_sent;
  }
}

void Seat::announce_log() {
  has_unsent_ = true;
  fabric_.park_mask().for_each_parked([this](std::size_t place) {
    if (fabric_.seat(first_ + place).parker_.unpark()) ++counters_.wakes_sent;
  });
}

void Seat::drive_links() { links_->drive(std::exchange(has_unsent_, false)); }

bool Seat::has_announcements() const {
  if (ready_.has_ready()) return true;
  if (LEAT_MUTANT("seat.looks_at_bells_only")) return false;
  for (const auto& cursor : cursors_) {
    if (cursor.has_more()) return true;
  }
  return fabric_.stop().requested_before_sleep();
}

void Seat::park(std::optional<Nanos> timeout) {
  for (auto& cursor : cursors_) cursor.publish_position();
  fabric_.crowd().leave();
  if (links_ != nullptr) links_->worker_sleeps();
  fabric_.park_mask().set(place());
  parker_.park([this] { return has_announcements(); }, timeout);
  fabric_.park_mask().clear(place());
  if (links_ != nullptr) links_->worker_wakes();
  fabric_.crowd().enter();
}

void Seat::enter() {
  fabric_.crowd().enter();
  if (links_ != nullptr) links_->worker_wakes();
}

void Seat::leave() {
  if (bytes_) bytes_->leave();
  cursors_.clear();
  if (links_ != nullptr) {
    drive_links();
    links_->worker_sleeps();
  }
  fabric_.crowd().leave();
}

}  // namespace leat::comm
