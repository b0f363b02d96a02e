// What      A worker's loop: looks for news, runs the tasks that have something to do, and sleeps
//           when none has. What a task is (a dataflow, a tile, a scheduler of actors) is the upper
//           layer's business.
// Protocol  One step: poll events, which activates tasks; then run each active task once. An idle
//           worker polls for as long as its policy says, with the same function, and then parks.
// Invariants
//   (1) `step` never waits and never polls more than once.
//   (2) What is activated while tasks run is run in the same pass if its number is higher than that
//       of the task that runs, else in the next step; and it keeps the worker from parking.
//   (3) A worker whose fabric was stopped leaves from its next step with `Stopped`.
//   (4) A task that throws is destroyed; the exception leaves the step.
//   (5) Of tasks that always have more to do, each uses fuel in proportion to its weight: a turn is
//       `turn * weight`. What a task overdraws is taken off its next turns, which it sits out until
//       it is level; what it leaves of one is added to the next, if it has more to do then.
// Threads   One. Everything here is the worker's own, save what `Surroundings` shares.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/clock.hpp>
#include <leat/core/activation.hpp>
#include <leat/core/fuel.hpp>
#include <leat/core/idle_policy.hpp>
#include <leat/core/spares.hpp>
#include <leat/core/stop.hpp>
#include <leat/core/timers.hpp>

namespace leat::core {

/// Thrown out of a worker's loop when another worker failed or somebody asked for a stop.
class Stopped : public std::runtime_error {
 public:
  explicit Stopped(const StopReason& reason)
      : std::runtime_error("stopped: " + reason.who + ": " + reason.why) {}
};

/// Where a worker hears from others, and where it sleeps.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// Takes in what others announced, activating whom it concerns. Never waits.
  virtual void poll() = 0;
  /// Sleeps until something is announced or `timeout` has passed; at once if something is there.
  virtual void park(std::optional<Nanos> timeout) = 0;
};

/// What a worker runs.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;
  /// Runs once, with bounded work. Returns: false when it has ended and is to be destroyed.
  virtual bool run() = 0;
};

struct WorkerCounters {
  std::uint64_t steps = 0;
  std::uint64_t runs = 0;  // of tasks
  std::uint64_t parks = 0;
};

class Worker {
 public:
  /// `clock` may be null: then the worker never polls, never parks, and timers are due at once.
  Worker(Surroundings& surroundings, StopToken& stop, const Clock* clock, IdlePolicy idle);

  using TaskId = std::uint32_t;

  /// Reserves a task's place, so that its parts can refer to it before it exists.
  TaskId reserve();
  [[nodiscard]] TaskId next_id() const noexcept { return static_cast<TaskId>(tasks_.size()); }
  ///
  /// Requires: `weight >= 1`.
  void install(TaskId id, std::unique_ptr<Task> task, std::uint32_t weight = 1);
  /// Destroys a task now.
  ///
  /// Errors: `UsageError` if it is running just now.
  void drop(TaskId id);
  [[nodiscard]] Activation activation_of(TaskId id) noexcept { return {active_, id}; }
  [[nodiscard]] bool has_tasks() const noexcept { return live_ > 0; }
  /// A task that runs; null if it does not.
  [[nodiscard]] const Task* task(TaskId id) const noexcept {
    return running(id) ? tasks_[id].task.get() : nullptr;
  }
  [[nodiscard]] Task* task(TaskId id) noexcept {
    return running(id) ? tasks_[id].task.get() : nullptr;
  }
  /// Whether it is the one that is being run.
  [[nodiscard]] bool is_inside(TaskId id) const noexcept { return id == now_; }

  /// What tasks use up; whoever runs within one takes it off. Unlimited unless told otherwise.
  [[nodiscard]] Fuel& fuel() noexcept { return fuel_; }
  /// Where those who keep memory for tasks say so. Swept every few hundred steps, and emptied before
  /// the worker sleeps.
  [[nodiscard]] Spares& spares() noexcept { return spares_; }
  /// How much a task of weight 1 may use in one turn. Of tasks that are installed later.
  void set_turn(std::int64_t turn) noexcept { turn_ = turn; }
  [[nodiscard]] bool running(TaskId id) const noexcept {
    return id < tasks_.size() && tasks_[id].task != nullptr;
  }

  /// One pass: news, then each active task once. Returns: whether tasks remain.
  bool step();
  /// The same, but sleeps first if nothing is active: until there is news, the next timer, or
  /// `timeout`.
  bool step_or_park(std::optional<Nanos> timeout);

  /// Takes in news and due timers. Returns: whether some task is active.
  bool poll_events();

  [[nodiscard]] Timers& timers() noexcept { return timers_; }
  [[nodiscard]] const WorkerCounters& counters() const noexcept { return counters_; }

 private:
  void require_rest() const;
  void idle(std::optional<Nanos> timeout);
  void run_active();

  Surroundings& surroundings_;
  StopToken& stop_;
  const Clock* clock_;
  IdlePolicy idle_;
  Timers timers_;
  ActivationSet active_;
  struct Place {
    std::unique_ptr<Task> task;
    std::int64_t turn = 0;
    std::int64_t debt = 0;  // what it overdrew; below 0: what it has left over
  };

  std::vector<Place> tasks_;
  std::size_t live_ = 0;
  TaskId now_ = ActivationSet::kNone;  // the task that is running
  static constexpr std::uint64_t kStepsPerSweep = 256;

  Fuel fuel_;
  Spares spares_;
  std::int64_t turn_ = Fuel::kUnlimited;
  WorkerCounters counters_;
};

}  // namespace leat::core
