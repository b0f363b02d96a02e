// What      The two cases that each queue goes through, at three payload sizes:
//             one thread   push one, pop one
//             many to one  producers push all they have, one consumer pops until it has seen all
//           The payload says who sent it and how many it sent before, so that a lost, doubled or
//           reordered message is noticed.
// Limits    The queues are unbounded, and a producer that is ahead stays ahead: nobody waits for
//           room.
#pragma once

#include "../support/sample.hpp"
#include "../support/suite.hpp"
#include "../support/workers.hpp"

#include <leat/base/spin_pause.hpp>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace leat::bench {

template <std::size_t kBytes>
struct Payload {
  std::uint32_t producer = 0;
  std::uint32_t sequence = 0;
  unsigned char rest[kBytes - 8] = {};
};
template <>
struct Payload<8> {
  std::uint32_t producer = 0;
  std::uint32_t sequence = 0;
};

/// `Queue<P>(producers)` has `push(producer, const P&)`, and `pop(P&)` that says if it took one.
template <template <class> class Queue, std::size_t kBytes>
Sample one_thread(std::uint64_t iterations) {
  using P = Payload<kBytes>;
  Queue<P> queue(1);
  std::uint64_t wrong = 0;
  P sent{};
  P received{};
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    sent.sequence = static_cast<std::uint32_t>(i);
    queue.push(0, sent);
    const bool found = queue.pop(received);
    wrong += !found || received.sequence != sent.sequence;
  }
  const Lap lap = watch.stop();
  require(wrong == 0, "the queue lost or changed a message");
  return Sample(lap, iterations);
}

template <template <class> class Queue, std::size_t kBytes>
Sample many_to_one(std::size_t producers, std::uint64_t iterations) {
  using P = Payload<kBytes>;
  constexpr int kPollsBeforeYield = 100;  // so that producers on the same core get on
  const auto each = static_cast<std::uint32_t>(iterations / producers);
  Queue<P> queue(producers);
  std::latch ready(static_cast<std::ptrdiff_t>(producers + 1));
  std::vector<Lap> laps(producers + 1);
  std::vector<std::thread> threads;
  for (std::size_t producer = 0; producer < producers; ++producer) {
    threads.emplace_back([&, producer] {
      pin_by_index(producer + 1);
      P message{};
      message.producer = static_cast<std::uint32_t>(producer);
      ready.arrive_and_wait();
      const Stopwatch watch;
      for (std::uint32_t i = 0; i < each; ++i) {
        message.sequence = i;
        queue.push(producer, message);
      }
      laps[producer + 1] = watch.stop();
    });
  }
  std::uint64_t wrong = 0;
  threads.emplace_back([&] {
    pin_by_index(0);
    std::vector<std::uint32_t> next(producers, 0);
    P message{};
    ready.arrive_and_wait();
    const Stopwatch watch;
    int empty_polls = 0;
    for (std::uint64_t left = std::uint64_t{each} * producers; left > 0;) {
      if (queue.pop(message)) {
        wrong += message.sequence != next[message.producer]++;
        empty_polls = 0;
        --left;
      } else if (++empty_polls < kPollsBeforeYield) {
        spin_pause();
      } else {
        std::this_thread::yield();
      }
    }
    laps[0] = watch.stop();
  });
  for (auto& thread : threads) thread.join();
  require(wrong == 0, "the queue lost, doubled or reordered messages");
  return Sample(joined(laps), std::uint64_t{each} * producers);
}

template <template <class> class Queue, std::size_t kBytes>
void add_at_size(Suite& suite, const std::string& name) {
  const Param queue{"queue", name};
  const Param size{"payload_bytes", static_cast<std::int64_t>(kBytes)};
  suite.run({.params = {queue, {"kind", "one_thread"}, size},
             .iterations = 1'000'000,
             .tiny_iterations = 100,
             .countable = true},
            one_thread<Queue, kBytes>);
  for (const std::size_t producers : {1, 2}) {
    suite.run({.params = {queue,
                          {"kind", "many_to_one"},
                          {"producers", static_cast<std::int64_t>(producers)},
                          size},
               .iterations = 200'000,
               .tiny_iterations = 100},
              [&](std::uint64_t iterations) {
                return many_to_one<Queue, kBytes>(producers, iterations);
              });
  }
}

template <template <class> class Queue>
void add_queue(Suite& suite, const std::string& name) {
  add_at_size<Queue, 8>(suite, name);
  add_at_size<Queue, 64>(suite, name);
  add_at_size<Queue, 256>(suite, name);
}

}  // namespace leat::bench
