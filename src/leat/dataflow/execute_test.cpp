#include <leat/dataflow/execute.hpp>

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/atomic.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::place;
using test::says;
using test::usage_error;

using Time = std::uint64_t;
using Ints = std::vector<int>;

core::Config with_workers(std::size_t workers) {
  core::Config config;
  config.workers = workers;
  return config;
}

// What a program that ends with `run()`'s exit code prints.
struct Printed {
  int exit_code = 0;
  std::string out;
  std::string err;
};
template <class Run>
Printed printed(Run run) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Printed result;
  result.exit_code = run();
  result.out = ::testing::internal::GetCapturedStdout();
  result.err = ::testing::internal::GetCapturedStderr();
  return result;
}

// --- what comes back

TEST(Execute, ReturnsEachWorkersValue) {
  for (std::size_t workers = 1; workers <= 3; ++workers) {
    auto outcome = execute(with_workers(workers), [](Worker& worker) {
      return std::pair(worker.index(), worker.peers());
    });
    ASSERT_TRUE(outcome.ok());
    ASSERT_EQ(outcome.workers(), workers);
    for (std::size_t index = 0; index < workers; ++index) {
      EXPECT_EQ(outcome.value(index), std::pair(index, workers));
      EXPECT_EQ(outcome.ending(index).error, nullptr);
    }
    EXPECT_EQ(outcome.exit_code(), 0);
    outcome.rethrow();
  }
}

TEST(Execute, TakesFunctionsThatReturnNothingOrWhatCannotBeCopied) {
  const auto nothing = execute(with_workers(2), [](Worker&) {});
  EXPECT_TRUE(nothing.ok());
  auto owned = execute(with_workers(2), [](Worker& worker) {
    return std::make_unique<std::size_t>(worker.index());
  });
  EXPECT_EQ(*owned.value(1), 1u);
  auto flags = execute(with_workers(2), [](Worker& worker) { return worker.index() == 1; });
  EXPECT_FALSE(flags.value(0));
  EXPECT_TRUE(flags.value(1));
}

TEST(Execute, StepsUntilAllDataflowsEnded) {
  for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
    Atomic<std::uint64_t> sum{0};
    core::Config config = with_workers(3);
    config.progress_mode = mode;
    const auto outcome = execute(config, [&](Worker& worker) {
      worker.dataflow([&](auto& scope) {
        to_stream(scope, std::views::iota(0, 1000)) | exchange(hash) | count() |
            inspect([&](std::size_t n) { sum.fetch_add_relaxed(n); });
      });
    });
    EXPECT_EQ(outcome.exit_code(), 0);
    EXPECT_EQ(sum.load_relaxed(), 3000u);
  }
}

TEST(Execute, RunsWorkersOnThreadsThatHaveNames) {
  auto outcome = execute(with_workers(2), [](Worker&) {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    return std::string(name);
  });
  EXPECT_EQ(outcome.value(0), "leat:work-0");
  EXPECT_EQ(outcome.value(1), "leat:work-1");
}

TEST(Execute, BringsParametersToTheWorkers) {
  core::Config config = with_workers(2);
  config.set("limit", 42);
  auto outcome = execute(config, [](Worker& worker) {
    const int* const limit = worker.config().get<int>("limit");
    return limit == nullptr ? 0 : *limit;
  });
  EXPECT_EQ(outcome.value(0), 42);
  EXPECT_EQ(outcome.value(1), 42);
}

TEST(Execute, AWorkerThatSleepsSeesRecordsOfAnEpochThatGoesOn) {
  for (const bool as_batch : {false, true}) {
    Atomic<std::uint64_t> got{0};
    core::Config config = with_workers(2);
    config.idle_spin = Nanos{0};  // worker 1 has nothing to do and sleeps
    const auto outcome = execute(config, [&](Worker& worker) {
      Input<int> input;
      worker.dataflow([&](auto& scope) {
        scope.input(input) | exchange([](int) { return 1; }) |
            inspect([&](int) { got.fetch_add_relaxed(1); });
      });
      if (worker.index() == 1) return;
      for (std::uint64_t round = 1; round <= 20; ++round) {
        if (as_batch) {
          input.send_batch({1});
        } else {
          input.send(1);
          input.flush();
        }
        worker.step_while([&] { return got.load_relaxed() < round; });
        EXPECT_EQ(input.time(), 0u);
      }
    });
    EXPECT_EQ(outcome.exit_code(), 0);
    EXPECT_EQ(got.load_relaxed(), 20u);
  }
}

// --- failures

struct OutOfLuck : std::runtime_error {
  int code;
  explicit OutOfLuck(int c) : std::runtime_error("out of luck"), code(c) {}
};

// The code of the `OutOfLuck` that a worker ended with.
int code_of(const comm::Ending& ending) {
  try {
    std::rethrow_exception(ending.error);
  } catch (const OutOfLuck& error) {
    return error.code;
  } catch (...) {
    return -1;
  }
}

TEST(Execute, AnExceptionOfAWorkerArrivesAsItIsAndStopsTheOthers) {
  const auto outcome = execute(with_workers(3), [](Worker& worker) {
    Input<int> input;
    Probe<> probed;
    worker.dataflow([&](auto& scope) { scope.input(input) | exchange(hash) | probe(probed); });
    if (worker.index() == 1) throw OutOfLuck(7);
    worker.step_or_park_while([&] { return probed.less_than(1); });  // never: worker 1 is gone
  });
  EXPECT_FALSE(outcome.ok());
  ASSERT_NE(outcome.ending(1).error, nullptr);
  EXPECT_EQ(code_of(outcome.ending(1)), 7);
  EXPECT_FALSE(outcome.ending(1).stopped);
  EXPECT_EQ(outcome.ending(1).where, "");
  for (const std::size_t index : {0u, 2u}) {
    EXPECT_TRUE(outcome.ending(index).stopped);
    EXPECT_TRUE(says(comm::message_of(outcome.ending(index).error),
                     {"stopped", "worker 1", "out of luck"}));
  }
  EXPECT_THROW(outcome.rethrow(), OutOfLuck);
  const auto result = printed([&] { return outcome.exit_code(); });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "worker 1: out of luck\n");
  EXPECT_EQ(result.out, "");
}

TEST(Execute, AnExceptionOfAnOperatorSaysWhoseCodeItCameFrom) {
  int line = 0;
  const auto outcome = execute(with_workers(2), [&](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      if (worker.index() == 0) line = __LINE__ + 1;
      auto fails = inspect([](int x) { x == 3 ? throw OutOfLuck(x) : void(); });
      to_stream(scope, Ints{1, 2, 3}) | exchange([](int) { return 1; }) |
          std::move(fails).named("picky");
    });
  });
  EXPECT_EQ(code_of(outcome.ending(1)), 3);
  EXPECT_EQ(outcome.ending(1).where, place("picky", line));
  EXPECT_TRUE(outcome.ending(0).stopped);
  const auto result = printed([&] { return outcome.exit_code(); });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "worker 1, " + place("picky", line) + ": out of luck\n");
}

TEST(Execute, AnExceptionInsideAScopeNamesTheInnermostOperator) {
  int line = 0;
  const auto outcome = execute(with_workers(1), [&](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      scope.region("outer", [&](auto& outer) {
        outer.region("inner", [&](auto& inner) {
          line = __LINE__ + 1;
          auto fails = inspect([](int) { throw 17; });
          to_stream(inner, Ints{1}) | std::move(fails);
        });
      });
    });
  });
  EXPECT_EQ(outcome.ending(0).where, place("inspect", line));
  const auto result = printed([&] { return outcome.exit_code(); });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(says(result.err, {"worker 0, ", "exception of unknown type"}));
}

TEST(Execute, MisuseInAnOperatorFailsItsWorkerWithTheOperatorsName) {
  int line = 0;
  const auto outcome = execute(with_workers(2), [&](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      const auto to_first = exchange_by([](int) { return 0; });
      const auto make = [](auto, const OperatorInfo&) {
        return [](auto& in, auto&) {
          in.for_each([](auto& message) { (void)message.delayed(message.time() - 1); });
        };
      };
      if (worker.index() == 0) line = __LINE__ + 1;
      auto fails = unary<int>(to_first, "careless", make);
      to_stream(scope, Ints{1}) | delay([](int, Time) { return Time{4}; }) | std::move(fails);
    });
  });
  EXPECT_EQ(outcome.ending(0).where, place("careless", line));
  EXPECT_TRUE(outcome.ending(1).stopped);
  EXPECT_THROW(outcome.rethrow(), UsageError);
  EXPECT_TRUE(says(comm::message_of(outcome.ending(0).error),
                   {place("careless", line), "a capability at 3", "a message at 4"}));
  const auto result = printed([&] { return outcome.exit_code(); });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.err.starts_with("worker 0: " + place("careless", line) + ": asked"))
      << result.err;  // the name once
}

TEST(Execute, NoWorkersAreRefused) {
  const auto outcome = execute(with_workers(0), [](Worker&) {});
  EXPECT_FALSE(outcome.ok());
  const auto result = printed([&] { return outcome.exit_code(); });
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(says(result.err, {"workers", "from 1", "0"}));
}

TEST(Execute, DifferentGraphsOnDifferentWorkersEndBothOfThem) {
  const auto outcome = execute(with_workers(2), [](Worker& worker) {
    worker.dataflow([&](auto& scope) {
      auto numbers = to_stream(scope, Ints{1});
      if (worker.index() == 0) {
        numbers | exchange(hash) | inspect([](int) {});
      } else {
        numbers | inspect([](int) {});
      }
    });
  });
  EXPECT_FALSE(outcome.ok());
  const auto result = printed([&] { return outcome.exit_code(); });
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(
      says(result.err, {"the same dataflow on all workers", "worker 0 built", "worker 1 built"}));
}

TEST(Execute, AWorkerThatDoesNotBuildDoesNotLeaveTheOthersWaiting) {
  const auto outcome = execute(with_workers(2), [](Worker& worker) {
    if (worker.index() == 1) return;
    worker.dataflow_named("lonely", [](auto& scope) {
      to_stream(scope, Ints{1}) | exchange(hash) | inspect([](int) {});
    });
  });
  EXPECT_TRUE(says(comm::message_of(outcome.ending(0).error),
                   {"worker 0", "\"lonely\"", "left without building it"}));
}

TEST(Execute, AnExceptionWhileBuildingEndsEverybody) {
  const auto outcome = execute(with_workers(2), [](Worker& worker) {
    Input<int> input;
    worker.dataflow([&](auto& scope) {
      scope.input(input) | exchange(hash) | inspect([](int) {});
      if (worker.index() == 0) throw OutOfLuck(1);
    });
    input.send(1);
  });
  EXPECT_EQ(code_of(outcome.ending(0)), 1);
  EXPECT_TRUE(outcome.ending(1).stopped);
}

TEST(ExecuteDeathTest, TheValueOfAWorkerThatFailedIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto outcome = execute(with_workers(1), [](Worker&) -> int { throw OutOfLuck(1); });
        (void)outcome.value(0);
      },
      "the value of a worker that failed");
}

// --- command lines

// Runs a program with these words on its command line; returns how many workers ran.
template <class F>
auto with_args(std::initializer_list<const char*> words, const F& f) {
  std::vector<const char*> argv{"program"};
  argv.insert(argv.end(), words);
  return execute_from_args(static_cast<int>(argv.size()), argv.data(), f);
}

TEST(ExecuteFromArgs, TakesTheNumberOfWorkersUnderAllItsNames) {
  const auto peers = [](Worker& worker) { return worker.peers(); };
  EXPECT_EQ(with_args({}, peers).value(0), 1u);
  EXPECT_EQ(with_args({"-w", "2"}, peers).value(0), 2u);
  EXPECT_EQ(with_args({"-w3"}, peers).value(0), 3u);
  EXPECT_EQ(with_args({"--workers=2"}, peers).value(0), 2u);
  EXPECT_EQ(with_args({"--threads", "2"}, peers).value(0), 2u);
  EXPECT_EQ(with_args({"words", "-w2", "of its own"}, peers).value(0), 2u);
}

TEST(ExecuteFromArgs, HandsTheProgramsOwnWordsToAFunctionThatTakesThem) {
  using Words = std::vector<std::string>;
  const auto words = [](Worker& worker, const Words& own) {
    return worker.index() == 0 ? own : Words{};
  };
  EXPECT_EQ(with_args({"words", "-w2", "of its own"}, words).value(0),
            (Words{"words", "of its own"}));
  EXPECT_EQ(with_args({}, words).value(0), Words{});
}

TEST(ExecuteFromArgs, TakesHowLongToPollAndWhenToTell) {
  auto outcome = with_args({"--idle-spin", "250", "--progress-mode", "eager"}, [](Worker& worker) {
    return std::pair(worker.config().idle_spin, worker.config().progress_mode);
  });
  EXPECT_EQ(outcome.value(0).first, std::chrono::microseconds(250));
  EXPECT_EQ(outcome.value(0).second, core::ProgressMode::eager);
}

TEST(ExecuteFromArgs, HelpGoesToStandardOutputAndNothingRuns) {
  bool ran = false;
  const auto result =
      printed([&] { return with_args({"--help"}, [&](Worker&) { ran = true; }).exit_code(); });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(says(result.out, {"--workers", "--idle-spin", "--progress-mode", "--help"}));
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(ran);
}

TEST(ExecuteFromArgs, WrongFlagsAndValuesAreNamedAndNothingRuns) {
  const auto refused = [](std::initializer_list<const char*> words,
                          std::initializer_list<std::string_view> expected) {
    bool ran = false;
    const auto result = printed([&] {
      const auto outcome = with_args(words, [&](Worker&) { ran = true; });
      EXPECT_FALSE(outcome.ok());
      EXPECT_TRUE(outcome.refusal().has_value());
      EXPECT_EQ(outcome.workers(), 0u);
      return outcome.exit_code();
    });
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(says(result.err, expected));
    EXPECT_FALSE(ran);
  };
  refused({"--wrokers", "2"}, {"unknown flag", "--wrokers"});
  refused({"-x"}, {"unknown flag", "-x"});
  refused({"-w", "none"}, {"-w", "a whole number", "none"});
  refused({"-w", "0"}, {"-w", "a whole number from 1", "0"});
  refused({"--progress-mode", "lazy"}, {"--progress-mode", "lazy"});
  refused({"-n", "2", "-p", "2"}, {"-p", "below that of processes", "2"});
  refused({"-w"}, {"-w"});
}

TEST(ExecuteFromArgs, ARefusalCanBeThrown) {
  const auto outcome = with_args({"--wrokers"}, [](Worker&) {});
  EXPECT_THROW(outcome.rethrow(), std::invalid_argument);
}

// --- without threads

TEST(ExecuteDirectly, RunsOnTheCallersThreadAndReturnsItsValue) {
  const auto self = pthread_self();
  std::size_t got = 0;
  const int value = execute_directly([&](Worker& worker) {
    EXPECT_TRUE(pthread_equal(self, pthread_self()));
    worker.dataflow(
        [&](auto& scope) { to_stream(scope, Ints{1, 2}) | inspect([&](int) { ++got; }); });
    return 5;
  });
  EXPECT_EQ(value, 5);
  EXPECT_EQ(got, 2u);
}

TEST(ExecuteDirectly, LetsExceptionsThrough) {
  EXPECT_THROW(execute_directly([](Worker&) { throw OutOfLuck(1); }), OutOfLuck);
  EXPECT_THROW(execute_directly([](Worker& worker) {
                 worker.dataflow([](auto& scope) {
                   to_stream(scope, Ints{1}) | inspect([](int) { throw OutOfLuck(2); });
                 });
               }),
               OutOfLuck);
}

TEST(Example, RunsOneDataflowToItsEnd) {
  std::vector<std::string> seen;
  example([&](auto& scope) {
    to_stream(scope, std::views::iota(0, 3)) |
        inspect([&](int x) { seen.push_back("seen: " + std::to_string(x)); });
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"seen: 0", "seen: 1", "seen: 2"}));
}

}  // namespace
}  // namespace leat::dataflow
