// What      A record of which only the newest value counts, and which processes share: any number of
//           writers, any number of readers, and a writer who dies in the middle is in nobody's way.
//           SeqlockArray and SharedValue are made of these.
// Shape     | stamp | writer | copy 0: words | copy 1: words |     64-bit words
//           stamp = version * 4 + (cleared ? 2 : 0) + (a write of version + 1 is under way ? 1 : 0)
//           The value of version v stands in copy v % 2; zeros are version 0, never written.
// Protocol  Write:  writer: 0 -> self, or the id of a dead one -> self; stamp: its last bit set;
//                   the words of the other copy; stamp <- version + 1; writer <- 0.
//           Read:   stamp -> version; the words of its copy; stamp again: if the write after the next
//                   has not begun, the copy is whole. Else once more, a bounded number of times.
// Invariants
//   (1) Only who stands in `writer` changes stamp and words.
//   (2) The copy of the version in the stamp is whole, whatever becomes of a writer: it writes into
//       the other one.
//   (3) Versions grow by one per write, also across the death of a writer.
// Ordering  published  writer -> reader: the words are those of the version. Also in the stamp that
//                      announces the next write, or a reader who meets that one would see old words.
//           overwrite  writer -> reader: who has copied a word of the write after the next finds that
//                      it has begun. See base/word_copy.hpp.
//           handed_on  writer -> next writer: stamp and words are as the last one left them. One who
//                      takes over from the dead is told of the death by the kernel, and with that of
//                      all that the dead one stored: its lock fell after its last store.
// Limits    A reader is turned away (`busy`) only if two writes or more began during each of its
//           attempts. A writer is turned away if another one, alive, holds the record for long: it is
//           stopped, or does not get to run.
// Cost      Read: stamp and copy, no store. Write: one compare-exchange beside the words.
// Source    The seqlock as Boehm 2012 has it; two copies as in Linux's seqcount_latch. Ours is the
//           takeover from the dead.
#pragma once

#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/base/word_copy.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::queue {

/// What came of looking at a record.
enum class Look : std::uint8_t {
  ok,
  none,          ///< never written, or cleared
  busy,          ///< overwritten again and again while it was read; try again
  out_of_range,  ///< no such index
};

/// What came of writing one.
enum class Write : std::uint8_t {
  ok,
  busy,          ///< another writer holds it, and lives; try again
  out_of_range,  ///< no such index
};

namespace internal {

inline constexpr int kLookAttempts = 64;

/// How long a writer waits for another one, in pauses.
struct WriterPatience {
  int give_up = 20'000;
  int ask_for_life = 500;  // each so many: whether the other one lives
};

template <WordCopyable T>
class LastValue {
  struct published : Edge {};  // writer -> reader: the words are those of the version
  struct overwrite : Edge {};  // writer -> reader: who copied a newer word sees that it had begun
  struct handed_on : Edge {};  // writer -> next writer: stamp and words as the last one left them

  static constexpr std::size_t kWords = words_for(sizeof(T));
  static constexpr std::uint64_t kBusy = 1;
  static constexpr std::uint64_t kCleared = 2;

 public:
  /// Reads the newest value. `into` has no value to speak of unless `ok`.
  Look read(T* into, std::uint64_t* version) const noexcept {
    for (int attempt = 0; attempt < kLookAttempts; ++attempt) {
      const std::uint64_t stamp = stamp_.load_acquire(published{});
      *version = stamp / 4;
      if (stamp < 4 || (stamp & kCleared) != 0) return Look::none;
      read_words(words_[*version % 2], into, overwrite{});
      // Relaxed: the edge overwrite orders it behind the copy.
      const std::uint64_t again = stamp_.load_relaxed();
      const std::uint64_t begun = again / 4 + (again & kBusy);
      if (begun <= *version + 1 || LEAT_MUTANT("last_value.no_second_look")) return Look::ok;
      spin_pause();
    }
    return Look::busy;
  }

  /// How many writes and clears there were.
  [[nodiscard]] std::uint64_t version() const noexcept {
    return stamp_.load_acquire(published{}) / 4;
  }

  /// The right to write, for as long as it lives.
  class Hold {
   public:
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if (record_ != nullptr) record_->writer_.store_release(0, handed_on{});
    }

    explicit operator bool() const noexcept { return record_ != nullptr; }

    [[nodiscard]] std::uint64_t version() const noexcept { return version_ / 4; }
    [[nodiscard]] bool has_value() const noexcept {
      return version_ >= 4 && (version_ & kCleared) == 0;
    }
    /// The present value. Requires: `has_value()`.
    void read(T* into) const noexcept {
      read_words(record_->words_[version() % 2], into, overwrite{});  // nobody else writes now
    }

    /// Begins, fills and ends a write; three calls, so that a test can die in between.
    void begin() noexcept { record_->stamp_.store_release(version_ | kBusy, published{}); }
    void fill(const T& value) noexcept {
      const std::uint64_t copy = LEAT_MUTANT("last_value.same_copy") ? version() : version() + 1;
      write_words(record_->words_[copy % 2], value, overwrite{});
    }
    void end(bool cleared) noexcept {
      version_ = (version() + 1) * 4 + (cleared ? kCleared : 0);
      record_->stamp_.store_release(version_, published{});
    }
    void write(const T& value) noexcept {
      begin();
      fill(value);
      end(false);
    }
    /// For tests: what a death leaves behind.
    void die() noexcept { record_ = nullptr; }

   private:
    friend class LastValue;
    Hold(LastValue* record, std::uint64_t stamp) noexcept
        : record_(record), version_(stamp & ~kBusy) {}

    LastValue* record_;
    std::uint64_t version_;  // the stamp, without kBusy
  };

  /// Takes the right to write, from a dead one if need be. Empty if another one holds it.
  ///
  /// `is_dead(id)`: whether that writer is proved to be dead, and all that it stored is visible.
  template <class IsDead>
  [[nodiscard]] Hold hold(std::uint64_t self, const IsDead& is_dead,
                          WriterPatience patience = {}) noexcept {
    for (int spin = 0;; ++spin) {
      std::uint64_t holder = 0;
      if (writer_.compare_exchange_weak_acquire(holder, self, handed_on{})) {
        // Relaxed: only holders store it, and the last one handed it on.
        return Hold(this, stamp_.load_relaxed());
      }
      if (holder != 0 && holder != self && (spin + 1) % patience.ask_for_life == 0 &&
          is_dead(holder) && writer_.compare_exchange_strong_acquire(holder, self, handed_on{})) {
        return Hold(this, stamp_.load_relaxed());
      }
      if (spin >= patience.give_up) return Hold(nullptr, 0);
      spin_pause();
    }
  }

  /// Writes the first value, before anybody else can see the record.
  void initialise(const T& value) noexcept {
    write_words(words_[1], value, overwrite{});
    stamp_.store_release(4, published{});
  }

 private:
  Atomic<std::uint64_t> stamp_{0};
  Atomic<std::uint64_t> writer_{0};
  SharedWord words_[2][kWords] = {};
};

/// Bytes from one record of T to the next, so that no two share a line.
template <WordCopyable T>
inline constexpr std::size_t kLastValueStride =
    (sizeof(LastValue<T>) + kCacheLine - 1) / kCacheLine * kCacheLine;

}  // namespace internal
}  // namespace leat::queue
