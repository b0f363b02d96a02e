#include <leat/base/time/tick_clock.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace leat {
namespace {

using namespace std::chrono_literals;

/// A counter and a steady clock, bent as a test likes.
class Bent {
 public:
  explicit Bent(double ticks_per_ns) : ticks_per_ns_(ticks_per_ns) {}

  void pass(Nanos time) {
    ns_ += time.count();
    ticks_ += static_cast<double>(time.count()) * ticks_per_ns_ * (1 + drift);
  }
  [[nodiscard]] std::uint64_t ticks() const { return static_cast<std::uint64_t>(ticks_); }
  [[nodiscard]] std::int64_t ns() const { return ns_; }
  /// As it is measured: up to 50 ns beside.
  [[nodiscard]] TickSample sample() {
    return {ticks(), ns_ + static_cast<std::int64_t>(random_.next() % 101) - 50};
  }
  void leap(Nanos time) { ns_ += time.count(); }

  double drift = 0;

 private:
  double ticks_per_ns_;
  double ticks_ = 1e12;
  std::int64_t ns_ = 777;
  Rng random_{3};
};

TEST(TickLine, KeepsWithinAMillionthOfTheSteadyClock) {
  for (const double rate : {0.024, 1.0, 2.9, 5.1}) {  // GHz
    Bent clock(rate);
    const TickSample early = clock.sample();
    clock.pass(10ms);
    TickLine line = TickLine::first(early, clock.sample());
    TickSample past = early;
    Nanos last = line.time_of(clock.ticks());
    for (int second = 1; second <= 60; ++second) {
      clock.drift = second < 30 ? 0 : 20e-6;  // the steady clock is disciplined anew
      for (int i = 0; i < 10; ++i) {
        clock.pass(100ms);
        ASSERT_GE(line.time_of(clock.ticks()), last);
        last = line.time_of(clock.ticks());
      }
      line = line.refined(past, clock.sample());
      EXPECT_LE(std::abs(line.time_of(clock.ticks()).count() - last.count()), 1) << "no jump";
      if (second % 16 == 0) past = clock.sample();
      // After ten seconds: 10 s are measured to 10 us. After the drift has changed it takes a while.
      if (second > 10 && second < 30) {
        EXPECT_LE(std::abs(line.time_of(clock.ticks()).count() - clock.ns()), 300) << second;
      }
      if (second > 50) {
        EXPECT_LE(std::abs(line.time_of(clock.ticks()).count() - clock.ns()), 1000) << second;
      }
    }
  }
}

TEST(TickLine, FollowsASteadyClockThatRanAway) {
  Bent clock(2.0);
  const TickSample early = clock.sample();
  clock.pass(1s);
  TickLine line = TickLine::first(early, clock.sample());
  clock.leap(1h);
  line = line.refined(early, clock.sample());
  EXPECT_LE(std::abs(line.time_of(clock.ticks()).count() - clock.ns()), 100);
  clock.leap(-5s);
  const TickSample past = clock.sample();
  clock.pass(1s);
  const Nanos before = line.time_of(clock.ticks());
  line = line.refined(past, clock.sample());
  EXPECT_LE(std::abs(line.time_of(clock.ticks()).count() - before.count()), 1);
  clock.pass(1s);
  const Nanos waited = line.time_of(clock.ticks()) - before;
  EXPECT_GT(waited, 400ms);
  EXPECT_LT(waited, 600ms);
}

TEST(TickLine, TurnsTimeIntoTicksAndBack) {
  const TickLine line = TickLine::first({0, 0}, {2'000'000, 1'000'000});
  EXPECT_EQ(line.ticks_in(1s), 2'000'000'000U);
  EXPECT_EQ(line.time_of(4'000'000), Nanos(2'000'000));
  EXPECT_EQ(line.time_of(0), Nanos(0));
}

class TickClockTest : public testing::Test {
 protected:
  TickClockTest() {
    std::string pattern = "/dev/shm/leat-test-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  ~TickClockTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

TEST_F(TickClockTest, NeverGoesBack) {
  const TickClock ticks(folder / "clock");
  const Clock& clock = ticks;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      Nanos last = clock.now();
      for (int n = 0; n < 100'000; ++n) {
        const Nanos now = clock.now();
        ASSERT_GE(now, last);
        last = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TickClockTest, HasOneLineInAllProcesses) {
  const TickClock clock(folder / "clock");
  if (!clock.uses_ticks()) GTEST_SKIP() << "the processor's counter is no clock here";
  EXPECT_TRUE(clock.is_shared());
  const pid_t child = ::fork();
  if (child == 0) {
    const TickClock other(folder / "clock");
    ::_exit(other.is_shared() && !clock.is_shared() && other.line() == clock.line() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(TickClockTest, GoesOnAloneWhereNoFileCanBe) {
  const TickClock clock(std::filesystem::path("/proc/nowhere/clock"));
  EXPECT_FALSE(clock.is_shared());
  EXPECT_GE(clock.now(), clock.now() - 1s);
}

TEST_F(TickClockTest, RedrawsALineWhoseWriterDied) {
  const TickClock clock(folder / "clock");
  if (!clock.uses_ticks()) GTEST_SKIP() << "the processor's counter is no clock here";
  std::vector<std::string> unread;
  auto file = *os::SharedFile::open(folder / "clock", os::Access::read_write);
  ASSERT_TRUE(file);
  auto* const page = reinterpret_cast<internal::TickPage*>(file->map(4096, {}, unread)->data());
  const Nanos before = clock.now();
  page->version.store_relaxed(page->version.load_relaxed() + 1);
  EXPECT_GE(clock.now(), before);
  EXPECT_EQ(page->version.load_relaxed() % 2, 0U);
}

}  // namespace
}  // namespace leat
