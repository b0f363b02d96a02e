// What      When a sender tells the receiver of a channel that something is in it. `edge` is the
//           rule we run with; the others stand so that benchmarks can show what each costs.
// Shape     what is announced of a burst of n messages, to a receiver that sleeps | that lags
//             edge                  the first since the receiver looked    1 .. n  | 1
//             per_message           every one                              n       | n
//             first_then_trailing   the first, and the end of a burst      2       | 2
//             on_done               the end of a burst                     1       | 1
// Protocol  `sent` after each message was queued; `done` when the sender has no more for now.
// Invariants
//   (1) After `done` every message that was sent has been announced, or will be looked at by a
//       receiver that was announced to and has not looked yet.
//   (2) Under `edge` and `per_message` that holds after each `sent`: nothing waits for `done`, and
//       a sender that never says it strands nothing. Under the others what was sent since may wait
//       for it, however long that takes.
// Limits    Messages to oneself are no matter of this: they activate the receiver at once.
// Cost      edge: a read-modify-write of the mailbox, and of each edge a push and a load of the
//           receiver's parker. The others: a count beside it.
// Source    The rules are those that Timely Dataflow's pull requests 815 and 816 compare; the state
//           that the receiver acknowledges, named there as the way out, is the doorbell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <leat/base/mutant.hpp>
#include <leat/comm/seat.hpp>
#include <leat/core/bell.hpp>
#include <leat/core/config.hpp>

namespace leat::comm {

/// Applies a rule to one sending end. Threads: the sender's.
class Notifier {
 public:
  Notifier(Seat& seat, core::NotifyRule rule) : seat_(&seat), rule_(rule) {
    if (rule == core::NotifyRule::first_then_trailing || rule == core::NotifyRule::on_done) {
      burst_.resize(seat.peers());
    }
  }

  /// A message to worker `to` is in the channel behind `bell`.
  ///
  /// When the receiver hears of it: see the rules.
  void sent(std::size_t to, core::Bell& bell) {
    if (rule_ == core::NotifyRule::edge) [[likely]] {
      seat_->announce(to, bell);
    } else {
      sent_otherwise(to, bell);
    }
  }

  /// The burst of messages to worker `to` is over.
  void done(std::size_t to, core::Bell& bell) {
    if (burst_.empty()) [[likely]]
      return;
    const std::uint32_t sent = burst_[to];
    burst_[to] = 0;
    if (LEAT_MUTANT("notify.first_only")) return;
    if (sent > (rule_ == core::NotifyRule::on_done ? 0U : 1U)) seat_->announce_again(to, bell);
  }

  [[nodiscard]] bool waits_for_done() const noexcept { return !burst_.empty(); }

 private:
  void sent_otherwise(std::size_t to, core::Bell& bell) {
    if (rule_ == core::NotifyRule::per_message) {
      seat_->announce_again(to, bell);
    } else if (burst_[to]++ == 0 && rule_ == core::NotifyRule::first_then_trailing) {
      seat_->announce_again(to, bell);
    }
  }

  Seat* seat_;
  core::NotifyRule rule_;
  std::vector<std::uint32_t> burst_;  // messages since `done`, per receiver; empty if nobody counts
};

}  // namespace leat::comm
