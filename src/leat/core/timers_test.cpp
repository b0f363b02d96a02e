#include <leat/core/timers.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace leat::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TimersTest : public ::testing::Test {
 protected:
  Function<void()> note(int n) {
    return [this, n] { fired_.push_back(n); };
  }

  void arm_again(int n) {
    timers_.arm(seconds(100), [this, n] {
      fired_.push_back(n);
      arm_again(n);
    });
  }

  SettableClock clock_{seconds(100)};
  Timers timers_{clock_};
  std::vector<int> fired_;
};

TEST_F(TimersTest, NothingIsDueWhereNothingIsArmed) {
  EXPECT_TRUE(timers_.empty());
  EXPECT_EQ(timers_.next_deadline(), std::nullopt);
  EXPECT_EQ(timers_.time_left(), std::nullopt);
  EXPECT_EQ(timers_.fire_due(), 0U);
}

TEST_F(TimersTest, FiresAtItsDeadlineAndNotBefore) {
  timers_.arm_after(milliseconds(5), note(1));
  EXPECT_EQ(timers_.time_left(), milliseconds(5));
  clock_.advance(milliseconds(4));
  EXPECT_EQ(timers_.fire_due(), 0U);
  EXPECT_EQ(timers_.time_left(), milliseconds(1));
  clock_.advance(milliseconds(1));
  EXPECT_EQ(timers_.time_left(), milliseconds(0));
  EXPECT_EQ(timers_.fire_due(), 1U);
  EXPECT_EQ(fired_, std::vector<int>{1});
  EXPECT_TRUE(timers_.empty());
}

TEST_F(TimersTest, FiresInOrderOfDeadlinesThenOfArming) {
  timers_.arm(seconds(103), note(30));
  timers_.arm(seconds(101), note(10));
  timers_.arm(seconds(102), note(20));
  timers_.arm(seconds(101), note(11));
  timers_.arm(seconds(102), note(21));
  EXPECT_EQ(timers_.next_deadline(), seconds(101));
  clock_.advance(seconds(10));
  EXPECT_EQ(timers_.fire_due(), 5U);
  EXPECT_EQ(fired_, (std::vector<int>{10, 11, 20, 21, 30}));
}

TEST_F(TimersTest, NeverFiresWhatWasCancelled) {
  const TimerId first = timers_.arm(seconds(101), note(1));
  timers_.arm(seconds(102), note(2));
  EXPECT_TRUE(timers_.cancel(first));
  EXPECT_FALSE(timers_.cancel(first));
  EXPECT_EQ(timers_.next_deadline(), seconds(102));
  clock_.advance(seconds(10));
  timers_.fire_due();
  EXPECT_EQ(fired_, std::vector<int>{2});
}

TEST_F(TimersTest, AnIdThatWasUsedCancelsNoLaterTimer) {
  const TimerId old = timers_.arm(seconds(101), note(1));
  timers_.cancel(old);
  const TimerId recent = timers_.arm(seconds(101), note(2));
  EXPECT_NE(old, recent);
  EXPECT_FALSE(timers_.cancel(old));
  EXPECT_FALSE(timers_.cancel(TimerId{}));
  EXPECT_EQ(timers_.size(), 1U);
}

TEST_F(TimersTest, CancelDestroysTheCallback) {
  const auto owned = std::make_shared<int>(1);
  const TimerId id = timers_.arm(seconds(101), [owned] {});
  EXPECT_EQ(owned.use_count(), 2);
  timers_.cancel(id);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(TimersTest, ATimerThatArmsItselfForThePastWaitsForTheNextCall) {
  arm_again(1);
  timers_.arm(seconds(100), note(2));
  EXPECT_EQ(timers_.fire_due(), 2U);
  EXPECT_EQ(fired_, (std::vector<int>{1, 2}));
  EXPECT_EQ(timers_.fire_due(), 1U);
}

TEST_F(TimersTest, ACallbackCancelsAnotherThatIsDue) {
  TimerId second;
  timers_.arm(seconds(100), [this, &second] { EXPECT_TRUE(timers_.cancel(second)); });
  second = timers_.arm(seconds(100), note(2));
  EXPECT_EQ(timers_.fire_due(), 1U);
  EXPECT_TRUE(fired_.empty());
}

TEST_F(TimersTest, ACallbackCannotCancelItself) {
  TimerId self;
  self = timers_.arm(seconds(100), [this, &self] { EXPECT_FALSE(timers_.cancel(self)); });
  EXPECT_EQ(timers_.fire_due(), 1U);
}

TEST_F(TimersTest, AnExceptionLeavesTheOthersDue) {
  timers_.arm(seconds(100), [] { throw std::runtime_error("from a timer"); });
  timers_.arm(seconds(100), note(2));
  EXPECT_THROW(timers_.fire_due(), std::runtime_error);
  EXPECT_EQ(timers_.time_left(), milliseconds(0));
  EXPECT_EQ(timers_.fire_due(), 1U);
  EXPECT_EQ(fired_, std::vector<int>{2});
}

using TimersDeathTest = TimersTest;

TEST_F(TimersDeathTest, RefusesToFireFromACallback) {
  timers_.arm(seconds(100), [this] { timers_.fire_due(); });
  EXPECT_DEATH(timers_.fire_due(), "a timer's callback fired timers");
}

TEST_F(TimersDeathTest, RefusesATimerThatWouldDoNothing) {
  EXPECT_DEATH(timers_.arm(seconds(100), nullptr), "a timer without a callback");
}

TEST_F(TimersTest, AgreesWithASortedMapUnderRandomArmsCancelsAndTimes) {
  Rng rng(11);
  std::map<std::pair<Nanos, int>, TimerId> oracle;
  int next = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t dice = rng.below(10);
    if (dice < 5) {
      const Nanos deadline = clock_.now() + Nanos{static_cast<std::int64_t>(rng.below(50))};
      oracle[{deadline, next}] = timers_.arm(deadline, note(next));
      ++next;
    } else if (dice < 7 && !oracle.empty()) {
      const auto it =
          std::next(oracle.begin(), static_cast<std::ptrdiff_t>(rng.below(oracle.size())));
      ASSERT_TRUE(timers_.cancel(it->second));
      oracle.erase(it);
    } else {
      clock_.advance(Nanos{static_cast<std::int64_t>(rng.below(10))});
      std::vector<int> expected;
      while (!oracle.empty() && oracle.begin()->first.first <= clock_.now()) {
        expected.push_back(oracle.begin()->first.second);
        oracle.erase(oracle.begin());
      }
      fired_.clear();
      timers_.fire_due();
      ASSERT_EQ(fired_, expected);
    }
    ASSERT_EQ(timers_.size(), oracle.size());
    if (oracle.empty()) {
      ASSERT_EQ(timers_.next_deadline(), std::nullopt);
    } else {
      ASSERT_EQ(timers_.next_deadline(), oracle.begin()->first.first);
    }
  }
}

}  // namespace
}  // namespace leat::core
