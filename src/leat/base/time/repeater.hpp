// What      Repeater: says when something that is to be done every so often is due.
// Invariants  (1) The first look finds it due. (2) Afterwards it is due once per interval, at the
//             moments that the first one laid down; what was missed is not made up for.
// Source    Flux's Repeater; keeping to the moments is ours.
#pragma once

#include <leat/base/check.hpp>
#include <leat/base/clock.hpp>

#include <optional>

namespace leat {

/// Threads: one at a time.
class Repeater {
 public:
  /// Requires: `every > 0`; checked.
  explicit Repeater(Nanos every) noexcept : every_(every) {
    LEAT_CHECK(every > Nanos{0}, "a repeater that repeats after no time");
  }

  /// Whether it is due at `now`; then it is not again before the next interval.
  [[nodiscard]] bool is_due(Nanos now) noexcept {
    if (next_ && now < *next_) return false;
    if (!next_) {
      next_ = now + every_;
    } else {
      *next_ += every_ * ((now - *next_) / every_ + 1);
    }
    return true;
  }

  /// When it is due next; nothing: at once.
  [[nodiscard]] std::optional<Nanos> next() const noexcept { return next_; }
  /// Makes it due at the next look, which lays down the moments anew.
  void force() noexcept { next_.reset(); }
  /// As if it had been due at `now`.
  void reset(Nanos now) noexcept { next_ = now + every_; }
  [[nodiscard]] Nanos every() const noexcept { return every_; }

 private:
  Nanos every_;
  std::optional<Nanos> next_;
};

}  // namespace leat
