#include <leat/actor/io/reactor.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/supervise/here.hpp>
#include <leat/actor/wait/wait.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/base/usage_error.hpp>

#include <array>
#include <cerrno>

namespace leat::actor {
namespace {

constexpr unsigned kRunsMost = 32;

}  // namespace

Reactor::Reactor(Scheduler& /*scheduler*/) : thread_([this] { run(); }) {}

Reactor::~Reactor() {
  over_.store_release(true, quit{});
  poller_.ring();
  thread_.join();
}

Reactor& Reactor::here() {
  Scheduler& scheduler = internal::scheduler_here("input and output");
  if (scheduler.config().is_virtual_time()) {
    throw UsageError("input and output", "to wait for the world", "a runtime with virtual time",
                     "use Config::current_thread or exact, or a channel in place of the world");
  }
  return scheduler.parts().get<Reactor>(scheduler);
}

Result<Reactor::Watched*> Reactor::watch(int descriptor) {
  Watched* watched = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (vacant_.empty()) {
      watched = &all_.emplace_back();
      watched->index = static_cast<std::uint32_t>(all_.size() - 1);
    } else {
      watched = vacant_.back();
      vacant_.pop_back();
    }
  }
  std::uint32_t generation = 0;
  {
    const ObjectLock::Guard guard(watched->lock);
    generation = watched->generation;
  }
  const int problem = poller_.add(descriptor, (std::uint64_t{generation} << 32) | watched->index);
  if (problem == 0) return watched;
  const std::lock_guard lock(mutex_);
  vacant_.push_back(watched);
  return Error{"input and output: asked to wait for descriptor " + std::to_string(descriptor) +
               "; found \"" + os::error_text(problem) + "\"; files go through File"};
}

void Reactor::forget(Watched& watched, int descriptor) noexcept {
  poller_.remove(descriptor);
  {
    const ObjectLock::Guard guard(watched.lock);
    ++watched.generation;
  }
  const std::lock_guard lock(mutex_);
  vacant_.push_back(&watched);
}

std::size_t Reactor::size_approx() {
  const std::lock_guard lock(mutex_);
  return all_.size() - vacant_.size();
}

void Reactor::run() {
  os::set_thread_name("leat reactor");
  std::array<os::Readiness, 64> ready;
  while (!over_.load_acquire(quit{})) {
    const std::size_t count = poller_.wait(ready, std::nullopt);
    for (std::size_t i = 0; i < count; ++i) tell(ready[i]);
  }
}

void Reactor::tell(const os::Readiness& ready) noexcept {
  Watched* watched = nullptr;
  {
    const std::lock_guard lock(mutex_);
    watched = &all_[static_cast<std::uint32_t>(ready.token)];
  }
  const ObjectLock::Guard guard(watched->lock);
  if (watched->generation != static_cast<std::uint32_t>(ready.token >> 32)) return;
  const bool sides[2] = {ready.readable, ready.writable};
  for (int side = 0; side < 2; ++side) {
    if (!sides[side]) continue;
    watched->edges[side].store_relaxed(watched->edges[side].load_relaxed() + 1);  // under the lock
    watched->waiting[side].fire_all();
  }
}

Result<Polled> Polled::adopt(os::Descriptor descriptor) {
  Polled polled;
  polled.reactor_ = &Reactor::here();
  Result<Reactor::Watched*> watched = polled.reactor_->watch(descriptor.number());
  if (!watched) return std::move(watched).error();
  polled.watched_ = *watched;
  polled.descriptor_ = std::move(descriptor);
  return polled;
}

void Polled::close() noexcept {
  if (watched_ == nullptr) return;
  reactor_->forget(*std::exchange(watched_, nullptr), descriptor_.number());
  descriptor_.close();
}

bool Polled::wait_beyond(Side side, std::uint32_t seen, Nanos deadline) {
  runs_ = 0;
  Reactor::Watched& watched = *watched_;
  ObjectLock::Guard guard(watched.lock);
  while (edges(side) == seen) {
    if (wait(guard, watched.waiting[static_cast<int>(side)], deadline,
             {WaitKind::readiness, static_cast<std::uint64_t>(descriptor_.number())}) ==
            Waited::timed_out &&
        edges(side) == seen) {
      return false;
    }
  }
  return true;
}

os::Transfer Polled::timed_out() noexcept { return {0, ETIMEDOUT}; }
os::Transfer Polled::closed() noexcept { return {0, EBADF}; }

// Who always finds something to do lets others run now and then.
void Polled::after_success() {
  if (++runs_ < kRunsMost) return;
  runs_ = 0;
  yield_now();
}

}  // namespace leat::actor
