// What      Memory that is kept because it may be needed again at once (an emptied batch, the places
//           of a ring), and given back when it is not: whoever keeps some is a `Keeper`, and the
//           worker has all those that did something of late in one list.
// Protocol  A keeper calls `used` when it keeps something. `sweep` gives each of the list a second
//           chance: who has not called since the last sweep is asked to release, and leaves the
//           list. `release_all` asks everybody. A worker sweeps every few hundred steps, and
//           releases all before it sleeps.
// Invariants  (1) Who keeps something is in the list; who is not, keeps nothing.
//             (2) A keeper that is destroyed leaves the list, and so do all when the list is.
// Cost      `used`: a store and a branch. A sweep: a few instructions per keeper that was at work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leat::core {

class Spares;

class Keeper {
 public:
  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Gives back what is kept. May be asked for any time between two uses.
  virtual void release_spares() = 0;

 protected:
  inline ~Keeper();
  /// Says that something is kept, by the worker that `all` belongs to.
  inline void used(Spares& all);
  /// The same by one that may be listed already. Returns: whether it is; if not, it must say `used`.
  [[nodiscard]] bool used_again() noexcept {
    was_used_ = true;
    return is_listed();
  }
  [[nodiscard]] bool is_listed() const noexcept { return list_ != nullptr; }

 private:
  friend class Spares;

  Spares* list_ = nullptr;
  std::uint32_t place_ = 0;  // in the list
  bool was_used_ = false;
};

class Spares {
 public:
  Spares() = default;
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;
  ~Spares() {
    for (Keeper* const keeper : keepers_) keeper->list_ = nullptr;
  }

  void sweep() {
    for (std::size_t at = 0; at < keepers_.size();) {
      Keeper& keeper = *keepers_[at];
      if (keeper.was_used_) {
        keeper.was_used_ = false;
        ++at;
      } else {
        unlink(keeper);  // another takes its place
        keeper.release_spares();
      }
    }
    if (keepers_.empty()) keepers_ = std::vector<Keeper*>();
  }
  void release_all() {
    while (!keepers_.empty()) {
      Keeper& keeper = *keepers_.back();
      unlink(keeper);
      keeper.release_spares();
    }
  }
  [[nodiscard]] bool empty() const noexcept { return keepers_.empty(); }

 private:
  friend class Keeper;

  void link(Keeper& keeper) {
    keeper.place_ = static_cast<std::uint32_t>(keepers_.size());
    keepers_.push_back(&keeper);
    keeper.list_ = this;
  }
  void unlink(Keeper& keeper) noexcept {
    Keeper* const last = keepers_.back();
    keepers_[keeper.place_] = last;
    last->place_ = keeper.place_;
    keepers_.pop_back();
    keeper.list_ = nullptr;
  }

  std::vector<Keeper*> keepers_;
};

inline Keeper::~Keeper() {
  if (list_ != nullptr) list_->unlink(*this);
}

inline void Keeper::used(Spares& all) {
  was_used_ = true;
  if (list_ == nullptr) [[unlikely]]
    all.link(*this);
}

}  // namespace leat::core
