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
  inline void used(Spares& all) noexcept;
  [[nodiscard]] bool is_listed() const noexcept { return list_ != nullptr; }

 private:
  friend class Spares;

  Spares* list_ = nullptr;
  Keeper* next_ = nullptr;
  Keeper* previous_ = nullptr;
  bool was_used_ = false;
};

class Spares {
 public:
  Spares() = default;
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;
  ~Spares() {
    while (first_ != nullptr) unlink(*first_);
  }

  void sweep() {
    for (Keeper* at = first_; at != nullptr;) {
      Keeper& keeper = *at;
      at = keeper.next_;
      if (keeper.was_used_) {
        keeper.was_used_ = false;
      } else {
        unlink(keeper);
        keeper.release_spares();
      }
    }
  }
  void release_all() {
    while (first_ != nullptr) {
      Keeper& keeper = *first_;
      unlink(keeper);
      keeper.release_spares();
    }
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  friend class Keeper;

  void link(Keeper& keeper) noexcept {
    keeper.list_ = this;
    keeper.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &keeper;
    first_ = &keeper;
  }
  void unlink(Keeper& keeper) noexcept {
    if (keeper.previous_ != nullptr) {
      keeper.previous_->next_ = keeper.next_;
    } else {
      first_ = keeper.next_;
    }
    if (keeper.next_ != nullptr) keeper.next_->previous_ = keeper.previous_;
    keeper.list_ = nullptr;
    keeper.next_ = keeper.previous_ = nullptr;
  }

  Keeper* first_ = nullptr;
};

inline Keeper::~Keeper() {
  if (list_ != nullptr) list_->unlink(*this);
}

inline void Keeper::used(Spares& all) noexcept {
  was_used_ = true;
  if (list_ == nullptr) [[unlikely]]
    all.link(*this);
}

}  // namespace leat::core
