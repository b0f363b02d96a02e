// What      blocking: has another thread do what would keep a worker from its actors: system calls
//           that wait, C libraries, long computations.
// Protocol  const std::string text = blocking([&] { return read_whole_file(path); });
// Invariants
//   (1) The actor goes on when the call has ended, also if it is cancelled meanwhile: so the call
//       may use what lies on the actor's stack.
// Limits    Not in an actor whose stack may be put away (SpawnOptions::stows), if the call uses
//           what lies on it. The call runs on a plain thread: what is an actor's (self, receive,
//           ActorLocal) is not there. At most kThreadsMax run at a time, the others wait for a
//           turn. On a plain thread, and with virtual time, it is a call.
// Cost      A wake-up of a thread, and of a worker: some microseconds.
// Source    Tokio's spawn_blocking.
#pragma once

#include <leat/actor/channel/oneshot.hpp>
#include <leat/actor/self.hpp>
#include <leat/base/function.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::actor {

class Scheduler;

/// The threads of one runtime for calls that block; as many as there ever were calls at a time.
class BlockingThreads {
 public:
  static constexpr std::size_t kThreadsMax = 64;

  explicit BlockingThreads(Scheduler& scheduler);
  BlockingThreads(const BlockingThreads&) = delete;
  BlockingThreads& operator=(const BlockingThreads&) = delete;
  ~BlockingThreads();

  /// Has a thread call it, soon. Threads: any.
  void run(Function<void()> call);
  [[nodiscard]] std::size_t threads();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable more_;
  // Guarded by mutex_.
  std::deque<Function<void()>> calls_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool over_ = false;
};

namespace internal {

/// Of the running actor's runtime; null if the caller may block itself.
[[nodiscard]] BlockingThreads* blocking_threads();

}  // namespace internal

/// Calls `f` on another thread, and waits for it.
///
/// Returns: what it returned. Throws: what it threw; Cancelled, before it was called.
template <class F>
std::invoke_result_t<F&> blocking(F&& f) {
  using R = std::invoke_result_t<F&>;
  static_assert(!std::is_reference_v<R>, "return a value: the other thread's is gone");
  check_cancelled();
  BlockingThreads* const threads = internal::blocking_threads();
  if (threads == nullptr) return f();
  struct Outcome {
    std::optional<std::conditional_t<std::is_void_v<R>, bool, R>> value;
    std::exception_ptr failure;
  };
  const auto outcome = std::make_shared<Outcome>();
  auto done = oneshot<bool>();
  threads->run([&f, outcome, promise = std::move(done.promise)]() mutable {
    try {
      if constexpr (std::is_void_v<R>) {
        f();
      } else {
        outcome->value.emplace(f());
      }
    } catch (...) {
      outcome->failure = std::current_exception();
    }
    (void)promise.send(true);
  });
  const CancelShield whole;  // it may use what lies on our stack
  (void)done.answer.receive();
  if (outcome->failure) std::rethrow_exception(std::move(outcome->failure));
  if constexpr (!std::is_void_v<R>) return *std::move(outcome->value);
}

}  // namespace leat::actor
