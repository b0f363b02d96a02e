// What does it cost to start actors, to have them talk, wait and fail? The programs have the names under
// which smarm and others measure them; an iteration is one actor, message, yield or timer. threads=0 is a
// runtime in the caller's thread. Allocations are counted, as in a program whose actors are preempted.
//
// The sweep runs the eight programs that smarm's has at each point; a figure of each is a metric of its own.
#include "../support/suite.hpp"
#include "figures.hpp"
#include "rivals.hpp"

#include <leat/actor.hpp>
#include <leat/actor/time/wheel.hpp>
#include <leat/base/os/memory.hpp>
#include <leat/base/rng.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::bench {
namespace {

using namespace leat::actor;

// The lap is that of the whole process: workers are threads of the runtime.
struct Lap2 {
  Nanos cpu = os::process_cpu();
  Nanos begin = RealClock().now();
  [[nodiscard]] Lap stop() const {
    const Nanos end = RealClock().now();
    return {begin, end, os::process_cpu() - cpu};
  }
};

using Program = std::function<void(std::uint64_t iterations)>;

// As many as any program has actors at a time: a stack that is used for the first time costs a fault.
constexpr std::uint64_t kWarm = 10'000;

Sample measured(Runtime& runtime, std::uint64_t iterations, const Program& program) {
  // Once before, so that stacks and slots are warm.
  runtime.run([&] { program(std::min(iterations, kWarm)); });
  const Lap2 watch;
  runtime.run([&] { program(iterations); });
  return Sample(watch.stop(), iterations);
}

void chain(std::uint64_t left, Promise<int> done) {
  if (left == 0) {
    (void)done.send(1);
    return;
  }
  spawn([left, promise = std::move(done)]() mutable {
    chain(left - 1, std::move(promise));
  }).detach();
}

void chained_spawn(std::uint64_t n) {
  for (std::uint64_t round = 0; round < n / 1000 + 1; ++round) {
    auto [promise, answer] = oneshot<int>();
    chain(n < 1000 ? n : 1000, std::move(promise));
    require(answer.receive() == 1, "the chain broke");
  }
}

void ping_pong_oneshot(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    auto question = oneshot<std::uint64_t>();
    auto reply = oneshot<std::uint64_t>();
    spawn([q = std::move(question.answer), r = std::move(reply.promise)]() mutable {
      (void)r.send(*q.receive() + 1);
    }).detach();
    (void)question.promise.send(i);
    require(reply.answer.receive() == i + 1, "a wrong reply");
  }
}

template <class F>
std::uint64_t fan_out(std::uint64_t n, F f) {
  using Value = actor::internal::ValueOf<std::invoke_result_t<F&, std::uint64_t>>;
  std::vector<JoinHandle<Value>> handles;
  handles.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) handles.push_back(spawn(f(i)));
  std::uint64_t sum = 0;
  for (auto& handle : handles) {
    if constexpr (std::is_void_v<Value>) {
      sum += handle.join_result().ok() ? 0 : 1;
    } else {
      sum += handle.join();
    }
  }
  return sum;
}

void catch_unwind_panics(std::uint64_t n) {
  require(fan_out(n, [](std::uint64_t) { return [] { throw std::runtime_error("panic"); }; }) == n,
          "a failure was not seen");
}
void fail_by_value(std::uint64_t n) {
  require(fan_out(n, [](std::uint64_t) { return [] { return Exit::failed("value"); }; }) == n,
          "a failure was not seen");
}
void plain_throw_catch(std::uint64_t n) {
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    try {
      throw std::runtime_error("panic");
    } catch (const std::exception&) {
      ++seen;
    }
  }
  require(seen == n, "an exception was not seen");
}

void fan_out_compute(std::uint64_t n) {  // an iteration is one of the 64 actors
  for (std::uint64_t round = 0; round < n / 64; ++round) {
    const std::uint64_t sum = fan_out(64, [](std::uint64_t i) {
      return [i] { return count_primes(i * kPrimeRange, (i + 1) * kPrimeRange); };
    });
    require(sum == kPrimesBelow200000, "wrong primes");
  }
}
void serial_compute(std::uint64_t n) {
  for (std::uint64_t round = 0; round < n / 64; ++round) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 64; ++i) {
      sum += count_primes(i * kPrimeRange, (i + 1) * kPrimeRange);
    }
    require(sum == kPrimesBelow200000, "wrong primes");
  }
}

void spawn_storm_busy(std::uint64_t n) {
  require(fan_out(n, [](std::uint64_t i) { return [i] { return busy(i); }; }) != 0, "no work done");
}
void serial_busy(std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += busy(i);
  require(sum != 0, "no work done");
}

void many_timers(std::uint64_t n) {
  std::vector<JoinHandle<void>> handles;
  handles.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    handles.push_back(
        spawn([i] { sleep_for(std::chrono::milliseconds(static_cast<int>(7919 * i % 100) + 1)); }));
  }
  for (auto& handle : handles) handle.join();
}

void yield_in_hot_loop(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) yield_now();
}
void yield_between_two(std::uint64_t n) {
  auto other = spawn([n] {
    for (std::uint64_t i = 0; i < n / 2; ++i) yield_now();
  });
  for (std::uint64_t i = 0; i < n / 2; ++i) yield_now();
  other.join();
}

void uncontended_channel(std::uint64_t n) {
  auto [sender, receiver] = channel<std::uint64_t>();
  for (std::uint64_t i = 0; i < n; ++i) {
    (void)sender.send(i);
    require(receiver.receive() == i, "a wrong message");
  }
}

void ping_pong(std::uint64_t n) {  // an iteration is a message
  auto there = channel<std::uint64_t>();
  auto back = channel<std::uint64_t>();
  auto echo = spawn([from = std::move(there.receiver), to = std::move(back.sender)]() mutable {
    while (const auto message = from.receive()) (void)to.send(*message);
  });
  for (std::uint64_t i = 0; i < n / 2; ++i) {
    (void)there.sender.send(i);
    require(back.receiver.receive() == i, "a wrong message");
  }
  there.sender.close();
  echo.join();
}

void spawn_join(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) spawn([] {}).join();
}

std::uint64_t skynet_of(std::uint64_t number, std::uint64_t size) {
  if (size == 1) return number;
  std::vector<JoinHandle<std::uint64_t>> children;
  children.reserve(10);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::uint64_t first = number + i * size / 10;
    children.push_back(spawn([first, size] { return skynet_of(first, size / 10); }));
  }
  std::uint64_t sum = 0;
  for (auto& child : children) sum += child.join();
  return sum;
}
void skynet(std::uint64_t n) {
  std::uint64_t size = 1;
  while (size * 10 <= n) size *= 10;
  require(skynet_of(0, size) == size * (size - 1) / 2, "a wrong sum");
}

void ring(std::uint64_t n) {  // an iteration is a hop
  constexpr std::uint64_t kActors = 100;
  auto first = channel<std::uint64_t>();
  Sender<std::uint64_t> to_first = first.sender;
  Receiver<std::uint64_t> from = std::move(first.receiver);
  first.sender.close();
  std::vector<JoinHandle<void>> members;
  for (std::uint64_t i = 0; i + 1 < kActors; ++i) {
    auto next = channel<std::uint64_t>();
    members.push_back(spawn([in = std::move(from), out = std::move(next.sender)]() mutable {
      while (const auto hops = in.receive()) (void)out.send(*hops + 1);
    }));
    from = std::move(next.receiver);
  }
  std::uint64_t hops = 0;
  while (hops < n) {
    (void)to_first.send(hops);
    hops = *from.receive() + 1;
  }
  to_first.close();
  for (auto& member : members) member.join();
}

// What an actor takes that waits for a message on a channel of its own, as it waits, and with its stack
// put away; and what it costs to start them all, to send each a message, and to join them. An iteration
// is an actor.
Sample idle_actors(std::uint64_t n) {
  Runtime runtime(
      Config::current_thread().stack(StackClass::k16KiB).stow_after(std::chrono::hours(1)));
  Sample sample;
  std::uint64_t sum = 0;
  runtime.run([&] {
    std::vector<Sender<std::uint64_t>> senders;
    senders.reserve(n);
    std::vector<JoinHandle<void>> handles;
    handles.reserve(n);
    const auto per_actor = [n](std::uint64_t all) {
      return static_cast<double>(all) / static_cast<double>(n);
    };
    const std::uint64_t before = os::current_rss_bytes();
    const Lap2 start;
    for (std::uint64_t i = 0; i < n; ++i) {
      auto own = channel<std::uint64_t>();
      senders.push_back(std::move(own.sender));
      handles.push_back(spawn({.stows = true}, [&sum, from = std::move(own.receiver)]() mutable {
        while (const auto message = from.receive()) sum += *message;
      }));
      if (i % 100 == 99) yield_now();
    }
    yield_now();
    sample = Sample(start.stop(), n);
    sample.add("bytes_per_actor", "B", per_actor(os::current_rss_bytes() - before));
    const Lap2 stow;
    require(stow_idle_actors() == n, "an actor was not stowed");
    sample.add("stow_cpu_ns", "ns", per_actor(static_cast<std::uint64_t>(stow.stop().cpu.count())));
    const std::uint64_t stowed = os::current_rss_bytes();
    sample.add("bytes_per_stowed_actor", "B", stowed > before ? per_actor(stowed - before) : 0);
    const Lap2 message;
    for (Sender<std::uint64_t>& sender : senders) {
      (void)sender.send(1);
      yield_now();
    }
    sample.add("unstow_and_message_cpu_ns", "ns",
               per_actor(static_cast<std::uint64_t>(message.stop().cpu.count())));
    for (Sender<std::uint64_t>& sender : senders) sender.close();
    for (auto& handle : handles) handle.join();
  });
  require(sum == n, "a message was lost");
  return sample;
}

// Timers that wait to be due, and are cancelled; an iteration is a timer.
Sample wheel(std::uint64_t n) {
  std::vector<TimerNode> nodes(n);
  Wheel timers{Nanos{0}};
  Rng rng(1);
  std::vector<Nanos> deadlines;
  for (std::uint64_t i = 0; i < n; ++i) {
    deadlines.push_back(Nanos{static_cast<Nanos::rep>(rng.below(60'000'000'000))});
  }
  const Lap2 arm;
  for (std::uint64_t i = 0; i < n; ++i) timers.arm(nodes[i], deadlines[i]);
  Sample sample(arm.stop(), n);
  const Lap2 cancel;
  for (std::uint64_t i = 0; i < n; i += 2) timers.cancel(nodes[i]);
  sample.add("cancel_cpu_ns", "ns",
             2 * static_cast<double>(cancel.stop().cpu.count()) / static_cast<double>(n));
  std::uint64_t due = 0;
  const Lap2 expire;
  timers.advance(std::chrono::minutes(2), [&](TimerNode&) { ++due; });
  sample.add("expire_cpu_ns", "ns",
             static_cast<double>(expire.stop().cpu.count()) / static_cast<double>(due));
  require(due == n / 2, "a timer was lost");
  sample.add("bytes_per_timer", "B", sizeof(TimerNode));
  return sample;
}

// A rival's program, on the thread that calls.
Sample rival(const RivalProgram& program, std::uint64_t iterations) {
  program.run(std::min(iterations, kWarm));
  const Lap2 watch;
  program.run(iterations);
  return Sample(watch.stop(), iterations);
}

// An actor, a monitor of it, and what that says when it has ended.
void monitor_down(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    auto handle = spawn([] {});
    const Monitor watch = monitor(handle.pid());
    handle.detach();
    require(receive<Down>().monitor == watch.id(), "another monitor's end");
  }
}

// A child that fails by value, until it was started so often.
void child_restart(std::uint64_t n) {
  auto pair = oneshot<std::uint64_t>();
  const auto done = std::make_shared<Promise<std::uint64_t>>(std::move(pair.promise));
  const auto starts = std::make_shared<std::uint64_t>(0);
  SupervisorOptions options;
  options.intensity = 1'000'000'000;
  options.period = std::chrono::milliseconds(1);
  ChildSpec spec;
  spec.name = "child";
  spec.run = [done, starts, n] {
    if ((*starts)++ < n) return Exit::failed("again");
    (void)done->send(*starts);
    (void)receive<Pid>();
    return Exit::normal();
  };
  const auto tree = Supervisor::start(options, {spec});
  require(pair.answer.receive() == n + 1, "a wrong number of starts");
  (void)tree.stop();
}

struct Square {
  using Reply = std::uint64_t;
  std::uint64_t of = 0;
};
void ask_reply(std::uint64_t n) {  // an iteration is a question with its answer
  auto server = spawn([] {
    for (;;) {
      receive(on<Call<Square>>(
          [](Call<Square> call) { (void)call.reply(call.question.of * call.question.of); }));
    }
  });
  for (std::uint64_t i = 0; i < n; ++i) {
    require(ask(server.pid(), Square{i}).value == i * i, "a wrong answer");
  }
  server.cancel();
  (void)server.join_result();
}

struct Entry {
  const char* name;
  void (*program)(std::uint64_t);
  std::uint64_t iterations;
  bool plain = false;  // the same work without actors
};

// What smarm's sweep looks at, and how often it is done at each point.
constexpr Entry kSwept[] = {
    {"chained_spawn", chained_spawn, 20'000},
    {"ping_pong_oneshot", ping_pong_oneshot, 20'000},
    {"catch_unwind_panics", catch_unwind_panics, 5'000},
    {"fan_out_compute", fan_out_compute, 64},
    {"spawn_storm_busy", spawn_storm_busy, 10'000},
    {"many_timers", many_timers, 2'000},
    {"yield_in_hot_loop", yield_in_hot_loop, 200'000},
    {"uncontended_channel", uncontended_channel, 200'000},
};

Config config_of(std::size_t threads) {
  return threads == 0 ? Config::current_thread() : Config::exact(threads);
}

Sample swept(const Point& point, std::uint64_t times) {
  Runtime runtime(config_of(point.count("workers"))
                      .alloc_interval(static_cast<std::uint32_t>(point.count("alloc_interval")))
                      .timeslice_cycles(point.count("timeslice_cycles")));
  const Lap2 watch;
  Sample sample;
  std::vector<std::pair<std::string, double>> figures;
  for (const Entry& entry : kSwept) {
    const std::uint64_t iterations = times == 1 ? entry.iterations / 100 + 64 : entry.iterations;
    runtime.run([&] { entry.program(std::min(iterations, kWarm)); });
    const Lap2 lap;
    runtime.run([&] { entry.program(iterations); });
    figures.emplace_back(
        std::string(entry.name) + "_cpu_ns_per_iteration",
        static_cast<double>(lap.stop().cpu.count()) / static_cast<double>(iterations));
  }
  sample = Sample(watch.stop(), 1);
  for (const auto& [name, value] : figures) sample.add(name, "ns", value);
  return sample;
}

constexpr Entry kPrograms[] = {
    {"chained_spawn", chained_spawn, 100'000},
    {"ping_pong_oneshot", ping_pong_oneshot, 100'000},
    {"catch_unwind_panics", catch_unwind_panics, 10'000},
    {"fail_by_value", fail_by_value, 10'000},
    {"fan_out_compute", fan_out_compute, 64 * 5},
    {"spawn_storm_busy", spawn_storm_busy, 10'000},
    {"many_timers", many_timers, 10'000},
    {"yield_in_hot_loop", yield_in_hot_loop, 1'000'000},
    {"yield_between_two", yield_between_two, 1'000'000},
    {"uncontended_channel", uncontended_channel, 1'000'000},
    {"ping_pong", ping_pong, 400'000},
    {"spawn_join", spawn_join, 100'000},
    {"skynet", skynet, 100'000},
    {"ring", ring, 200'000},
    {"monitor_down", monitor_down, 100'000},
    {"child_restart", child_restart, 100'000},
    {"ask_reply", ask_reply, 100'000},
    {"plain_throw_catch", plain_throw_catch, 10'000, true},
    {"serial_compute", serial_compute, 64 * 5, true},
    {"serial_busy", serial_busy, 10'000, true},
};

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("actor", argc, argv);
  for (const Entry& entry : kPrograms) {
    for (const std::size_t threads : {0, 1, 2}) {
      if (entry.plain && threads != 0) continue;
      const bool primes = entry.program == fan_out_compute || entry.program == serial_compute;
      suite.run(
          {.params = {{"program", entry.name}, {"threads", static_cast<std::int64_t>(threads)}},
           .iterations = entry.iterations,
           .tiny_iterations = primes ? 64U : 100U,
           .countable = threads == 0 && entry.program != many_timers},
          [&](std::uint64_t iterations) {
            Config config = config_of(threads);
            config.from_environment();
            Runtime runtime(std::move(config));
            return measured(runtime, iterations, entry.program);
          });
    }
  }
  for (const std::int64_t actors : {20'000, 1'000'000}) {
    suite.run({.params = {{"program", "idle_actors"}, {"actors", actors}},
               .iterations = static_cast<std::uint64_t>(actors),
               .tiny_iterations = 100},
              idle_actors);
  }
  suite.run({.params = {{"program", "wheel"}}, .iterations = 1'000'000, .tiny_iterations = 100},
            wheel);
  const auto rivals = [&](const char* name, std::span<const RivalProgram> programs) {
    for (const RivalProgram& program : programs) {
      const auto ours = std::ranges::find_if(
          kPrograms, [&](const Entry& e) { return std::string_view(e.name) == program.name; });
      suite.run({.params = {{"rival", name}, {"program", program.name}},
                 .iterations = ours->iterations,
                 .tiny_iterations = ours->program == fan_out_compute ? 64U : 100U,
                 .countable = ours->program != many_timers},
                [&](std::uint64_t iterations) { return rival(program, iterations); });
    }
  };
  rivals("coroutines", coroutine_programs());
#if defined(LEAT_BENCH_BOOST_FIBER)
  rivals("boost_fiber", boost_fiber_programs());
#endif
  suite.sweep(
      {.knobs = {{"alloc_interval", kDefaultAllocInterval, {16, 128, 1024}},
                 {"timeslice_cycles",
                  static_cast<std::int64_t>(kDefaultTimesliceCycles),
                  {75'000, 150'000, 300'000, 600'000, 1'200'000}},
                 {"workers", 1, {1, 2}}},
       .tiny_iterations = 1},
      [](const Point&) { return std::uint64_t{2}; }, swept);
  return suite.finish();
}
