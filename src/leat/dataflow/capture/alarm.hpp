// What      Has an operator that waits for the world outside look again after a while: one timer at
//           most, gone with the operator.
#pragma once

#include <utility>

#include <leat/base/clock.hpp>
#include <leat/core/timers.hpp>
#include <leat/dataflow/builder.hpp>

namespace leat::dataflow::internal {

class Alarm {
 public:
  Alarm(core::Timers& timers, Activator whom) : timers_(&timers), whom_(std::move(whom)) {}
  Alarm(Alarm&& other) noexcept
      : timers_(std::exchange(other.timers_, nullptr)),
        whom_(std::move(other.whom_)),
        timer_(other.timer_) {}
  Alarm& operator=(Alarm&&) = delete;
  ~Alarm() {
    if (timers_ != nullptr) timers_->cancel(timer_);
  }

  /// Has the operator run `delay` from now, and not at what was set before.
  void set(Nanos delay) {
    timers_->cancel(timer_);
    timer_ = timers_->arm_after(delay, [whom = whom_] { whom.activate(); });
  }

 private:
  core::Timers* timers_;
  Activator whom_;
  core::TimerId timer_;
};

}  // namespace leat::dataflow::internal
