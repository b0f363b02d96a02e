// What      Which children of a scope have something to do: one bit each, and a way up to the
//           scope's own bit in its parent. No paths, no queues, no sorting; a child that is
//           activated twice runs once.
// Protocol  Activate: set the child's bit; if it was clear and the scope is not running, activate
//           the scope in its parent, and so on up until a bit that was set already.
//           Run a scope: the parent clears the scope's bit, *then* the scope runs: enter_run; for
//           each child, next_from: clear its bit, then run it; leave_run, which activates the scope
//           again if a child's bit is left. Cleared on exit instead, a bit set during the run would
//           be lost.
//           Put a child off: activate it, and say that it asked for the next step. A scope that
//           would go round again at once for those that are active does not do so then.
//           Drop a child: clear its bit.
// Invariants
//   (1) If a bit is set and the scope does not run, the scope's own bit is set in its parent, or
//       the scope is about to run.
//   (2) A summary bit is set exactly if its word is not zero. A set of one word, which is most, keeps
//       it in place, and has no summary.
//   (3) Who was put off during a run is so in every scope around that runs.
// Limits    One thread. A set must not move: children and bells hold its address. It grows when a
//           child past its end is activated.
// Cost      activate: three words and two branches, then the same per level that was clear.
//           take_from: two words, however sparse, up to 4096 children; one word more per 4096. No
//           atomics.
// Source    Ours; it stands where Timely Dataflow has a heap of paths.
#pragma once

#include <leat/base/check.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace leat::core {

class ActivationSet;

/// One child's place in a set: what whoever has something for the child keeps. The default is
/// nobody's.
class Activation {
 public:
  Activation() noexcept = default;
  Activation(ActivationSet& set, std::uint32_t index) noexcept : set_(&set), index_(index) {}

  /// Has the child run. Nothing happens for nobody's.
  void activate() const;
  /// The same, in its worker's next step at the earliest if this one has passed it already.
  void put_off() const;

  [[nodiscard]] bool is_nobodys() const noexcept { return set_ == nullptr; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

 private:
  friend class ActivationSet;

  ActivationSet* set_ = nullptr;
  std::uint32_t index_ = 0;
};

class ActivationSet {
 public:
  /// What `next_from` returns if there is none.
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// A set with nobody above it.
  ActivationSet() noexcept = default;

  /// The set of a scope whose own place is `self`.
  explicit ActivationSet(Activation self) noexcept : self_(self) {}

  ActivationSet(const ActivationSet&) = delete;
  ActivationSet& operator=(const ActivationSet&) = delete;

  /// Has `child` run, and every scope above it that is not running.
  ///
  /// Returns: whether the child's bit was clear.
  bool activate(std::uint32_t child) {
    if (!set(child)) return false;
    if (!running_) [[unlikely]]
      activate_above();
    return true;
  }
  /// The same, for a child that asked to run in the next step.
  void put_off(std::uint32_t child) {
    activate(child);
    for (ActivationSet* level = this;; level = level->self_.set_) {
      level->is_put_off_ = true;
      if (level->running_ || level->self_.set_ == nullptr) return;
    }
  }
  /// Whether all that is active may run at once: nobody was put off in this run.
  [[nodiscard]] bool all_at_once() const noexcept { return !is_put_off_; }

  /// Says that what `child` was activated for is being done, or that the child is gone.
  void clear(std::uint32_t child) noexcept {
    if (is_one()) [[likely]] {
      if (child < 64) one_ &= ~bit(child);
      return;
    }
    const std::size_t word = child / 64;
    if (word >= words_.size()) return;
    words_[word] &= ~bit(child % 64);
    if (words_[word] == 0) summary_[word / 64] &= ~bit(word % 64);
  }

  [[nodiscard]] bool is_set(std::uint32_t child) const noexcept {
    if (is_one()) return child < 64 && (one_ & bit(child)) != 0;
    const std::size_t word = child / 64;
    return word < words_.size() && (words_[word] & bit(child % 64)) != 0;
  }

  [[nodiscard]] bool any() const noexcept {
    if (is_one()) [[likely]]
      return one_ != 0;
    for (const std::uint64_t word : summary_) {
      if (word != 0) return true;
    }
    return false;
  }

  /// The first child at or after `position` whose bit is set, or kNone. Bits that are set behind
  /// the position during a run wait for the next one.
  [[nodiscard]] std::uint32_t next_from(std::uint32_t position) const noexcept {
    if (is_one()) [[likely]] {
      const std::uint64_t here = position < 64 ? one_ & (~std::uint64_t{0} << position) : 0;
      return here == 0 ? kNone : index(0, here);
    }
    const std::size_t word = position / 64;
    if (word >= words_.size()) return kNone;
    const std::uint64_t here = words_[word] & (~std::uint64_t{0} << (position % 64));
    return here != 0 ? index(word, here) : next_from_word(word + 1);
  }

  /// The same; clears its bit.
  [[nodiscard, gnu::always_inline]] std::uint32_t take_from(std::uint32_t position) noexcept {
    if (is_one()) [[likely]] {
      const std::uint64_t here = position < 64 ? one_ & (~std::uint64_t{0} << position) : 0;
      if (here == 0) return kNone;
      one_ &= ~(here & -here);
      return index(0, here);
    }
    return take_from_many(position);
  }

  /// The scope runs: activations stay inside, since it looks at all bits before it ends.
  void enter_run() noexcept {
    LEAT_DCHECK(!running_, "a scope runs inside itself");
    running_ = true;
    is_put_off_ = false;
  }

  /// The scope ends its run: what is left has it run again.
  void leave_run() {
    running_ = false;
    if (any()) is_put_off_ ? self_.put_off() : self_.activate();
  }

  [[nodiscard]] bool running() const noexcept { return running_; }

 private:
  static constexpr std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << i; }
  static constexpr std::uint32_t index(std::size_t word, std::uint64_t bits) noexcept {
    return static_cast<std::uint32_t>(word * 64) +
           static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  [[gnu::noinline]] std::uint32_t take_from_many(std::uint32_t position) noexcept {
    const std::uint32_t child = next_from(position);
    if (child == kNone) return kNone;
    std::uint64_t& bits = words_[child / 64];
    bits &= ~bit(child % 64);
    if (bits == 0) summary_[child / 4096] &= ~bit(child / 64 % 64);
    return child;
  }
  [[nodiscard]] bool is_one() const noexcept { return summary_.empty(); }

  [[gnu::noinline]] void activate_above() const {
    const ActivationSet* level = this;
    do {
      const Activation up = level->self_;
      if (up.set_ == nullptr || !up.set_->set(up.index_)) return;
      level = up.set_;
    } while (!level->running_);
  }

  bool set(std::uint32_t child) {
    if (is_one() && child < 64) [[likely]] {
      if ((one_ & bit(child)) != 0) return false;
      one_ |= bit(child);
      return true;
    }
    return set_of_many(child);
  }
  [[gnu::noinline]] bool set_of_many(std::uint32_t child) {
    const std::size_t word = child / 64;
    if (word >= words_.size()) [[unlikely]]
      grow(word);
    std::uint64_t& bits = words_[word];
    const std::uint64_t before = bits;
    bits |= bit(child % 64);
    if (before == 0) summary_[word / 64] |= bit(word % 64);
    return bits != before;
  }

  [[gnu::noinline]] void grow(std::size_t word) {
    if (is_one()) {
      words_.assign(1, one_);
      summary_.assign(1, one_ != 0 ? 1 : 0);
    }
    words_.resize(word + 1, 0);
    summary_.resize(word / 64 + 1, 0);
  }

  [[nodiscard]] std::uint32_t next_from_word(std::size_t word) const noexcept {
    std::size_t block = word / 64;
    if (block >= summary_.size()) return kNone;
    std::uint64_t words = summary_[block] & (~std::uint64_t{0} << (word % 64));
    while (words == 0) {
      if (++block == summary_.size()) return kNone;
      words = summary_[block];
    }
    const std::size_t found = block * 64 + static_cast<std::size_t>(std::countr_zero(words));
    return index(found, words_[found]);
  }

  std::uint64_t one_ = 0;               // a bit per child, while there are no more than 64
  std::vector<std::uint64_t> words_;    // a bit per child, if there are more
  std::vector<std::uint64_t> summary_;  // a bit per word; empty while there are not
  Activation self_;
  bool running_ = false;
  bool is_put_off_ = false;  // some child, in this run or since the last
};

inline void Activation::activate() const {
  if (set_ != nullptr) set_->activate(index_);
}
inline void Activation::put_off() const {
  if (set_ != nullptr) set_->put_off(index_);
}

}  // namespace leat::core
