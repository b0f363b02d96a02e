#include <leat/queue/ring/ready.hpp>

#include <leat/base/os/event_descriptor.hpp>
#include <leat/base/os/thread_name.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace leat::queue {

class RingReady::Watch {
 public:
  Watch(RingBell& bell, std::shared_ptr<const void> memory, os::EventDescriptor event)
      : bell_(bell), memory_(std::move(memory)), event_(std::move(event)) {
    thread_ = std::thread([this] { watch(); });
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      quits_ = true;
    }
    changed_.notify_one();
    bell_.wake_all();
    thread_.join();
  }

  [[nodiscard]] const RingBell& bell() const noexcept { return bell_; }
  [[nodiscard]] int descriptor() const noexcept { return event_.number(); }

  void arm(Function<bool()> is_there) {
    {
      const std::lock_guard lock(mutex_);
      is_there_ = std::move(is_there);
      is_armed_ = true;
    }
    changed_.notify_one();
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    is_armed_ = false;
    event_.clear();
  }

 private:
  // Under the mutex `is_there_` is not changed meanwhile, and no `set` comes after a `clear`.
  enum class Found { nothing, news, other_order };
  Found look() {
    const std::lock_guard lock(mutex_);
    if (quits_ || !is_armed_) return Found::other_order;
    if (!is_there_()) return Found::nothing;
    is_armed_ = false;
    event_.set();
    return Found::news;
  }

  void watch() {
    os::set_thread_name("leat:ring-ready");
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return quits_ || is_armed_; });
        if (quits_) return;
      }
      // Whoever arms for something else meanwhile has found that what it was armed for is there, or
      // has seen it come: then this sleep ends by itself.
      bell_.sleep([this] { return look() != Found::nothing; }, std::chrono::milliseconds(100));
    }
  }

  RingBell& bell_;
  std::shared_ptr<const void> memory_;  // holds the bell
  os::EventDescriptor event_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Function<bool()> is_there_;  // guarded by mutex_, as the two below
  bool is_armed_ = false;
  bool quits_ = false;
  std::thread thread_;
};

RingReady::RingReady(std::unique_ptr<Watch> watch) noexcept : watch_(std::move(watch)) {}
RingReady::RingReady(RingReady&&) noexcept = default;
RingReady& RingReady::operator=(RingReady&&) noexcept = default;
RingReady::~RingReady() = default;

Result<RingReady> RingReady::on(RingBell& bell, std::shared_ptr<const void> memory) {
  auto event = os::EventDescriptor::make();
  if (!event) return event.error();
  return RingReady(std::make_unique<Watch>(bell, std::move(memory), std::move(*event)));
}

int RingReady::descriptor() const noexcept { return watch_->descriptor(); }
const RingBell* RingReady::bell() const noexcept { return &watch_->bell(); }
void RingReady::arm_for(Function<bool()> is_there) { watch_->arm(std::move(is_there)); }
void RingReady::clear() { watch_->clear(); }

}  // namespace leat::queue
