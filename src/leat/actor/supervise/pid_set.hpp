// What      PidSet: a small set of actors' names: a few in a row, more of them hashed.
// Cost      8 bytes for each, half of them empty at most; no allocation while it is empty.
// Source    Linear probing with backward shift (Knuth 6.4, algorithm R).
#pragma once

#include <leat/actor/pid.hpp>
#include <leat/base/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leat::actor {

class PidSet {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] bool contains(Pid pid) const noexcept {
    return size_ != 0 && places_[place_of(pid)] == pid;
  }

  /// Returns: whether it was not there. Requires: it names somebody.
  bool insert(Pid pid) {
    if (2 * (size_ + 1) > places_.size()) grow();
    const std::size_t place = place_of(pid);
    if (places_[place]) return false;
    places_[place] = pid;
    ++size_;
    return true;
  }

  /// Returns: whether it was there.
  bool erase(Pid pid) noexcept {
    if (size_ == 0) return false;
    std::size_t hole = place_of(pid);
    if (!places_[hole]) return false;
    places_[hole] = Pid();
    --size_;
    // What lies behind comes nearer to where it belongs.
    for (std::size_t at = (hole + 1) & mask(); places_[at]; at = (at + 1) & mask()) {
      const std::size_t home = home_of(places_[at]);
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      places_[hole] = places_[at];
      places_[at] = Pid();
      hole = at;
    }
    return true;
  }

  template <class Look>
  void for_each(Look&& look) const {
    for (const Pid pid : places_) {
      if (pid) look(pid);
    }
  }

 private:
  [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
  [[nodiscard]] std::size_t home_of(Pid pid) const noexcept {
    return static_cast<std::size_t>(mix64(pid.word())) & mask();
  }
  // Where it lies, or would.
  [[nodiscard]] std::size_t place_of(Pid pid) const noexcept {
    std::size_t place = home_of(pid);
    while (places_[place] && places_[place] != pid) place = (place + 1) & mask();
    return place;
  }
  void grow() {
    std::vector<Pid> before(places_.empty() ? 8 : 2 * places_.size());
    before.swap(places_);
    for (const Pid pid : before) {
      if (pid) places_[place_of(pid)] = pid;
    }
  }

  std::vector<Pid> places_;  // a power of two, never full
  std::size_t size_ = 0;
};

}  // namespace leat::actor
