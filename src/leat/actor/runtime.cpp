#include <leat/actor/runtime.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/usage_error.hpp>

namespace leat::actor {

Runtime::Runtime(Config config) : scheduler_(std::make_unique<Scheduler>(std::move(config))) {}
Runtime::~Runtime() {
  // Locks that a thread held when the process was forked are held for ever: nothing is touched.
  if (scheduler_->was_left_by_threads()) static_cast<void>(scheduler_.release());
}

bool Runtime::cancel(Pid pid) noexcept { return scheduler_->cancel(pid); }
ShutdownReport Runtime::shut_down(const ShutdownOptions& options) {
  if (this_worker() != nullptr) {
    throw UsageError("Runtime::shut_down", "to wait for a runtime", "the caller is an actor",
                     "call shut_down_others there");
  }
  scheduler_->check_threads("to end actors");
  auto handle =
      spawn({.name = "shutdown", .daemon = true}, [options] { return shut_down_others(options); });
  scheduler_->run_until_ended(*scheduler_->slots().find(handle.pid().slot()));
  return handle.join();
}
bool Runtime::is_alive(Pid pid) const noexcept { return scheduler_->is_alive(pid); }
const Config& Runtime::config() const noexcept { return scheduler_->config(); }

Runtime::Stats Runtime::stats() const noexcept {
  Stats all;
  for (std::size_t i = 0; i < scheduler_->worker_count(); ++i) {
    const Worker::Stats one = scheduler_->worker(i).stats();
    all.turns += one.turns;
    all.steals += one.steals;
    all.sleeps += one.sleeps;
    const Lanes* const lanes = scheduler_->worker(i).lanes();
    const std::size_t groups = config().shares().size();
    all.time_of_group.resize(groups);
    for (std::size_t g = 0; g < groups; ++g) all.time_of_group[g] += lanes->time_of(g);
  }
  all.stowed = scheduler_->stower().stowed();
  return all;
}

std::vector<StackUse> Runtime::stack_use() const { return scheduler_->stack_report().report(); }

bool Runtime::is_here() const noexcept {
  const Worker* const worker = this_worker();
  return worker != nullptr && &worker->scheduler() == scheduler_.get();
}
void Runtime::wait_until_quiet() { scheduler_->run_until_quiet(); }
void Runtime::give_back(Actor& actor) noexcept { scheduler_->slots().give(&actor, &actor); }

}  // namespace leat::actor
