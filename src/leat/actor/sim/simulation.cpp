#include <leat/actor/sim/simulation.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/rng.hpp>
#include <leat/base/usage_error.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

extern "C" {
// Where allocations are counted.
[[gnu::weak]] extern const char leat_actor_preempt_hooked;
}

namespace leat::actor {
namespace {

bool looks_at_allocations(const SimulationOptions& options) {
  return options.preemptions > 0 || options.failures > 0;
}

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options)
      : options_(options),
        rng_(options.seed),
        scheduler_(Config::virtual_time()
                       .simulated_workers(options.workers)
                       .idle_spin(Nanos{0})
                       .alloc_interval(looks_at_allocations(options) ? 1 : 0),
                   true),
        asleep_(options.workers, false) {
    scheduler_.set_point(&Simulation::at_lock, this);
    if (looks_at_allocations(options)) scheduler_.set_allocated(&Simulation::at_allocation);
  }

  SimulationReport run(std::function<void()> first) {
    JoinHandle<void> main = start(std::move(first));
    main_ = main.pid();
    while (!scheduler_.is_quiet(true)) {
      if (++report_.steps > options_.steps_max) {
        fail("it did not end within " + std::to_string(options_.steps_max) + " steps");
        end_all();
        break;
      }
      if (!step()) {
        fail("deadlock: " + who_waits());
        end_all();
        break;
      }
    }
    if (report_.failure.empty() && main.is_done()) {
      const Joined<void> joined = main.join_result();
      if (!joined.ok()) fail("the first actor failed: " + joined.exit.text());
    } else {
      main.detach();
    }
    report_.ok = report_.failure.empty();
    report_.trace = trace_;
    report_.time = scheduler_.clock().now();
    return std::move(report_);
  }

 private:
  JoinHandle<void> start(std::function<void()> first) {
    using Closure = std::function<void()>;
    Actor& actor = internal::vacant_from_outside(scheduler_);
    internal::store<Closure>(actor, std::move(first));
    actor.type = &internal::TypeOf<Closure>::kType;
    internal::move_in(actor, nullptr, SpawnOptions{.name = "first"});
    internal::start_from_outside(scheduler_, actor);
    return JoinHandle<void>(actor);
  }

  // Lets one worker do one thing. Returns: false if nobody ever can any more.
  bool step() {
    std::vector<std::size_t> awake;
    for (std::size_t i = 0; i < asleep_.size(); ++i) {
      if (asleep_[i] && scheduler_.worker(i).wake_up()) asleep_[i] = false;
      if (!asleep_[i]) awake.push_back(i);
    }
    if (awake.empty()) return pass_time();
    if (options_.delays > 0 && rng_.below(65536) < options_.delays) {
      const auto by = rng_.below(static_cast<std::uint64_t>(options_.delay_most.count()) + 1);
      note(by);
      scheduler_.virtual_clock()->advance(Nanos{static_cast<Nanos::rep>(by)});
    }
    const std::size_t chosen = awake[rng_.below(awake.size())];
    note(chosen);
    if (!scheduler_.worker(chosen).step(rng_)) {
      asleep_[chosen] = scheduler_.worker(chosen).fall_asleep();
    }
    return true;
  }

  bool pass_time() {
    std::optional<Nanos> next;
    for (std::size_t i = 0; i < asleep_.size(); ++i) {
      const std::optional<Nanos> timer = scheduler_.worker(i).next_timer();
      if (timer && (!next || *timer < *next)) next = timer;
    }
    if (!next) return false;
    SettableClock& clock = *scheduler_.virtual_clock();
    if (*next > clock.now()) clock.set(*next);
    for (std::size_t i = 0; i < asleep_.size(); ++i) {
      const std::optional<Nanos> timer = scheduler_.worker(i).next_timer();
      if (!timer || *timer > clock.now()) continue;
      scheduler_.worker(i).get_up();
      asleep_[i] = false;
    }
    return true;
  }

  static void at_lock(void* context, Actor& self) {
    auto& here = *static_cast<Simulation*>(context);
    if (here.ending_) return;
    if (here.options_.cancels > 0 && self.pid() != here.main_ &&
        here.rng_.below(65536) < here.options_.cancels) {
      ++here.report_.cancelled;
      self.orders.store_relaxed(Actor::kCancel);  // it is looked at before it waits
    }
    if (here.rng_.below(256) < here.options_.switches) {
      here.note(self.index);
      worker_of(self).yield(self);
    }
  }

  static bool at_allocation(void* context, Actor& self) {
    auto& here = *static_cast<Simulation*>(context);
    if (here.ending_) return false;
    if (here.rng_.below(256) < here.options_.preemptions) {
      here.note(self.index);
      worker_of(self).yield(self);
    }
    if (self.pid() == here.main_ || here.rng_.below(65536) >= here.options_.failures) return false;
    ++here.report_.failed;
    here.note(self.index + 1);
    return true;
  }

  void note(std::uint64_t choice) noexcept { trace_ = mix64(trace_ ^ choice) + report_.steps; }

  void fail(std::string what) {
    report_.failure = std::move(what) + " (seed " + std::to_string(options_.seed) + ", step " +
                      std::to_string(report_.steps) + ")";
  }

  std::string who_waits() {
    std::string names;
    int shown = 0;
    scheduler_.slots().for_each([&](Actor& actor) {
      if (!actor.live) return;
      if (++shown > 8) return;
      names += (names.empty() ? "" : ", ") + std::to_string(actor.index) + "." +
               std::to_string(actor.generation) +
               (actor.name.empty() ? "" : " \"" + actor.name + "\"");
    });
    return (shown > 8 ? std::to_string(shown) + " actors wait, among them " : "waiting: ") + names;
  }

  // So that stacks are unwound and nothing leaks.
  void end_all() {
    ending_ = true;
    scheduler_.slots().for_each([this](Actor& actor) { scheduler_.cancel(actor); });
    for (std::uint64_t left = options_.steps_max; left > 0 && !scheduler_.is_quiet(true); --left) {
      if (!step()) break;
    }
    LEAT_CHECK(scheduler_.is_quiet(true), "a simulated actor swallows that it is cancelled");
  }

  const SimulationOptions options_;
  Rng rng_;
  Scheduler scheduler_;
  std::vector<bool> asleep_;
  Pid main_;
  std::uint64_t trace_ = 0;
  bool ending_ = false;
  SimulationReport report_;
};

}  // namespace

SimulationReport simulate(const SimulationOptions& options, std::function<void()> first) {
  if (looks_at_allocations(options) && &leat_actor_preempt_hooked == nullptr) {
    throw UsageError("simulate", "to look at allocations",
                     "a program whose operator new does not count",
                     "link it with leat::actor_preempt (not under ThreadSanitizer)");
  }
  return Simulation(options).run(std::move(first));
}

}  // namespace leat::actor
