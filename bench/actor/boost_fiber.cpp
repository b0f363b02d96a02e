// Boost.Fiber, one thread, its usual scheduler, stacks from a pool.
#include "figures.hpp"
#include "rivals.hpp"

#include "../support/suite.hpp"

#include <boost/context/pooled_fixedsize_stack.hpp>
#include <boost/fiber/all.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace leat::bench {
namespace {

namespace fibers = boost::fibers;

boost::context::pooled_fixedsize_stack& stacks() {
  static boost::context::pooled_fixedsize_stack pool(std::size_t{64} * 1024);
  return pool;
}

template <class F>
fibers::fiber start(F&& f) {
  return fibers::fiber(std::allocator_arg, stacks(), std::forward<F>(f));
}

void chain(std::uint64_t left, std::shared_ptr<fibers::promise<int>> done) {
  if (left == 0) {
    done->set_value(1);
    return;
  }
  start([left, done = std::move(done)] { chain(left - 1, done); }).detach();
}
void chained_spawn(std::uint64_t n) {
  for (std::uint64_t round = 0; round < n / 1000 + 1; ++round) {
    auto done = std::make_shared<fibers::promise<int>>();
    auto answer = done->get_future();
    chain(n < 1000 ? n : 1000, std::move(done));
    require(answer.get() == 1, "the chain broke");
  }
}

void ping_pong_oneshot(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    fibers::promise<std::uint64_t> question;
    fibers::promise<std::uint64_t> reply;
    auto asked = question.get_future();
    auto answer = reply.get_future();
    start([asked = std::move(asked), reply = std::move(reply)]() mutable {
      reply.set_value(asked.get() + 1);
    }).detach();
    question.set_value(i);
    require(answer.get() == i + 1, "a wrong reply");
  }
}

// A value, or what was thrown, by a future, as join does it here.
template <class F>
std::uint64_t fan_out(std::uint64_t n, F f) {
  std::vector<fibers::future<std::uint64_t>> futures;
  std::vector<fibers::fiber> all;
  for (std::uint64_t i = 0; i < n; ++i) {
    fibers::packaged_task<std::uint64_t()> task([f, i] { return f(i); });
    futures.push_back(task.get_future());
    all.push_back(start(std::move(task)));
  }
  std::uint64_t sum = 0;
  for (auto& future : futures) {
    try {
      sum += future.get();
    } catch (const std::runtime_error&) {
      ++sum;
    }
  }
  for (auto& one : all) one.join();
  return sum;
}

void catch_unwind_panics(std::uint64_t n) {
  require(
      fan_out(n, [](std::uint64_t) -> std::uint64_t { throw std::runtime_error("panic"); }) == n,
      "a failure was not seen");
}
void fan_out_compute(std::uint64_t n) {
  for (std::uint64_t round = 0; round < n / 64; ++round) {
    const std::uint64_t sum = fan_out(
        64, [](std::uint64_t i) { return count_primes(i * kPrimeRange, (i + 1) * kPrimeRange); });
    require(sum == kPrimesBelow200000, "wrong primes");
  }
}
void spawn_storm_busy(std::uint64_t n) {
  require(fan_out(n, [](std::uint64_t i) { return busy(i); }) != 0, "no work done");
}

void many_timers(std::uint64_t n) {
  std::vector<fibers::fiber> all;
  for (std::uint64_t i = 0; i < n; ++i) {
    all.push_back(start([i] {
      boost::this_fiber::sleep_for(std::chrono::milliseconds(static_cast<int>(7919 * i % 100) + 1));
    }));
  }
  for (auto& one : all) one.join();
}

void yield_in_hot_loop(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) boost::this_fiber::yield();
}
void yield_between_two(std::uint64_t n) {
  auto other = start([n] { yield_in_hot_loop(n / 2); });
  yield_in_hot_loop(n / 2);
  other.join();
}

void uncontended_channel(std::uint64_t n) {
  fibers::buffered_channel<std::uint64_t> channel(64);
  for (std::uint64_t i = 0; i < n; ++i) {
    channel.push(i);
    std::uint64_t message = 0;
    channel.pop(message);
    require(message == i, "a wrong message");
  }
}

void ping_pong(std::uint64_t n) {
  fibers::buffered_channel<std::uint64_t> there(64);
  fibers::buffered_channel<std::uint64_t> back(64);
  auto echo = start([&] {
    std::uint64_t message = 0;
    while (there.pop(message) == fibers::channel_op_status::success) back.push(message);
  });
  for (std::uint64_t i = 0; i < n / 2; ++i) {
    there.push(i);
    std::uint64_t message = 0;
    back.pop(message);
    require(message == i, "a wrong message");
  }
  there.close();
  echo.join();
}

void spawn_join(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) start([] {}).join();
}

constexpr std::array kPrograms{
    RivalProgram{"chained_spawn", chained_spawn},
    RivalProgram{"ping_pong_oneshot", ping_pong_oneshot},
    RivalProgram{"catch_unwind_panics", catch_unwind_panics},
    RivalProgram{"fan_out_compute", fan_out_compute},
    RivalProgram{"spawn_storm_busy", spawn_storm_busy},
    RivalProgram{"many_timers", many_timers},
    RivalProgram{"yield_in_hot_loop", yield_in_hot_loop},
    RivalProgram{"yield_between_two", yield_between_two},
    RivalProgram{"uncontended_channel", uncontended_channel},
    RivalProgram{"ping_pong", ping_pong},
    RivalProgram{"spawn_join", spawn_join},
};

}  // namespace

std::span<const RivalProgram> boost_fiber_programs() { return kPrograms; }

}  // namespace leat::bench
