#include <leat/comm/seat.hpp>

#include <leat/base/mutant.hpp>
#include <leat/comm/fabric.hpp>

namespace leat::comm {

Seat::Seat(Fabric& fabric, std::size_t index, std::size_t peers)
    : fabric_(fabric), index_(index), peers_(peers), log_(peers) {}

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
  fabric_.park_mask().for_each_parked([this](std::size_t worker) {
    if (fabric_.seat(worker).parker_.unpark()) ++counters_.wakes_sent;
  });
}

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
  fabric_.park_mask().set(index_);
  parker_.park([this] { return has_announcements(); }, timeout);
  fabric_.park_mask().clear(index_);
  fabric_.crowd().enter();
}

void Seat::enter() { fabric_.crowd().enter(); }

void Seat::leave() {
  cursors_.clear();
  fabric_.crowd().leave();
}

}  // namespace leat::comm
