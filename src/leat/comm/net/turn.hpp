// What      Work that any of several threads may do for all, one at a time, without anybody waiting:
//           who comes while another is at it leaves word, and the other goes round again.
// Protocol  Make visible what there is to do; `take(true, pass)`. A `take(false, pass)` is only a look
//           on the way: it does nothing if somebody is at it.
// Invariants
//   (1) Passes do not overlap, and each sees all of the one before.
//   (2) After `take(true, ...)` returned, a pass that began after the call has run, or somebody is at
//       one and will begin another.
// Ordering  turn  a pass -> the next one. And seq_cst: "leave word, then try for the turn" against
//                 "let it go, then look for word": one of the two sees the other. The word itself
//                 carries what was made visible before it.
//           Words are exchanged: a store would cut off what the word before it carried.
//           The relaxed load before a mere look decides only whether to try.
// Source    Ours.
#pragma once

#include <cstdint>
#include <thread>

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/mutant.hpp>

namespace leat::comm {

class alignas(kCacheLine) Turn {
  struct turn : Edge {};  // see the head
  struct word : Edge {};  // who left word -> whose pass answers it

 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Calls `pass()` if nobody else is at one. `has_more`: there is something that a pass under way may
  /// have missed. Threads: any; also from within a pass, which then goes round again.
  template <class Pass>
  void take(bool has_more, Pass&& pass) {
    if (has_more) {
      leave_word();
    } else if (turn_.load_relaxed() != 0) {
      return;
    }
    do {
      if (turn_.exchange_seq_cst(1, turn{}, turn{}) != 0) return;
      run(pass);
    } while (has_word());
  }

  /// Says that there is something, to whoever is at a pass or takes the turn next.
  ///
  /// An exchange, not a store: who leaves word after another one carries on what that one left.
  void leave_word() noexcept {
    if (LEAT_MUTANT("turn.word_is_a_store")) {
      word_.store_seq_cst(1, word{});
    } else {
      word_.exchange_seq_cst(1, word{}, word{});
    }
  }

  /// Calls `pass()` when the turn is free; waits for it.
  template <class Pass>
  void wait_and_take(Pass&& pass) {
    do {
      while (turn_.exchange_seq_cst(1, turn{}, turn{}) != 0) std::this_thread::yield();
      run(pass);
    } while (has_word());
  }

 private:
  template <class Pass>
  void run(Pass& pass) {
    word_.exchange_seq_cst(0, word{}, word{});
    struct LetGo {  // also by an exception
      Turn& whose;
      ~LetGo() { whose.turn_.store_seq_cst(0, turn{}); }
    };
    const LetGo let_go{*this};
    pass();
  }
  [[nodiscard]] bool has_word() const noexcept {
    if (LEAT_MUTANT("turn.looks_for_no_word")) return false;
    return word_.load_seq_cst(word{}) != 0;
  }

  Atomic<std::uint32_t> turn_{0};
  Atomic<std::uint32_t> word_{0};
};

}  // namespace leat::comm
