#include <leat/actor/sim/simulation.hpp>

#include <leat/actor/channel/channel.hpp>
#include <leat/actor/channel/oneshot.hpp>
#include <leat/actor/channel/select.hpp>
#include <leat/actor/scope.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/sync/condition.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/actor/sync/semaphore.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace leat::actor {
namespace {

using std::chrono::milliseconds;

// LEAT_SCHEDULES says how many, for those who have the time.
std::uint64_t schedules(std::uint64_t usual) {
  const char* const text = std::getenv("LEAT_SCHEDULES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

void must(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

// Senders over a channel with a bound, a receiver that may give up in between, and answers.
void traffic() {
  constexpr int kEach = 4;
  auto [sender, receiver] = channel<std::pair<int, int>>({.messages = 2});
  std::vector<JoinHandle<void>> senders;
  for (int who = 0; who < 3; ++who) {
    senders.push_back(spawn([who, to = sender]() mutable {
      for (int i = 0; i < kEach; ++i) {
        must(to.send({who, i}) == Sent::ok, "nobody listens");
        if (who == 1) sleep_for(milliseconds(i));
      }
    }));
  }
  sender.close();
  int next[3] = {};
  int total = 0;
  for (;;) {
    const auto message = receiver.receive_for(milliseconds(2));
    if (!message) {
      if (receiver.is_at_end()) break;
      continue;
    }
    must(message->second == next[message->first]++, "out of order, lost or doubled");
    ++total;
  }
  must(total == 3 * kEach, "messages were lost");
  for (auto& handle : senders) handle.join();
}

// A mutex, a condition and a semaphore; everybody gets through, one at a time.
void crossing() {
  Mutex mutex;
  Condition changed;
  Semaphore permits(2);
  int inside = 0;
  int turn = 0;
  Scope scope;
  for (int place = 0; place < 3; ++place) {
    scope.spawn([&, place] {
      for (int round = 0; round < 2; ++round) {
        permits.acquire();
        {
          std::unique_lock lock(mutex);
          must(++inside == 1, "two inside");
          yield_now();
          --inside;
        }
        permits.release();
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn % 3 == place; });
        ++turn;
        changed.notify_all();
      }
    });
  }
  scope.join();
  must(turn == 6, "somebody did not get through");
}

// Spawning, failing, cancelling, joining; each answer comes once or never.
void births_and_deaths() {
  std::vector<JoinHandle<int>> handles;
  int answers = 0;
  for (int i = 0; i < 4; ++i) {
    auto [promise, answer] = oneshot<int>();
    handles.push_back(spawn([i, p = std::move(promise)]() mutable {
      if (i == 2) throw std::runtime_error("it fails");
      (void)p.send(i);
      return spawn([i] { return i; }).join();
    }));
    std::optional<int> got;
    select(on(answer, [&](std::optional<int> a) { got = a; }));
    must(i == 2 ? !got : got == i, "a wrong answer");
    answers += got ? 1 : 0;
  }
  handles[3].cancel();
  int ended = 0;
  for (auto& handle : handles) {
    (void)handle.join_result();
    ++ended;
  }
  must(answers == 3 && ended == 4, "somebody is missing");
}

using Program = void (*)();

void hold_in_all(Program program, SimulationOptions options, std::uint64_t count) {
  std::set<std::uint64_t> traces;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    options.seed = seed;
    options.workers = 1 + seed % 3;
    const SimulationReport report = simulate(options, program);
    ASSERT_TRUE(report.ok) << report.failure;
    traces.insert(report.trace);
  }
  EXPECT_GT(traces.size(), count / 2) << "the schedules hardly differ";
}

TEST(Simulation, TrafficComesWholeInEachSchedule) { hold_in_all(traffic, {}, schedules(4000)); }
TEST(Simulation, EverybodyGetsThroughInEachSchedule) { hold_in_all(crossing, {}, schedules(3000)); }
TEST(Simulation, AllThatAreBornEndInEachSchedule) {
  hold_in_all(births_and_deaths, {}, schedules(3000));
}
TEST(Simulation, TimeMayPassAtAnyMoment) { hold_in_all(traffic, {.delays = 2000}, schedules(500)); }

TEST(Simulation, TheSameSeedIsTheSameTrace) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationOptions options{.seed = seed, .cancels = 100, .delays = 500};
    const SimulationReport first = simulate(options, crossing);
    const SimulationReport second = simulate(options, crossing);
    EXPECT_EQ(first.trace, second.trace);
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.failure, second.failure);
  }
}

TEST(Simulation, WhoIsCancelledAnywhereLeavesNothingBehind) {
  std::uint64_t cancelled = 0;
  for (std::uint64_t seed = 1; seed <= schedules(1000); ++seed) {
    auto owned = std::make_shared<int>(0);
    const SimulationReport report = simulate({.seed = seed, .cancels = 1500}, [owned] {
      auto [sender, receiver] = channel<std::shared_ptr<int>>({.messages = 1});
      std::vector<JoinHandle<void>> handles;
      for (int i = 0; i < 3; ++i) {
        handles.push_back(spawn([owned, to = sender]() mutable {
          for (int n = 0; n < 3; ++n) (void)to.send(owned);
        }));
      }
      sender.close();
      while (receiver.receive()) {
      }
      for (auto& handle : handles) (void)handle.join_result();
    });
    ASSERT_TRUE(report.ok) << report.failure;
    ASSERT_EQ(owned.use_count(), 1) << "seed " << seed;
    cancelled += report.cancelled;
  }
  EXPECT_GT(cancelled, 0U);
}

TEST(Simulation, FindsADeadlockAndNamesWhoWaits) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const SimulationReport report = simulate({.seed = seed, .switches = 128}, [] {
      Mutex a;
      Mutex b;
      auto one = spawn({.name = "one"}, [&] {
        const std::lock_guard first(a);
        const std::lock_guard second(b);
      });
      auto two = spawn({.name = "two"}, [&] {
        const std::lock_guard first(b);
        const std::lock_guard second(a);
      });
      const CancelShield shield;  // a and b must outlive both
      (void)one.join_result();
      (void)two.join_result();
    });
    if (report.ok) continue;
    ++found;
    EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report.failure;
    EXPECT_NE(report.failure.find("\"one\""), std::string::npos) << report.failure;
    EXPECT_NE(report.failure.find("seed"), std::string::npos);
  }
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 100);
}

TEST(Simulation, ALostWakeUpIsFound) {
  // Looks, and waits without looking again under the lock: some schedule falls between.
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200 && found == 0; ++seed) {
    const SimulationReport report = simulate({.seed = seed, .switches = 128}, [] {
      Mutex mutex;
      Condition condition;
      bool ready = false;
      auto waits = spawn([&] {
        {
          const std::lock_guard lock(mutex);
          if (ready) return;
        }
        std::unique_lock lock(mutex);
        condition.wait(lock);
      });
      {
        const std::lock_guard lock(mutex);
        ready = true;
      }
      condition.notify_one();
      const CancelShield shield;
      (void)waits.join_result();
    });
    found += report.ok ? 0 : 1;
  }
  EXPECT_EQ(found, 1);
}

TEST(Simulation, AFailureOfTheFirstActorIsTold) {
  const SimulationReport report = simulate({.seed = 3}, [] { throw std::runtime_error("why"); });
  EXPECT_FALSE(report.ok);
  EXPECT_NE(report.failure.find("std::runtime_error: why"), std::string::npos);
}

TEST(Simulation, AProgramWithoutEndIsStopped) {
  const SimulationReport report = simulate({.steps_max = 1000}, [] {
    for (;;) yield_now();
  });
  EXPECT_NE(report.failure.find("did not end within 1000 steps"), std::string::npos);
}

}  // namespace
}  // namespace leat::actor
