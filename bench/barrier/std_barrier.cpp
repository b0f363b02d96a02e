#include "../support/suite.hpp"
#include "../support/workers.hpp"
#include "rivals.hpp"

#include <barrier>
#include <thread>

namespace leat::bench {

Sample std_barrier_rounds(std::size_t workers, std::uint64_t iterations) {
  std::uint64_t rounds = 0;  // written by whoever arrives last, before the others go on
  std::barrier barrier(static_cast<std::ptrdiff_t>(workers), [&rounds]() noexcept { ++rounds; });
  std::vector<Lap> laps(workers);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      pin_by_index(i);
      barrier.arrive_and_wait();  // all run
      const Stopwatch watch;
      for (std::uint64_t round = 0; round < iterations; ++round) barrier.arrive_and_wait();
      laps[i] = watch.stop();
    });
  }
  for (auto& thread : threads) thread.join();
  require(rounds == iterations + 1, "the barrier missed rounds");
  return Sample(joined(laps), iterations);
}

}  // namespace leat::bench
