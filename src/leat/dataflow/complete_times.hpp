// What      How operators that keep records until their time is complete send them: oldest time
//           first, and no more in one activation than others can wait for.
// Protocol  Ask for a time with `notify_at`; call `for_each` once or more in every activation, with
//           one budget of records. When that is spent, the operator is activated again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/notificator.hpp>
#include <leat/progress/antichain.hpp>

namespace leat::dataflow {

template <progress::Timestamp T>
class CompleteTimes {
 public:
  /// `self` activates the operator whose times these are.
  explicit CompleteTimes(Activator self) : self_(std::move(self)) {}

  /// Asks for the capability's time.
  void notify_at(Capability<T> capability) { notificator_.notify_at(std::move(capability)); }

  /// How many records the operator may put out in this activation: a batch at least, even if taking
  /// input has spent its fuel, so that results are not put off for ever.
  template <class Record>
  [[nodiscard]] std::size_t budget() const noexcept {
    return std::max(records_left<Record>(self_), kBatchRecords<Record>);
  }

  /// Calls `finish(capability, left)` for each time that is complete, in ascending order.
  ///
  /// It takes what it does off `left`, and returns whether it is through with the time; if not, it
  /// is called for it again, in a later activation. Requires: it leaves 0 if it is not.
  ///
  /// `frontier` is an input's, or whatever says with `less_equal(time)` that a time may still come.
  template <class Frontier, class Finish>
  void for_each(const Frontier& frontier, std::size_t& left, Finish&& finish) {
    notificator_.look_again();
    for (;;) {
      if (left == 0) {
        self_.activate();
        return;
      }
      if (!current_) current_ = notificator_.next(frontier);
      if (!current_) return;
      if (finish(std::as_const(current_->capability), left)) current_.reset();
    }
  }

 private:
  Activator self_;
  Notificator<T> notificator_;
  std::optional<Notification<T>> current_;  // the time that is being worked through
};

namespace internal {

/// Records of one time that wait, and how many of them were worked through.
template <Container C>
struct Stash {
  C records;
  std::size_t done = 0;

  /// Calls `f(record&&)` for the records that are left, at most `left` of them.
  ///
  /// Returns: whether all were worked through.
  template <class F>
  bool work(std::size_t& left, F&& f) {
    for (auto at = std::next(records.begin(), static_cast<std::ptrdiff_t>(done));
         left > 0 && at != records.end(); ++at, ++done, --left) {
      f(std::move(*at));
    }
    return done == records.size();
  }
};

}  // namespace internal

}  // namespace leat::dataflow
