#include <leat/core/log_registry.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace leat::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What an action saw, call by call.
struct Call {
  Nanos bound;
  std::vector<std::pair<Nanos, int>> events;
  friend bool operator==(const Call&, const Call&) = default;
};

class LogRegistryTest : public ::testing::Test {
 protected:
  static LogAction<int> record_into(std::vector<Call>& calls) {
    return [&calls](Nanos bound, LogBatch<int>& batch) {
      Call call{bound, {}};
      for (const Logged<int>& logged : batch) call.events.emplace_back(logged.time, logged.event);
      calls.push_back(std::move(call));
    };
  }

  SettableClock clock_{seconds(100)};
  std::vector<Call> calls_;  // before the registry, whose end delivers what is buffered
  LogRegistry registry_{clock_};
};

TEST_F(LogRegistryTest, AnswersNothingForAnAbsentNameOrAnotherType) {
  registry_.insert<int>("numbers", record_into(calls_));
  EXPECT_FALSE(registry_.get<int>("absent"));
  EXPECT_FALSE(registry_.get<std::string>("numbers"));
  EXPECT_TRUE(registry_.get<int>("numbers"));
}

TEST_F(LogRegistryTest, IsEmptyWhileNoNameIsBound) {
  EXPECT_TRUE(registry_.empty());
  registry_.insert<int>("numbers", record_into(calls_));
  EXPECT_FALSE(registry_.empty());
  registry_.remove("numbers");
  EXPECT_TRUE(registry_.empty());
}

TEST_F(LogRegistryTest, AnAbsentLoggerTakesEverythingAndDoesNothing) {
  const Logger<int> nobody;
  nobody.log(1);
  nobody.log_many(std::vector<int>{1, 2});
  nobody.flush();
  EXPECT_FALSE(nobody);
}

TEST_F(LogRegistryTest, BuffersUntilAFlushThatEndsWithAHeartbeat) {
  registry_.insert<int>("numbers", record_into(calls_));
  const Logger<int> logger = registry_.get<int>("numbers");
  logger.log(1);
  clock_.advance(milliseconds(2));
  logger.log(2);
  EXPECT_TRUE(calls_.empty());
  clock_.advance(milliseconds(3));
  registry_.flush();
  const std::vector<Call> expected = {
      {milliseconds(5), {{milliseconds(0), 1}, {milliseconds(2), 2}}},
      {milliseconds(5), {}},
  };
  EXPECT_EQ(calls_, expected);
}

TEST_F(LogRegistryTest, AFlushOfNothingIsAHeartbeatWithALaterBound) {
  registry_.insert<int>("numbers", record_into(calls_));
  registry_.flush();
  clock_.advance(milliseconds(7));
  registry_.get<int>("numbers").flush();
  EXPECT_EQ(calls_, (std::vector<Call>{{milliseconds(0), {}}, {milliseconds(7), {}}}));
}

TEST_F(LogRegistryTest, LogManyStampsAllEventsAlike) {
  // A clock that moves at every look shows how often it is read.
  class TickingClock final : public Clock {
   public:
    Nanos now() const noexcept override { return Nanos{++ticks_}; }

   private:
    mutable std::int64_t ticks_ = 0;
  };
  const TickingClock ticking;
  LogRegistry registry(ticking, Nanos{0});
  registry.insert<int>("numbers", record_into(calls_));
  const Logger<int> logger = registry.get<int>("numbers");
  logger.log_many(std::vector<int>(5000, 1));
  logger.log(2);
  logger.flush();
  std::vector<std::pair<Nanos, int>> all;
  for (const Call& call : calls_) all.insert(all.end(), call.events.begin(), call.events.end());
  ASSERT_EQ(all.size(), 5001U);
  for (std::size_t i = 0; i < 5000; ++i) ASSERT_EQ(all[i], (std::pair{Nanos{1}, 1}));
  EXPECT_EQ(all[5000], (std::pair{Nanos{2}, 2}));
}

TEST_F(LogRegistryTest, DeliversAFullBufferWithoutAFlush) {
  registry_.insert<int>("numbers", record_into(calls_));
  const Logger<int> logger = registry_.get<int>("numbers");
  for (int i = 0; i < 10000; ++i) {
    logger.log(i);
    clock_.advance(Nanos{1});
  }
  ASSERT_FALSE(calls_.empty());
  Nanos bound{0};
  int next = 0;
  for (const Call& call : calls_) {
    for (const auto& [time, event] : call.events) {
      EXPECT_GE(time, bound);
      EXPECT_EQ(event, next++);
    }
    EXPECT_GE(call.bound, bound);
    bound = call.bound;
  }
}

TEST_F(LogRegistryTest, BindingANameAnewReturnsWhatStoodThere) {
  std::vector<Call> later;
  EXPECT_FALSE(registry_.insert<int>("numbers", record_into(calls_)));
  const LogBinding old = registry_.insert<int>("numbers", record_into(later));
  ASSERT_TRUE(old);
  EXPECT_FALSE(old.as<std::string>());
  old.as<int>().log(1);
  old.as<int>().flush();
  EXPECT_EQ(calls_.size(), 2U);
  EXPECT_TRUE(later.empty());
}

TEST_F(LogRegistryTest, LoggersHandedOutKeepTheirAction) {
  std::vector<Call> later;
  registry_.insert<int>("numbers", record_into(calls_));
  const Logger<int> logger = registry_.get<int>("numbers");
  registry_.insert<int>("numbers", record_into(later));
  logger.log(1);
  logger.flush();
  EXPECT_EQ(calls_.size(), 2U);
  EXPECT_TRUE(later.empty());
}

TEST_F(LogRegistryTest, TheLastHandleDeliversAndThenDestroysTheAction) {
  struct Tally {
    explicit Tally(std::vector<std::string>* out) : out_(out) {}
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;
    ~Tally() { out_->push_back("destroyed"); }
    std::vector<std::string>* out_;
  };
  std::vector<std::string> story;
  registry_.insert<int>("numbers",
                        [tally = std::make_unique<Tally>(&story)](Nanos, LogBatch<int>& batch) {
                          tally->out_->push_back("batch of " + std::to_string(batch.size()));
                        });
  Logger<int> first = registry_.get<int>("numbers");
  Logger<int> second = first;
  first.log(1);
  EXPECT_TRUE(registry_.remove("numbers"));
  first = {};
  second.log(2);
  EXPECT_TRUE(story.empty());
  second = {};
  EXPECT_EQ(story, (std::vector<std::string>{"batch of 2", "destroyed"}));
}

TEST_F(LogRegistryTest, RemovingAnAbsentNameAnswersNothing) {
  EXPECT_FALSE(registry_.remove("absent"));
}

TEST_F(LogRegistryTest, BindsALoggerThatExistsUnderAnotherName) {
  registry_.insert<int>("numbers", record_into(calls_));
  registry_.insert_logger("same", registry_.get<int>("numbers"));
  registry_.get<int>("same").log(1);
  registry_.get<int>("numbers").log(2);
  registry_.get<int>("same").flush();
  EXPECT_EQ(calls_.front().events.size(), 2U);
  EXPECT_TRUE(registry_.insert_logger("same", Logger<int>{}));
  EXPECT_FALSE(registry_.get<int>("same"));
}

TEST_F(LogRegistryTest, AnActionMayLogToItsOwnLogAndBindNames) {
  int batches = 0;
  Logger<int> self;
  registry_.insert<int>("numbers", [&](Nanos, LogBatch<int>& batch) {
    if (batch.empty()) return;
    if (++batches == 2) return;
    for (int i = 0; i < 2000; ++i) self.log(i);
    self.flush();
    registry_.insert<int>("another", [](Nanos, LogBatch<int>&) {});
  });
  self = registry_.get<int>("numbers");
  self.log(1);
  registry_.flush();
  EXPECT_EQ(batches, 1);
  EXPECT_TRUE(registry_.get<int>("another"));
  registry_.flush();
  EXPECT_EQ(batches, 2);
}

TEST_F(LogRegistryTest, AnActionMayTakeTheBatchAway) {
  LogBatch<int> taken;
  registry_.insert<int>("numbers", [&taken](Nanos, LogBatch<int>& batch) {
    if (!batch.empty()) taken = std::move(batch);
  });
  const Logger<int> logger = registry_.get<int>("numbers");
  logger.log(1);
  logger.flush();
  logger.log(2);
  logger.flush();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].event, 2);
}

TEST_F(LogRegistryTest, LogsEventsThatCannotBeCopied) {
  std::vector<int> seen;
  registry_.insert<std::unique_ptr<int>>("pointers",
                                         [&seen](Nanos, LogBatch<std::unique_ptr<int>>& batch) {
                                           for (const auto& logged : batch)
                                             seen.push_back(*logged.event);
                                         });
  registry_.get<std::unique_ptr<int>>("pointers").log(std::make_unique<int>(4));
  registry_.flush();
  EXPECT_EQ(seen, std::vector<int>{4});
}

TEST_F(LogRegistryTest, TimesOfSeveralRegistriesCountFromOneOrigin) {
  clock_.advance(seconds(2));
  LogRegistry other(clock_, seconds(100));
  other.insert<int>("numbers", record_into(calls_));
  other.flush();
  EXPECT_EQ(calls_.front().bound, seconds(2));
}

#ifndef NDEBUG
using LogRegistryDeathTest = LogRegistryTest;

TEST_F(LogRegistryDeathTest, BelongsToTheThreadThatMadeIt) {
  EXPECT_DEATH(std::thread([this] { registry_.flush(); }).join(), "used by another thread");
}
#endif

}  // namespace
}  // namespace leat::core
