#include <leat/actor/look/stall.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/os/thread_sample.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace leat::actor {
namespace {

// In a signal handler on the worker's thread: the worker is its own then, and so is the actor.
void take_sample(void* context, std::uintptr_t stack_pointer) noexcept {
  auto& sample = *static_cast<WorkerSample*>(context);
  const Stack stack = Stack::of(reinterpret_cast<const void*>(stack_pointer));
  if (!stack || stack.record().owner == nullptr) return;  // in the scheduler
  const auto& actor =
      *static_cast<const Actor*>(static_cast<const internal::OnStack*>(stack.record().owner));
  sample.turn = worker_of(actor).stats().turns;
  sample.pid = actor.pid();
  sample.name_size = std::min(actor.name.size(), sample.name.size());
  std::copy_n(actor.name.data(), sample.name_size, sample.name.data());
  sample.call_count = os::calls_here(sample.calls);
}

}  // namespace

bool sample_worker(Worker& worker, WorkerSample& sample) {
  return worker.sample(&take_sample, &sample);
}

StallWatch::StallWatch(Scheduler& scheduler)
    : scheduler_(scheduler), seen_(scheduler.worker_count()), thread_([this] { run(); }) {}

StallWatch::~StallWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StallWatch::run() {
  os::set_thread_name("leat stalls");
  const Nanos pause = std::max<Nanos>(scheduler_.config().stall_after() / 2, Nanos{100'000});
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return over_; })) {
    lock.unlock();
    for (std::size_t i = 0; i < seen_.size(); ++i) look_at(i, seen_[i]);
    lock.lock();
  }
}

void StallWatch::look_at(std::size_t worker, Seen& seen) {
  WorkerSample sample;
  if (!sample_worker(scheduler_.worker(worker), sample) || !sample.pid) {
    seen = {};
    return;
  }
  const Nanos now = RealClock().now();
  if (seen.pid != sample.pid || seen.turn != sample.turn) {
    seen = {sample.turn, sample.pid, now, false};
    return;
  }
  if (seen.told || now - seen.since < scheduler_.config().stall_after()) return;
  seen.told = true;
  Stall stall;
  stall.pid = sample.pid;
  stall.name.assign(sample.name.data(), sample.name_size);
  stall.worker = worker;
  stall.time = now - seen.since;
  stall.calls = os::names_of_calls(std::span(sample.calls.data(), sample.call_count));
  scheduler_.config().on_stall()(stall);
}

}  // namespace leat::actor
