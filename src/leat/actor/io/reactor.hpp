// What      Reactor: wakes actors when their descriptors become ready. One per runtime, with a
//           thread that waits in the kernel; it is made when the first descriptor is watched.
// Protocol  Reader: seen = edges; try to read; if that would wait, wait until edges is no longer
//           `seen`; again. Reactor: the kernel says that something became readable: add one to
//           edges, wake all who wait.
// Invariants
//   (1) What becomes ready after a try that would have waited changes `edges` after `seen` was
//       taken: so nobody waits for what is there.
//   (2) A Watched is never freed while the reactor lives; its generation tells tenants apart.
// Limits    Files are always ready for the kernel: they go through `blocking`, see File. Not
//           with virtual time: nothing that the world does is simulated.
// Cost      A wait: a lock, a switch, and a wake-up of a worker by another thread.
// Source    Go's netpoller; epoll(7) by edges.
#pragma once

#include <leat/actor/wait/waiter.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/os/io/poller.hpp>
#include <leat/base/os/io/transfer.hpp>
#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace leat::actor {

class Scheduler;

class Reactor {
  struct quit : Edge {};  // who ends the reactor -> its thread

 public:
  /// What one descriptor is to the reactor.
  struct Watched {
    ObjectLock lock{nullptr};
    WaitList waiting[2];               // guarded by lock; readers, writers
    Atomic<std::uint32_t> edges[2]{};  // written with the lock held; relaxed: see invariant (1)
    std::uint32_t generation = 0;      // guarded by lock
    std::uint32_t index = 0;
  };

  explicit Reactor(Scheduler& scheduler);
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  ~Reactor();

  /// The reactor of the running actor's runtime. Throws: UsageError if there is none.
  [[nodiscard]] static Reactor& here();

  [[nodiscard]] Result<Watched*> watch(int descriptor);
  void forget(Watched& watched, int descriptor) noexcept;

  /// How many descriptors are watched, a moment ago.
  [[nodiscard]] std::size_t size_approx();

 private:
  void run();
  void tell(const os::Readiness& ready) noexcept;

  os::Poller poller_;
  Atomic<bool> over_{false};
  std::mutex mutex_;
  std::deque<Watched> all_;       // guarded by mutex_; what is in it does not move
  std::vector<Watched*> vacant_;  // guarded by mutex_
  std::thread thread_;
};

/// A descriptor that actors wait for.
///
/// Threads: one that reads and one that writes at a time; actors of one runtime.
class Polled {
 public:
  Polled() noexcept = default;
  Polled(Polled&& other) noexcept
      : reactor_(other.reactor_),
        watched_(std::exchange(other.watched_, nullptr)),
        descriptor_(std::move(other.descriptor_)) {}
  Polled& operator=(Polled&& other) noexcept {
    if (this != &other) {
      close();
      reactor_ = other.reactor_;
      watched_ = std::exchange(other.watched_, nullptr);
      descriptor_ = std::move(other.descriptor_);
    }
    return *this;
  }
  ~Polled() { close(); }

  /// Takes a descriptor that does not wait. Throws: UsageError on a plain thread, or with virtual
  /// time.
  [[nodiscard]] static Result<Polled> adopt(os::Descriptor descriptor);

  [[nodiscard]] int number() const noexcept { return descriptor_.number(); }
  explicit operator bool() const noexcept { return watched_ != nullptr; }
  void close() noexcept;

  enum class Side : unsigned char { read, write };

  /// Calls `attempt()`, a Transfer, until it is not told to come again, and waits in between. When
  /// `deadline` has come first the error is ETIMEDOUT; EBADF if it is closed. Throws: Cancelled.
  template <class Attempt>
  os::Transfer until_done(Side side, Nanos deadline, Attempt&& attempt) {
    if (watched_ == nullptr) return closed();
    for (;;) {
      const std::uint32_t seen = edges(side);
      const os::Transfer done = attempt();
      if (!done.again()) {
        after_success();
        return done;
      }
      if (!wait_beyond(side, seen, deadline)) return timed_out();
    }
  }

 private:
  [[nodiscard]] std::uint32_t edges(Side side) const noexcept {
    return watched_->edges[static_cast<int>(side)].load_relaxed();  // invariant (1)
  }
  [[nodiscard]] bool wait_beyond(Side side, std::uint32_t seen, Nanos deadline);
  [[nodiscard]] static os::Transfer timed_out() noexcept;
  [[nodiscard]] static os::Transfer closed() noexcept;
  void after_success();

  Reactor* reactor_ = nullptr;
  Reactor::Watched* watched_ = nullptr;
  os::Descriptor descriptor_;
  unsigned runs_ = 0;  // calls that did not wait, in a row
};

}  // namespace leat::actor
