#include <leat/actor/io/blocking.hpp>

#include <leat/actor/scheduler/scheduler.hpp>
#include <leat/base/os/thread_name.hpp>

namespace leat::actor {

BlockingThreads::BlockingThreads(Scheduler& /*scheduler*/) {}

BlockingThreads::~BlockingThreads() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BlockingThreads::run(Function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    if (calls_.size() > idle_ && threads_.size() < kThreadsMax) {
      try {
        threads_.emplace_back([this] { serve(); });
      } catch (...) {
        if (threads_.empty()) {  // nobody would come to it
          calls_.pop_back();
          throw;
        }
      }
    }
  }
  more_.notify_one();
}

std::size_t BlockingThreads::threads() {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void BlockingThreads::serve() {
  os::set_thread_name("leat blocking");
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    more_.wait(lock, [this] { return over_ || !calls_.empty(); });
    --idle_;
    if (calls_.empty()) return;
    Function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    call.reset();
    lock.lock();
  }
}

BlockingThreads* internal::blocking_threads() {
  Actor* const self = this_actor();
  if (self == nullptr || self->scheduler->config().is_virtual_time()) return nullptr;
  return &self->scheduler->parts().get<BlockingThreads>(*self->scheduler);
}

}  // namespace leat::actor
