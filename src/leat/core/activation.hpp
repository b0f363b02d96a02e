// What      Which children of a scope have something to do: one bit each, and a way up to the
//           scope's own bit in its parent. No paths, no queues, no sorting; a child that is
//           activated twice runs once.
// Protocol  Activate: set the child's bit; if it was clear and the scope is not running, activate
//           the scope in its parent, and so on up until a bit that was set already.
//           Run a scope: the parent clears the scope's bit, *then* the scope runs: enter_run; for
//           each child, next_from: clear its bit, then run it; leave_run, which activates the scope
//           again if a child's bit is left. Cleared on exit instead, a bit set during the run would
//           be lost.
//           Drop a child: clear its bit.
// Invariants
//   (1) If a bit is set and the scope does not run, the scope's own bit is set in its parent, or
//       the scope is about to run.
//   (2) A summary bit is set exactly if its word is not zero. A set of one word, which is most, has
//       no use for them and does not keep them.
// Limits    One thread. A set must not move: children and bells hold its address. It grows when a
//           child past its end is activated.
// Cost      activate: three words and two branches, then the same per level that was clear.
//           next_from: two words, however sparse, up to 4096 children; one word more per 4096. No
//           atomics.
// Source    Ours; it stands where Timely Dataflow has a heap of paths.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/small_vector.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

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
    const ActivationSet* level = this;
    while (!level->running_) {
      const Activation up = level->self_;
      if (up.set_ == nullptr || !up.set_->set(up.index_)) break;
      level = up.set_;
    }
    return true;
  }

  /// Says that what `child` was activated for is being done, or that the child is gone.
  void clear(std::uint32_t child) noexcept {
    const std::size_t word = child / 64;
    if (word >= words_.size()) return;
    words_[word] &= ~bit(child % 64);
    if (words_.size() > 1 && words_[word] == 0) summary_[word / 64] &= ~bit(word % 64);
  }

  [[nodiscard]] bool is_set(std::uint32_t child) const noexcept {
    const std::size_t word = child / 64;
    return word < words_.size() && (words_[word] & bit(child % 64)) != 0;
  }

  [[nodiscard]] bool any() const noexcept {
    if (words_.size() == 1) [[likely]]
      return words_[0] != 0;
    for (const std::uint64_t word : summary_) {
      if (word != 0) return true;
    }
    return false;
  }

  /// The first child at or after `position` whose bit is set, or kNone. Bits that are set behind
  /// the position during a run wait for the next one.
  [[nodiscard]] std::uint32_t next_from(std::uint32_t position) const noexcept {
    const std::size_t word = position / 64;
    if (word >= words_.size()) return kNone;
    const std::uint64_t here = words_[word] & (~std::uint64_t{0} << (position % 64));
    if (here != 0) return index(word, here);
    return words_.size() == 1 ? kNone : next_from_word(word + 1);
  }

  /// The scope runs: activations stay inside, since it looks at all bits before it ends.
  void enter_run() noexcept {
    LEAT_DCHECK(!running_, "a scope runs inside itself");
    running_ = true;
  }

  /// The scope ends its run: what is left has it run again.
  void leave_run() {
    running_ = false;
    if (any()) self_.activate();
  }

  [[nodiscard]] bool running() const noexcept { return running_; }

 private:
  static constexpr std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << i; }
  static constexpr std::uint32_t index(std::size_t word, std::uint64_t bits) noexcept {
    return static_cast<std::uint32_t>(word * 64) +
           static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  bool set(std::uint32_t child) {
    const std::size_t word = child / 64;
    if (word >= words_.size()) grow(word);
    if ((words_[word] & bit(child % 64)) != 0) return false;
    words_[word] |= bit(child % 64);
    if (words_.size() > 1) summary_[word / 64] |= bit(word % 64);
    return true;
  }

  [[gnu::noinline]] void grow(std::size_t word) {
    if (words_.size() == 1) summary_.assign(1, words_[0] != 0 ? 1 : 0);
    words_.resize(word + 1, 0);
    if (word > 0) summary_.resize(word / 64 + 1, 0);
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

  SmallVector<std::uint64_t, 1> words_;    // a bit per child
  SmallVector<std::uint64_t, 1> summary_;  // a bit per word
  Activation self_;
  bool running_ = false;
};

inline void Activation::activate() const {
  if (set_ != nullptr) set_->activate(index_);
}

}  // namespace leat::core
