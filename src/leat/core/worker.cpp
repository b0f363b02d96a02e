#include <leat/core/worker.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::core {

namespace {

// A clock for workers that have none. It stands at the end of time, so every timer is due at once.
class NoClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const noexcept override { return Nanos::max(); }
};

const Clock& clock_or_none(const Clock* clock) {
  static const NoClock none;
  return clock != nullptr ? *clock : none;
}

}  // namespace

Worker::Worker(Surroundings& surroundings, StopToken& stop, const Clock* clock, IdlePolicy idle)
    : surroundings_(surroundings),
      stop_(stop),
      clock_(clock),
      idle_(idle),
      timers_(clock_or_none(clock)) {}

Worker::TaskId Worker::reserve() {
  tasks_.emplace_back();
  return static_cast<TaskId>(tasks_.size() - 1);
}

void Worker::install(TaskId id, std::unique_ptr<Task> task, std::uint32_t weight) {
  Place& place = tasks_[id];
  LEAT_CHECK(place.task == nullptr, "a task is installed once");
  place.task = std::move(task);
  place.turn = turn_ >= Fuel::kUnlimited / weight ? Fuel::kUnlimited : turn_ * weight;
  ++live_;
  active_.activate(id);
}

void Worker::drop(TaskId id) {
  if (!running(id)) return;
  if (id == now_) {
    throw UsageError("worker", "task " + std::to_string(id) + " to be dropped",
                     "that it is running just now", "drop it between two steps");
  }
  active_.clear(id);
  tasks_[id].task.reset();
  --live_;
}

bool Worker::poll_events() {
  surroundings_.poll();
  if (!timers_.empty()) timers_.fire_due();
  return active_.any();
}

void Worker::require_rest() const {
  if (!active_.running()) [[likely]]
    return;
  throw UsageError("worker", "a step", "a step that is not finished",
                   "do not step a worker from inside an operator");
}

bool Worker::step() {
  require_rest();
  poll_events();
  run_active();
  return has_tasks();
}

bool Worker::step_or_park(std::optional<Nanos> timeout) {
  require_rest();
  // Without tasks and without a timeout there is nothing that could end the sleep.
  const bool may_idle = clock_ != nullptr && (has_tasks() || timeout);
  if (!poll_events() && may_idle) idle(timeout);
  run_active();
  return has_tasks();
}

void Worker::idle(std::optional<Nanos> timeout) {
  if (timeout && *timeout <= Nanos{0}) return;
  if (idle_.poll(*clock_, [this] { return poll_events() || stop_.requested(); })) return;
  if (const auto left = timers_.time_left()) timeout = timeout ? std::min(*timeout, *left) : *left;
  if (timeout && *timeout <= Nanos{0}) return;
  ++counters_.parks;
  spares_.release_all();
  surroundings_.park(timeout);
  poll_events();
}

void Worker::run_active() {
  if (++counters_.steps % kStepsPerSweep == 0) spares_.sweep();
  if (const auto* reason = stop_.reason()) throw Stopped(*reason);
  struct Run {  // also ended by an exception, and the task that threw with it
    Worker& worker;
    explicit Run(Worker& w) : worker(w) { worker.active_.enter_run(); }
    ~Run() {
      if (const TaskId thrower = std::exchange(worker.now_, ActivationSet::kNone);
          thrower != ActivationSet::kNone) {
        worker.drop(thrower);
      }
      worker.active_.leave_run();
    }
  };
  const Run run(*this);
  for (auto id = active_.take_from(0); id != ActivationSet::kNone; id = active_.take_from(id + 1)) {
    if (!running(id)) continue;
    Place& place = tasks_[id];
    fuel_.left = place.turn - place.debt;
    if (fuel_.is_spent()) {  // it sits this turn out
      place.debt -= place.turn;
      active_.activate(id);
      continue;
    }
    ++counters_.runs;
    now_ = id;
    const bool remains = place.task->run();
    now_ = ActivationSet::kNone;
    Place& after = tasks_[id];  // the run may have moved the places
    const std::int64_t kept = active_.is_set(id) ? after.turn : 0;
    after.debt = -std::min(fuel_.left, kept);
    if (!remains) drop(id);
  }
}

}  // namespace leat::core
