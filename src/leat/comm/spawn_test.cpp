#include <leat/comm/spawn.hpp>

#include <leat/base/atomic.hpp>
#include <leat/base/os/thread_name.hpp>
#include <leat/core/worker.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace leat::comm {
namespace {

struct SeatSurroundings final : core::Surroundings {
  explicit SeatSurroundings(Seat& s) : seat(s) {}
  void poll() override {}
  void park(std::optional<Nanos> timeout) override { seat.park(timeout); }
  Seat& seat;
};

/// A task that waits for something that never comes.
struct Endless final : core::Task {
  bool run() override { return true; }
};

/// What a worker does that has nothing to do until somebody stops it.
void wait_for_stop(Seat& seat) {
  const RealClock clock;
  SeatSurroundings surroundings(seat);
  core::Worker worker(surroundings, seat.fabric().stop(), &clock, core::IdlePolicy(Nanos{0}));
  worker.install(worker.reserve(), std::make_unique<Endless>());
  while (worker.step_or_park(std::nullopt)) {
  }
}

struct Mine {
  int number;
};

template <class T>
std::optional<T> caught(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const T& value) {
    return value;
  } catch (...) {
    return std::nullopt;
  }
}

TEST(RunWorkers, RunsEachOnAThreadOfItsOwnThatIsNamedForIt) {
  Fabric fabric(3);
  std::vector<std::string> names(3);
  std::vector<std::thread::id> threads(3);
  const auto endings = run_workers(fabric, [&](Seat& seat, std::string&) {
    names[seat.index()] = os::thread_name();
    threads[seat.index()] = std::this_thread::get_id();
  });
  EXPECT_EQ(names, (std::vector<std::string>{"leat:work-0", "leat:work-1", "leat:work-2"}));
  EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), 3U);
  ASSERT_EQ(endings.size(), 3U);
  for (const auto& ending : endings) {
    EXPECT_EQ(ending.error, nullptr);
    EXPECT_FALSE(ending.stopped);
  }
  EXPECT_EQ(fabric.stop().reason(), nullptr);
  EXPECT_EQ(fabric.crowd().runnable_approx(), 0U);
}

TEST(RunWorkers, WhatAWorkerThrowsReachesItsEndingAsItIs) {
  Fabric fabric(1);
  const auto endings = run_workers(fabric, [](Seat&, std::string&) { throw Mine{42}; });
  ASSERT_EQ(endings.size(), 1U);
  EXPECT_FALSE(endings[0].stopped);
  const auto mine = caught<Mine>(endings[0].error);
  ASSERT_TRUE(mine.has_value());
  EXPECT_EQ(mine->number, 42);
}

TEST(RunWorkers, PeersOfOneThatFailsLeaveWithStoppedAlsoFromTheirSleep) {
  Fabric fabric(4);
  const auto endings = run_workers(fabric, [&](Seat& seat, std::string& where) {
    if (seat.index() != 2) wait_for_stop(seat);
    for (const std::size_t peer : {0U, 1U, 3U}) {
      while (!fabric.seat(peer).parker().was_parked()) std::this_thread::yield();
    }
    where = "operator \"split\" (flow.cpp:12)";
    throw std::out_of_range("record 17");
  });
  ASSERT_EQ(endings.size(), 4U);
  for (const std::size_t peer : {0U, 1U, 3U}) {
    EXPECT_TRUE(endings[peer].stopped);
    EXPECT_EQ(message_of(endings[peer].error),
              "stopped: worker 2, operator \"split\" (flow.cpp:12): record 17");
  }
  EXPECT_FALSE(endings[2].stopped);
  EXPECT_EQ(endings[2].where, "operator \"split\" (flow.cpp:12)");
  EXPECT_TRUE(caught<std::out_of_range>(endings[2].error).has_value());
  ASSERT_NE(fabric.stop().reason(), nullptr);
  EXPECT_EQ(fabric.stop().reason()->exception, endings[2].error);
}

TEST(RunWorkers, APeerThatCouldRunIsStoppedAtItsNextStep) {
  Fabric fabric(2);
  const auto endings = run_workers(fabric, [](Seat& seat, std::string&) {
    if (seat.index() == 1) throw Mine{1};
    const RealClock clock;
    SeatSurroundings surroundings(seat);
    core::Worker worker(surroundings, seat.fabric().stop(), &clock, core::IdlePolicy());
    const auto task = worker.reserve();
    worker.install(task, std::make_unique<Endless>());
    while (worker.step()) worker.activation_of(task).activate();
  });
  EXPECT_TRUE(endings[0].stopped);
  EXPECT_TRUE(caught<Mine>(endings[1].error).has_value());
}

TEST(RunWorkers, SeveralThatFailAtOnceKeepTheirOwnErrors) {
  Fabric fabric(3);
  const auto endings = run_workers(
      fabric, [](Seat& seat, std::string&) { throw Mine{static_cast<int>(seat.index())}; });
  for (int i = 0; i < 3; ++i) {
    const auto mine = caught<Mine>(endings[static_cast<std::size_t>(i)].error);
    ASSERT_TRUE(mine.has_value());
    EXPECT_EQ(mine->number, i);
  }
}

TEST(RunWorkers, AStopFromOutsideEndsThemAll) {
  Fabric fabric(2);
  std::thread caller([&] { fabric.stop().request({"a caller", "enough", nullptr}); });
  const auto endings = run_workers(fabric, [](Seat& seat, std::string&) { wait_for_stop(seat); });
  caller.join();
  for (const auto& ending : endings) {
    EXPECT_TRUE(ending.stopped);
    EXPECT_EQ(message_of(ending.error), "stopped: a caller: enough");
  }
}

/// While it lives, a new thread's stack would be larger than any machine's memory.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(RunWorkers, WhenTheSystemGivesNoThreadThatIsTheFirstOnesEnding) {
  const NoMoreThreads limit;
  Fabric fabric(3);
  const auto endings =
      run_workers(fabric, [](Seat&, std::string&) { ADD_FAILURE() << "it got a thread"; });
  EXPECT_TRUE(caught<std::system_error>(endings[0].error).has_value());
  EXPECT_FALSE(endings[0].stopped);
  EXPECT_TRUE(endings[1].stopped);
  EXPECT_TRUE(endings[2].stopped);
  EXPECT_EQ(message_of(endings[2].error).substr(0, 35), "stopped: worker 0: no thread for it");
}

TEST(RunWorkers, WhenTheSystemGivesNoMoreThreadsThoseThatRunAreStopped) {
  constexpr std::size_t kWorkers = 200;
  std::optional<NoMoreThreads> limit;
  Fabric fabric(kWorkers);
  Atomic<std::size_t> running{0};
  const auto endings = run_workers(fabric, [&](Seat& seat, std::string&) {
    if (seat.index() == 0) limit.emplace();
    // It is as good if all got one before that.
    if (running.fetch_add_relaxed(1) + 1 == kWorkers) fabric.stop().request({"", "", nullptr});
    wait_for_stop(seat);
  });
  std::size_t refused = 0;
  for (const auto& ending : endings) {
    ASSERT_NE(ending.error, nullptr);
    if (!ending.stopped) ++refused;
  }
  EXPECT_EQ(refused, running.load_relaxed() < kWorkers ? 1U : 0U);
}

TEST(MessageOf, IsWhatTheExceptionSays) {
  EXPECT_EQ(message_of(std::make_exception_ptr(std::runtime_error("it broke"))), "it broke");
  EXPECT_EQ(message_of(std::make_exception_ptr(42)), "an exception of unknown type");
}

}  // namespace
}  // namespace leat::comm
