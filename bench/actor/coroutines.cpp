// Stackless coroutines over one list of those that can run: no stacks, no preemption, no cancellation, no
// other threads, no names. What an actor costs beyond that is what it is more.
#include "figures.hpp"
#include "rivals.hpp"

#include "../support/suite.hpp"

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace leat::bench {
namespace {

class Ready {
 public:
  void push(std::coroutine_handle<> one) { waiting_.push_back(one); }
  [[nodiscard]] std::coroutine_handle<> pop() {
    const std::coroutine_handle<> one = waiting_.front();
    waiting_.pop_front();
    return one;
  }
  /// Whom to go on with: symmetric transfer.
  [[nodiscard]] std::coroutine_handle<> next() {
    return waiting_.empty() ? std::noop_coroutine() : pop();
  }
  void run() {
    while (!waiting_.empty()) pop().resume();
  }

 private:
  std::deque<std::coroutine_handle<>> waiting_;
};

Ready ready;

// A coroutine that runs when it is its turn, and is joined by one other or by nobody.
class Task {
 public:
  struct promise_type {
    std::coroutine_handle<> joiner;
    std::exception_ptr failure;
    std::uint64_t value = 0;
    bool done = false;
    bool detached = false;

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Leave {
        bool gone;  // nobody joins it: its frame ends by itself, and its resumer goes on
        bool await_ready() noexcept { return gone; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          promise_type& promise = self.promise();
          promise.done = true;
          return promise.joiner ? promise.joiner : ready.next();
        }
        void await_resume() noexcept {}
      };
      return Leave{detached};
    }
    void return_value(std::uint64_t result) { value = result; }
    void unhandled_exception() { failure = std::current_exception(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Queues it.
  Task&& start() && {
    ready.push(handle_);
    return std::move(*this);
  }
  void detach() && {
    handle_.promise().detached = true;
    ready.push(std::exchange(handle_, nullptr));
  }

  [[nodiscard]] bool failed() const { return handle_.promise().failure != nullptr; }

  // Awaiting joins.
  [[nodiscard]] bool await_ready() const { return handle_.promise().done; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> joiner) {
    handle_.promise().joiner = joiner;
    return ready.next();
  }
  [[nodiscard]] std::uint64_t await_resume() const { return handle_.promise().value; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

struct Yield {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) {
    ready.push(self);
    return ready.next();
  }
  void await_resume() const noexcept {}
};

class Channel {
 public:
  void send(std::uint64_t message) {
    messages_.push_back(message);
    if (waiting_) ready.push(std::exchange(waiting_, nullptr));
  }
  auto receive() {
    struct Receive {
      Channel& from;
      [[nodiscard]] bool await_ready() const { return !from.messages_.empty(); }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) {
        from.waiting_ = self;
        return ready.next();
      }
      std::uint64_t await_resume() {
        const std::uint64_t message = from.messages_.front();
        from.messages_.pop_front();
        return message;
      }
    };
    return Receive{*this};
  }

 private:
  std::deque<std::uint64_t> messages_;
  std::coroutine_handle<> waiting_;
};

// A value for one who waits, kept by both.
class Once {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  void send(std::uint64_t value) {
    value_ = value;
    if (waiting_) ready.push(std::exchange(waiting_, nullptr));
  }
  auto receive() {
    struct Receive {
      Once& from;
      [[nodiscard]] bool await_ready() const { return from.value_.has_value(); }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) {
        from.waiting_ = self;
        return ready.next();
      }
      [[nodiscard]] std::uint64_t await_resume() const { return *from.value_; }
    };
    return Receive{*this};
  }

 private:
  std::optional<std::uint64_t> value_;
  std::coroutine_handle<> waiting_;
};

void all(Task main) {
  Task running = std::move(main).start();
  ready.run();
  require(running.await_ready() && !running.failed(), "the first coroutine did not end well");
}

Task link(std::uint64_t left, std::shared_ptr<Once> done) {
  if (left == 0) {
    done->send(1);
  } else {
    link(left - 1, std::move(done)).detach();
  }
  co_return 0;
}
Task chained_spawn_main(std::uint64_t n) {
  for (std::uint64_t round = 0; round < n / 1000 + 1; ++round) {
    auto done = std::make_shared<Once>();
    link(n < 1000 ? n : 1000, done).detach();
    require(co_await done->receive() == 1, "the chain broke");
  }
  co_return 0;
}
void chained_spawn(std::uint64_t n) { all(chained_spawn_main(n)); }

Task replies(std::shared_ptr<Once> question, std::shared_ptr<Once> answer) {
  answer->send(co_await question->receive() + 1);
  co_return 0;
}
Task ping_pong_oneshot_main(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    auto question = std::make_shared<Once>();
    auto answer = std::make_shared<Once>();
    replies(question, answer).detach();
    question->send(i);
    require(co_await answer->receive() == i + 1, "a wrong reply");
  }
  co_return 0;
}
void ping_pong_oneshot(std::uint64_t n) { all(ping_pong_oneshot_main(n)); }

Task panics() {
  throw std::runtime_error("panic");
  co_return 0;
}
Task catch_unwind_panics_main(std::uint64_t n) {
  std::vector<Task> tasks;
  for (std::uint64_t i = 0; i < n; ++i) tasks.push_back(panics().start());
  std::uint64_t seen = 0;
  for (Task& task : tasks) {
    co_await task;
    seen += task.failed() ? 1 : 0;
  }
  require(seen == n, "a failure was not seen");
  co_return 0;
}
void catch_unwind_panics(std::uint64_t n) { all(catch_unwind_panics_main(n)); }

Task works(std::uint64_t seed) { co_return busy(seed); }
Task spawn_storm_busy_main(std::uint64_t n) {
  std::vector<Task> tasks;
  for (std::uint64_t i = 0; i < n; ++i) tasks.push_back(works(i).start());
  std::uint64_t sum = 0;
  for (Task& task : tasks) sum += co_await task;
  require(sum != 0, "no work done");
  co_return 0;
}
void spawn_storm_busy(std::uint64_t n) { all(spawn_storm_busy_main(n)); }

Task yields(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) co_await Yield{};
  co_return 0;
}
void yield_in_hot_loop(std::uint64_t n) { all(yields(n)); }
Task yield_between_two_main(std::uint64_t n) {
  Task other = yields(n / 2).start();
  for (std::uint64_t i = 0; i < n / 2; ++i) co_await Yield{};
  co_return co_await other;
}
void yield_between_two(std::uint64_t n) { all(yield_between_two_main(n)); }

Task uncontended_channel_main(std::uint64_t n) {
  Channel channel;
  for (std::uint64_t i = 0; i < n; ++i) {
    channel.send(i);
    require(co_await channel.receive() == i, "a wrong message");
  }
  co_return 0;
}
void uncontended_channel(std::uint64_t n) { all(uncontended_channel_main(n)); }

Task echo(Channel& there, Channel& back, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) back.send(co_await there.receive());
  co_return 0;
}
Task ping_pong_main(std::uint64_t n) {
  Channel there;
  Channel back;
  Task other = echo(there, back, n / 2).start();
  for (std::uint64_t i = 0; i < n / 2; ++i) {
    there.send(i);
    require(co_await back.receive() == i, "a wrong message");
  }
  co_return co_await other;
}
void ping_pong(std::uint64_t n) { all(ping_pong_main(n)); }

Task nothing() { co_return 1; }
Task spawn_join_main(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    Task one = nothing().start();
    require(co_await one == 1, "a wrong value");
  }
  co_return 0;
}
void spawn_join(std::uint64_t n) { all(spawn_join_main(n)); }

constexpr std::array kPrograms{
    RivalProgram{"chained_spawn", chained_spawn},
    RivalProgram{"ping_pong_oneshot", ping_pong_oneshot},
    RivalProgram{"catch_unwind_panics", catch_unwind_panics},
    RivalProgram{"spawn_storm_busy", spawn_storm_busy},
    RivalProgram{"yield_in_hot_loop", yield_in_hot_loop},
    RivalProgram{"yield_between_two", yield_between_two},
    RivalProgram{"uncontended_channel", uncontended_channel},
    RivalProgram{"ping_pong", ping_pong},
    RivalProgram{"spawn_join", spawn_join},
};

}  // namespace

std::span<const RivalProgram> coroutine_programs() { return kPrograms; }

}  // namespace leat::bench
