// A worker of a running dataflow fails: before it built the dataflow, after it, or inside an operator,
// with records on a loop and on their way between workers. Its exception must arrive as it is, everybody
// else must stop, and nobody may hang, whatever the threads were doing at that moment.
#include <leat/base/hash.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/execute.hpp>
#include <leat/dataflow/input.hpp>
#include <leat/dataflow/operators/feedback.hpp>
#include <leat/dataflow/operators/map.hpp>
#include <leat/dataflow/operators/merge.hpp>
#include <leat/dataflow/operators/routing.hpp>
#include <leat/dataflow/probe.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace leat::stress {
namespace {

constexpr std::size_t kWorkers = 3;
constexpr std::uint64_t kEpochs = 20;
constexpr std::uint64_t kHops = 6;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

struct Failure {
  std::uint64_t number;
};

core::Config config(core::ProgressMode mode = core::ProgressMode::demand) {
  core::Config config;
  config.workers = kWorkers;
  config.progress_mode = mode;
  return config;
}

/// Each record goes round a loop, from worker to worker; the one with number `fatal` breaks whoever has it.
class Program {
 public:
  Program(dataflow::Worker& worker, std::uint64_t fatal) : worker_(worker) {
    worker.dataflow([&](auto& scope) {
      auto [handle, cycle] = dataflow::feedback<std::uint64_t>(scope, 1);
      const auto route = [](std::uint64_t number) { return mix64(number); };
      const auto hop = [fatal](std::uint64_t number) {
        if (number == fatal) throw Failure{number};
        return number + 1;
      };
      const auto stays = [](std::uint64_t number) { return number % 16 < kHops; };
      scope.input(input_) | dataflow::concat(cycle) | dataflow::exchange(route) |
          dataflow::map(hop) | dataflow::probe(probe_) | dataflow::filter(stays) |
          dataflow::connect_loop(std::move(handle));
    });
  }

  /// Sends record 16 * epoch + 0 and waits until the epoch is over.
  void run() {
    for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
      if (epoch % kWorkers == worker_.index()) input_.send(16 * epoch);
      input_.advance_to(epoch + 1);
      worker_.step_or_park_while([&] { return probe_.less_than(epoch + 1); });
    }
  }

 private:
  dataflow::Worker& worker_;
  dataflow::Input<std::uint64_t> input_;
  dataflow::Probe<> probe_;
};

std::optional<std::uint64_t> failure(const comm::Ending& ending) {
  if (!ending.error) return std::nullopt;
  try {
    std::rethrow_exception(ending.error);
  } catch (const Failure& failure) {
    return failure.number;
  } catch (...) {
    return std::nullopt;
  }
}

template <class Outcome>
void expect_one_failed(const Outcome& outcome, std::uint64_t number) {
  int failed = 0;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    const auto& ending = outcome.ending(i);
    if (failure(ending) == number) {
      EXPECT_FALSE(ending.stopped);
      ++failed;
    } else {
      ASSERT_NE(ending.error, nullptr) << "worker " << i << " returned";
      EXPECT_TRUE(ending.stopped) << "worker " << i << ": " << comm::message_of(ending.error);
    }
  }
  EXPECT_EQ(failed, 1);
}

TEST(FailureStress, WithoutAFailureEverybodyReturns) {
  for (const auto mode : {core::ProgressMode::eager, core::ProgressMode::demand}) {
    const auto outcome =
        dataflow::execute(config(mode), [](dataflow::Worker& w) { Program(w, kNever).run(); });
    EXPECT_TRUE(outcome.ok());
  }
}

TEST(FailureStress, AnOperatorThatThrowsEndsTheRunAtWhateverRecord) {
  for (std::uint64_t round = 0; round < 60; ++round) {
    const std::uint64_t fatal = 16 * (round % kEpochs) + round % kHops;
    const auto mode = round % 2 == 0 ? core::ProgressMode::eager : core::ProgressMode::demand;
    const auto outcome =
        dataflow::execute(config(mode), [&](dataflow::Worker& w) { Program(w, fatal).run(); });
    expect_one_failed(outcome, fatal);
    for (std::size_t i = 0; i < kWorkers; ++i) {
      if (outcome.ending(i).stopped) continue;
      EXPECT_NE(outcome.ending(i).where.find("\"map\""), std::string::npos)
          << outcome.ending(i).where;
    }
  }
}

TEST(FailureStress, AWorkerThatFailsBeforeItsDataflowDoes) {
  for (std::uint64_t round = 0; round < 60; ++round) {
    const std::size_t victim = round % kWorkers;
    const bool builds_first = round % 2 == 0;
    const auto outcome = dataflow::execute(config(), [&](dataflow::Worker& worker) {
      if (worker.index() == victim && !builds_first) throw Failure{round};
      Program program(worker, kNever);
      if (worker.index() == victim) throw Failure{round};
      program.run();
    });
    expect_one_failed(outcome, round);
    EXPECT_EQ(failure(outcome.ending(victim)), round);
  }
}

TEST(FailureStress, AWorkerThatFailsWhileItBuilds) {
  for (std::uint64_t round = 0; round < 30; ++round) {
    const std::size_t victim = round % kWorkers;
    const auto outcome = dataflow::execute(config(), [&](dataflow::Worker& worker) {
      if (worker.index() != victim) return Program(worker, kNever).run();
      worker.dataflow([&](auto& scope) {
        dataflow::Input<std::uint64_t> input;
        auto stream = scope.input(input);
        throw Failure{round};
      });
    });
    expect_one_failed(outcome, round);
  }
}

// Whoever waits for a dataflow that a peer never built must not wait for ever.
TEST(FailureStress, AWorkerThatLeavesWithoutBuildingIsAnErrorOfItsPeers) {
  for (std::uint64_t round = 0; round < 30; ++round) {
    const std::size_t idle = round % kWorkers;
    const auto outcome = dataflow::execute(config(), [&](dataflow::Worker& worker) {
      if (worker.index() != idle) Program(worker, kNever).run();
    });
    EXPECT_EQ(outcome.ending(idle).error, nullptr);
    int refused = 0;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      if (i == idle) continue;
      const auto& ending = outcome.ending(i);
      ASSERT_NE(ending.error, nullptr);
      if (ending.stopped) continue;
      ++refused;
      EXPECT_THROW(std::rethrow_exception(ending.error), UsageError);
      EXPECT_NE(comm::message_of(ending.error).find("a peer that left without building it"),
                std::string::npos)
          << comm::message_of(ending.error);
    }
    EXPECT_GE(refused, 1);
  }
}

}  // namespace
}  // namespace leat::stress
