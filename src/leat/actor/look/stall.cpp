#include <leat/actor/look/stall.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/os/thread_sample.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace leat::actor {
namespace {

// What the handler saw on a worker's thread. It is the worker's own then, and so is the actor.
struct Sample {
  std::uint64_t turn = 0;
  Pid pid;
  std::array<char, 64> name{};
  std::size_t name_size = 0;
  std::array<void*, 40> calls{};
  std::size_t call_count = 0;
};

void take_sample(void* context, std::uintptr_t stack_pointer) noexcept {
  auto& sample = *static_cast<Sample*>(context);
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
  Sample sample;
  if (!scheduler_.worker(worker).sample(&take_sample, &sample) || !sample.pid) {
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
