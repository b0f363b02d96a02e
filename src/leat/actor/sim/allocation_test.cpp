// Simulations that look at allocations: of programs which link leat::actor_preempt.
#include <leat/actor/sim/simulation.hpp>

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/channel/oneshot.hpp>
#include <leat/actor/channel/select.hpp>
#include <leat/actor/scope.hpp>
#include <leat/actor/self.hpp>
#include <leat/base/sanitizers.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leat::actor {
namespace {

#if !LEAT_TSAN  // which has its own operator new

void must(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

// All that allocates: spawning, names and parents, channels that grow, answers, select, scopes.
void allocates() {
  auto [sender, receiver] = channel<std::unique_ptr<std::string>>();
  std::vector<JoinHandle<int>> actors;
  for (int who = 0; who < 4; ++who) {
    actors.push_back(spawn(
        {.name = "one whose name does not fit into a string's own bytes"},
        [who, to = sender]() mutable {
          int sent = 0;
          for (int i = 0; i < 20; ++i) {  // more than a channel has room for at first
            auto message = std::make_unique<std::string>("a text that lies on the heap, number " +
                                                         std::to_string(who));
            if (to.send(std::move(message)) == Sent::ok) ++sent;
          }
          auto [promise, answer] = oneshot<int>();
          auto [never, none] = channel<int>();
          Scope scope;
          scope.spawn([give = std::move(promise), big = std::string(100, 'x')]() mutable {
            (void)give.send(static_cast<int>(big.size()));
          });
          select(on(answer, [](std::optional<int>) {}), on(none, [](std::optional<int>) {}));
          scope.join();
          return sent;
        }));
  }
  sender.close();
  int received = 0;
  while (const auto message = receiver.receive()) {
    must((*message)->starts_with("a text that lies"), "a message is not whole");
    ++received;
  }
  int least = 0;
  for (auto& actor : actors) {
    Joined<int> joined = actor.join_result();
    if (joined.ok()) {
      least += *joined.value;
    } else {
      const std::string why = joined.exit.text();
      must(why.find("bad_alloc") != std::string::npos, why.c_str());
    }
  }
  must(received >= least, "a message was lost");
}

TEST(SimulatedAllocations, MayFailAnywhereAndNobodyIsLostOrStuck) {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const SimulationReport report =
        simulate({.seed = seed, .preemptions = 16, .failures = 600}, allocates);
    ASSERT_TRUE(report.ok) << report.failure;
    failed += report.failed;
  }
  EXPECT_GT(failed, 100U);
}

TEST(SimulatedAllocations, AreAsGoodAsOthersIfNoneFails) {
  const SimulationReport one = simulate({.seed = 5, .preemptions = 64}, allocates);
  const SimulationReport again = simulate({.seed = 5, .preemptions = 64}, allocates);
  EXPECT_TRUE(one.ok) << one.failure;
  EXPECT_EQ(one.trace, again.trace);
  EXPECT_EQ(one.failed, 0U);
}

#endif

}  // namespace
}  // namespace leat::actor
