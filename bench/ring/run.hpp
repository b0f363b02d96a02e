// What      The questions that are asked of each queue, at a payload of `kBytes`:
//             one thread   push one, pop one: what the instructions cost
//             stream       producers push all they have, each consumer takes all: per message pushed
//             round trip   a message there and back, over two queues of one to one
//           Every consumer checks that each message comes once and in order.
// Limits    With more threads than cores a figure says how gently a queue shares them.
#pragma once

#include "../support/pin.hpp"
#include "../support/sample.hpp"
#include "../support/suite.hpp"
#include "queues.hpp"

#include <cstddef>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace leat::bench {

inline constexpr std::size_t kSlots = 1024;

/// `Queue` is of one to all, or of several to one.
template <class Queue, class P>
Sample one_thread(std::uint64_t iterations) {
  Queue queue(kSlots, 1, 1);
  P sent{};
  P received{};
  std::uint64_t wrong = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    sent.sequence = i;
    wrong += !queue.push(0, sent);
    wrong += !queue.pop(0, received) || received.sequence != i;
  }
  const Lap lap = watch.stop();
  require(wrong == 0, "the queue lost or changed a message");
  return Sample(lap, iterations);
}

template <class Queue, class P>
Sample empty_poll(std::uint64_t iterations) {
  Queue queue(kSlots, 1, 1);
  P received{};
  std::uint64_t wrong = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < iterations; ++i) wrong += queue.pop(0, received);
  const Lap lap = watch.stop();
  require(wrong == 0, "an empty queue gave a message");
  return Sample(lap, iterations);
}

struct Threads {
  std::size_t producers = 1;
  std::size_t consumers = 1;
  std::size_t cores = 0;  // 0: all there are
};

template <class Queue, class P>
Sample stream(const Threads& threads, std::uint64_t iterations) {
  const std::uint64_t each = iterations / threads.producers;
  Queue queue(kSlots, threads.producers, threads.consumers);
  std::latch ready(static_cast<std::ptrdiff_t>(threads.producers + threads.consumers));
  std::vector<Lap> laps(threads.producers + threads.consumers);
  std::vector<std::uint64_t> wrong(threads.consumers, 0);
  std::vector<std::thread> running;
  const auto pin = [&](std::size_t index) {
    pin_by_index(threads.cores == 0 ? index : index % threads.cores);
  };
  for (std::size_t producer = 0; producer < threads.producers; ++producer) {
    running.emplace_back([&, producer] {
      pin(threads.consumers == 1 ? producer + 1 : producer);
      P message{};
      Backoff backoff;
      ready.arrive_and_wait();
      const Stopwatch watch;
      for (std::uint64_t i = 0; i < each; ++i) {
        message.sequence = i << 8 | producer;
        while (!queue.push(producer, message)) backoff.wait();
        backoff.reset();
      }
      laps[threads.consumers + producer] = watch.stop();
    });
  }
  for (std::size_t consumer = 0; consumer < threads.consumers; ++consumer) {
    running.emplace_back([&, consumer] {
      pin(threads.consumers == 1 ? 0 : consumer + 1);
      std::vector<std::uint64_t> next(threads.producers, 0);
      P message{};
      Backoff backoff;
      ready.arrive_and_wait();
      const Stopwatch watch;
      for (std::uint64_t left = each * threads.producers; left > 0;) {
        if (!queue.pop(consumer, message)) {
          backoff.wait();
          continue;
        }
        backoff.reset();
        --left;
        wrong[consumer] += message.sequence >> 8 != next[message.sequence & 255]++;
      }
      laps[consumer] = watch.stop();
    });
  }
  for (auto& thread : running) thread.join();
  for (const std::uint64_t count : wrong) {
    require(count == 0, "the queue lost, doubled or reordered messages");
  }
  return Sample(joined(laps), each * threads.producers);
}

template <template <class> class Queue, class P>
Sample round_trip(std::uint64_t iterations) {
  Queue<P> there(kSlots);
  Queue<P> back(kSlots);
  std::latch ready(2);
  Lap lap;
  std::uint64_t wrong = 0;
  std::thread echo([&] {
    pin_by_index(1);
    P message{};
    Backoff backoff;
    ready.arrive_and_wait();
    for (std::uint64_t i = 0; i < iterations; ++i) {
      while (!there.pop(message)) backoff.wait();
      while (!back.push(message)) backoff.wait();
      backoff.reset();
    }
  });
  std::thread asks([&] {
    pin_by_index(0);
    P message{};
    Backoff backoff;
    ready.arrive_and_wait();
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < iterations; ++i) {
      message.sequence = i;
      while (!there.push(message)) backoff.wait();
      while (!back.pop(message)) backoff.wait();
      backoff.reset();
      wrong += message.sequence != i;
    }
    lap = watch.stop();
  });
  echo.join();
  asks.join();
  require(wrong == 0, "the queue changed a message");
  return Sample(lap, iterations);
}

/// The parameters of a case: which queue, which question, how large.
inline Params params_of(const std::string& queue, const std::string& kind, std::size_t bytes) {
  return {{"queue", queue}, {"kind", kind}, {"payload_bytes", static_cast<std::int64_t>(bytes)}};
}

/// Calls `add.operator()<bytes>()` for the payloads that are compared.
template <class Add>
void for_sizes(const Add& add) {
  add.template operator()<8>();
  add.template operator()<64>();
  add.template operator()<256>();
}

template <class Queue, class P>
void add_one_thread(Suite& suite, const std::string& name) {
  suite.run({.params = params_of(name, "one_thread", sizeof(P)),
             .iterations = 2'000'000,
             .tiny_iterations = 100,
             .countable = true},
            one_thread<Queue, P>);
}

template <class Queue, class P>
void add_stream(Suite& suite, const std::string& name, const Threads& threads) {
  Params params = params_of(name, "stream", sizeof(P));
  params.push_back({"producers", static_cast<std::int64_t>(threads.producers)});
  params.push_back({"consumers", static_cast<std::int64_t>(threads.consumers)});
  if (threads.cores != 0) params.push_back({"cores", static_cast<std::int64_t>(threads.cores)});
  suite.run({.params = std::move(params), .iterations = 1'000'000, .tiny_iterations = 300},
            [threads](std::uint64_t iterations) { return stream<Queue, P>(threads, iterations); });
}

}  // namespace leat::bench
