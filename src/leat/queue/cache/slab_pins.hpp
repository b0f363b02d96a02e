// What      The places of a slab in which processes say which cell they read where it lies, so that
//           nobody puts something else there meanwhile.
// Shape     a place: | owner | cell + 1, 0: none |, a sector each
// Protocol  Pinning:  take a place (owner: 0 -> self); say the cell in it; look at the cell's stamp
//                     once more: still the object? it stays as it is until the place is given back.
//           Putting:  the cell's stamp says that it is being written; look at all places: is the cell
//                     in one? leave it, and go to another cell.
// Invariants
//   (1) Of one who pins and one who puts at the same cell, at least one sees the other.
//   (2) Nobody waits for anybody.
// Ordering  gate        who says a cell and then looks at its stamp, and who changes the stamp and then
//                       looks at the places: all seq_cst.
//           given_back  who had pinned a cell -> who puts there: it has been read before.
//           vacated     of a place's owner, to the next.
// Limits    A dead one's places are freed when the segment is reaped, as joining does; until then its
//           cell is left out.
// Source    Hazard pointers, Michael 2004.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace leat::queue::internal {

/// Who says where it is, and who looks at that: see the head.
struct slab_gate : Edge {};

struct alignas(kSector) SlabPinPlace {
  Atomic<std::uint64_t> owner{0};  // a participant
  Atomic<std::uint64_t> cell{0};
};
static_assert(std::is_standard_layout_v<SlabPinPlace> && sizeof(SlabPinPlace) == kSector);

class SlabPins {
  struct given_back : Edge {};  // who had pinned -> who puts: it was read before
  struct vacated : Edge {};     // owner of a place -> the next: nothing is left in it

 public:
  SlabPins() noexcept = default;
  /// `used`: places from the first one on that ever were taken.
  SlabPins(Atomic<std::uint64_t>* used, std::span<SlabPinPlace> places) noexcept
      : used_(used), places_(places) {}

  [[nodiscard]] std::size_t places() const noexcept { return places_.size(); }

  /// A place for `owner`. Null: all are taken.
  [[nodiscard]] SlabPinPlace* take(std::uint64_t owner) const noexcept {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      std::uint64_t nobody = 0;
      if (!places_[i].owner.compare_exchange_strong_acquire(nobody, owner, vacated{})) continue;
      std::uint64_t used = used_->load_relaxed();  // checked by the exchange
      while (used < i + 1 &&
             !used_->compare_exchange_weak_seq_cst(used, i + 1, slab_gate{}, slab_gate{})) {
      }
      return &places_[i];
    }
    return nullptr;
  }
  /// Says that its owner is at `cell`; its stamp is to be looked at (seq_cst) behind this.
  static void say(SlabPinPlace& place, std::uint64_t cell) noexcept {
    place.cell.store_seq_cst(cell + 1, slab_gate{});
  }
  static void vacate(SlabPinPlace& place) noexcept {
    place.cell.store_release(0, given_back{});
    place.owner.store_release(0, vacated{});
  }
  /// Takes back what `owner`, who is dead, has. May be done again.
  void vacate_all_of(std::uint64_t owner) const noexcept {
    for (SlabPinPlace& place : places_) {
      if (place.owner.load_acquire(vacated{}) == owner) vacate(place);
    }
  }

  /// Whether somebody is at `cell`. Behind a seq_cst change of its stamp.
  [[nodiscard]] bool is_pinned(std::uint64_t cell) const noexcept {
    if (places_.empty() || LEAT_MUTANT("slab.put_over_pins")) return false;
    const std::uint64_t used = used_->load_seq_cst(slab_gate{});
    bool pinned = false;
    for (std::size_t i = 0; i < used && i < places_.size(); ++i) {
      // seq_cst for the gate; from who gave it back it acquires.
      pinned |= places_[i].cell.load_seq_cst(given_back{}) == cell + 1;
    }
    return pinned;
  }

 private:
  Atomic<std::uint64_t>* used_ = nullptr;
  std::span<SlabPinPlace> places_;
};

}  // namespace leat::queue::internal
