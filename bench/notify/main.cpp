// When should a sender tell the receiver of a channel that something is in it?
//
// eight   one worker sends another eight messages, each of which takes both of them some time. Who
//         is told of the first only, and of the rest at the end, sleeps while it could work.
// burst   bursts of 64 messages to a receiver that sleeps when a burst begins, that goes to sleep
//         whenever it finds nothing, or that lags behind and never sleeps: what does a push cost
//         the sender, and how often is the receiver told?
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/comm/channel.hpp>
#include <leat/comm/fabric.hpp>
#include <leat/core/config.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <thread>

namespace leat::bench {
namespace {

using core::NotifyRule;

struct Rule {
  const char* name;
  NotifyRule rule;
};
constexpr std::array kRules = {Rule{"edge", NotifyRule::edge},
                               Rule{"per_message", NotifyRule::per_message},
                               Rule{"first_then_trailing", NotifyRule::first_then_trailing},
                               Rule{"on_done", NotifyRule::on_done}};

using Message = std::uint64_t;

/// Two workers with a channel between them, each on a thread of its own.
struct Pair {
  explicit Pair(NotifyRule rule) : fabric(2, rule) {}

  /// Runs both ends; returns when both have.
  template <class Send, class Receive>
  void run(Send&& send, Receive&& receive) {
    std::thread receiver([&] {
      pin_by_index(1);
      receive();
      fabric.seat(1).leave();
    });
    fabric.seat(0).enter();
    pin_by_index(0);
    send();
    receiver.join();
    fabric.seat(0).leave();
  }

  /// Calls `each(message)` for all that was announced. Returns: whether anything was.
  template <class Each>
  bool take(Each&& each) {
    bool any = false;
    fabric.seat(1).ready().surface([&](core::Doorbell&) {
      Message message = 0;
      while (to.receiver.receive(message)) {
        each(message);
        any = true;
      }
    });
    return any;
  }

  comm::Fabric fabric;
  comm::Fabric::Ends<Message> from = fabric.channel<Message>(fabric.seat(0), 0, {}, {});
  comm::Fabric::Ends<Message> to = fabric.channel<Message>(fabric.seat(1), 0, {}, {});
};

void add_notices(Sample& sample, Pair& pair, std::uint64_t iterations) {
  const auto& counters = pair.fabric.seat(0).counters();
  const auto n = static_cast<double>(iterations);
  sample.add("notices_per_iteration", "1", static_cast<double>(counters.notices) / n);
  sample.add("wakes_per_iteration", "1", static_cast<double>(counters.wakes_sent) / n);
}

// -- eight ----------------------------------------------------------------------------------------

Sample eight(NotifyRule rule, Nanos work, std::uint64_t iterations) {
  constexpr std::uint64_t kMessages = 8;
  Pair pair(rule);
  std::atomic<std::uint64_t> finished = 0;  // experiments; how the sender knows of the end
  Lap lap;
  pair.run(
      [&] {
        const Stopwatch watch;
        for (std::uint64_t i = 0; i < iterations; ++i) {
          for (Message message = 0; message < kMessages; ++message) {
            std::this_thread::sleep_for(work);
            Message out = message;
            pair.from.sender.send(1, out);
          }
          pair.from.sender.done();
          while (finished.load(std::memory_order_acquire) == i) std::this_thread::yield();
        }
        lap = watch.stop();
      },
      [&] {
        comm::Seat& seat = pair.fabric.seat(1);
        seat.enter();
        for (std::uint64_t i = 0; i < iterations; ++i) {
          for (Message expected = 0; expected < kMessages;) {
            const bool any = pair.take([&](Message message) {
              require(message == expected++, "messages came out of order");
              std::this_thread::sleep_for(work);
            });
            if (!any) seat.park(std::nullopt);
          }
          finished.store(i + 1, std::memory_order_release);
        }
      });
  Sample sample(lap, iterations);
  add_notices(sample, pair, iterations);
  return sample;
}

// -- burst ----------------------------------------------------------------------------------------

enum class Receiver { sleeping, waking, lagging };

void spin_for(Nanos time) {
  const RealClock clock;
  const Nanos end = clock.now() + time;
  while (clock.now() < end) {
  }
}

Sample bursts(NotifyRule rule, Receiver receiver, std::uint64_t iterations) {
  constexpr std::uint64_t kBurst = 64;
  constexpr std::uint64_t kAhead = 64 * kBurst;  // as far as the sender may be
  Pair pair(rule);
  std::atomic<std::uint64_t> taken = 0;
  const auto asleep = [&] {
    return pair.fabric.park_mask().for_each_parked([](std::size_t) {}) > 0;
  };
  Nanos pushing{0};
  Lap lap;
  pair.run(
      [&] {
        const RealClock clock;
        const Stopwatch watch;
        for (std::uint64_t i = 0; i < iterations; ++i) {
          if (receiver == Receiver::sleeping) {
            while (taken.load(std::memory_order_relaxed) < i * kBurst || !asleep()) {
              std::this_thread::yield();
            }
          }
          while (i * kBurst > taken.load(std::memory_order_relaxed) + kAhead) {
            std::this_thread::yield();
          }
          const Nanos before = clock.now();
          for (std::uint64_t k = 0; k < kBurst; ++k) {
            Message out = i * kBurst + k;
            pair.from.sender.send(1, out);
          }
          pair.from.sender.done();
          pushing += clock.now() - before;
        }
        lap = watch.stop();
      },
      [&] {
        comm::Seat& seat = pair.fabric.seat(1);
        seat.enter();
        for (Message expected = 0; expected < iterations * kBurst;) {
          const bool any = pair.take([&](Message message) {
            require(message == expected++, "messages came out of order");
          });
          taken.store(expected, std::memory_order_relaxed);
          if (receiver == Receiver::lagging) {
            spin_for(std::chrono::microseconds(20));
          } else if (!any) {
            seat.park(std::nullopt);
          }
        }
      });
  Sample sample(lap, iterations);
  sample.add("sender_ns_per_push", "ns",
             static_cast<double>(pushing.count()) / static_cast<double>(iterations * kBurst));
  add_notices(sample, pair, iterations);
  return sample;
}

}  // namespace
}  // namespace leat::bench

int main(int argc, char** argv) {
  using namespace leat::bench;
  Suite suite("notify", argc, argv);
  for (const std::int64_t work : {1'200, 400}) {
    for (const Rule& rule : kRules) {
      suite.run(
          {.params = {{"kind", "eight"}, {"rule", rule.name}, {"work_us", work}}, .iterations = 20},
          [&](std::uint64_t iterations) {
            return eight(rule.rule, std::chrono::microseconds(work), iterations);
          });
    }
  }
  for (const auto& [name, kind] :
       {std::pair{"sleeping", Receiver::sleeping}, std::pair{"waking", Receiver::waking},
        std::pair{"lagging", Receiver::lagging}}) {
    for (const Rule& rule : kRules) {
      suite.run({.params = {{"kind", "burst"}, {"receiver", name}, {"rule", rule.name}},
                 .iterations = 100'000,
                 .tiny_iterations = 100},
                [&, receiver = kind](std::uint64_t iterations) {
                  return bursts(rule.rule, receiver, iterations);
                });
    }
  }
  return suite.finish();
}
