// Barrier and Sequencer.
#include <leat/dataflow/synchronization/barrier.hpp>
#include <leat/dataflow/synchronization/sequencer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/rng.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/test_world.hpp>

namespace leat::dataflow {
namespace {

using test::World;

// --- Barrier

TEST(Barrier, NoWorkerPassesARoundBeforeAllHaveComeToIt) {
  World world(3);
  std::vector<Barrier> barriers;
  for (std::size_t i = 0; i < 3; ++i) barriers.emplace_back(world[i]);
  world.steps();
  for (auto& barrier : barriers) EXPECT_TRUE(barrier.reached());
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::size_t last = 0; last < 3; ++last) {
      barriers[(round + last) % 3].advance();
      world.steps();
      for (auto& barrier : barriers) {
        EXPECT_EQ(barrier.reached(), last == 2 || barrier.round() < round);
      }
    }
  }
  barriers.clear();
  EXPECT_TRUE(world.ends());
}

TEST(Barrier, HoldsOnThreads) {
  constexpr int kRounds = 200;
  for (std::size_t workers = 1; workers <= 3; ++workers) {
    std::atomic<std::size_t> arrived{0};
    std::atomic<int> wrong{0};
    core::Config config;
    config.workers = workers;
    execute(config, [&](Worker& worker) {
      Barrier barrier(worker);
      for (std::size_t round = 1; round <= kRounds; ++round) {
        ++arrived;
        barrier.wait();
        if (arrived.load() < round * workers) ++wrong;
      }
    }).rethrow();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(arrived.load(), kRounds * workers);
  }
}

// --- Sequencer

using Word = std::string;

std::vector<Word> take(Sequencer<Word>& sequencer) {
  std::vector<Word> taken;
  while (auto element = sequencer.next()) taken.push_back(std::move(*element));
  return taken;
}

TEST(Sequencer, GivesAllWorkersAllElementsInOneOrder) {
  constexpr std::size_t kWorkers = 3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    World world(kWorkers);
    std::vector<std::unique_ptr<Sequencer<Word>>> sequencers;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      sequencers.push_back(std::make_unique<Sequencer<Word>>(world[i]));
    }
    std::vector<std::vector<Word>> order(kWorkers);
    std::vector<int> pushed(kWorkers, 0);
    for (int i = 0; i < 200; ++i) {
      const auto at = static_cast<std::size_t>(rng.below(kWorkers));
      if (rng.below(3) == 0) {
        sequencers[at]->push(std::to_string(at) + ":" + std::to_string(pushed[at]++));
      }
      world[at].step();
      if (rng.below(2) == 0) {
        for (auto& word : take(*sequencers[at])) order[at].push_back(std::move(word));
      }
    }
    world.steps();
    for (std::size_t i = 0; i < kWorkers; ++i) {
      for (auto& word : take(*sequencers[i])) order[i].push_back(std::move(word));
      EXPECT_EQ(order[i], order[0]) << "seed " << seed;
    }
    // Each worker's own are in the order of pushing, and none is missing.
    std::vector<int> next(kWorkers, 0);
    for (const auto& word : order[0]) {
      const auto from = static_cast<std::size_t>(word[0] - '0');
      EXPECT_EQ(word.substr(2), std::to_string(next[from]++));
    }
    EXPECT_EQ(next, pushed);
    sequencers.clear();
    EXPECT_TRUE(world.ends());
  }
}

TEST(Sequencer, WhatIsPushedAfterAnElementWasTakenComesAfterIt) {
  World world(2);
  Sequencer<Word> a(world[0]);
  Sequencer<Word> b(world[1]);
  for (int i = 0; i < 5; ++i) a.push("early");
  world.steps();
  EXPECT_EQ(take(a).size(), 5u);
  a.push("answer");
  world.steps();
  auto seen = take(b);
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen.back(), "answer");
  b.push("answer to that");
  world.steps();
  EXPECT_EQ(take(a), (std::vector<Word>{"answer", "answer to that"}));
}

TEST(Sequencer, AWorkerThatPushesNothingHoldsNobodyUpAndNothingRunsThen) {
  World world(3);
  std::vector<std::unique_ptr<Sequencer<Word>>> sequencers;
  for (std::size_t i = 0; i < 3; ++i) {
    sequencers.push_back(std::make_unique<Sequencer<Word>>(world[i]));
  }
  for (int i = 0; i < 10; ++i) {
    sequencers[1]->push(std::to_string(i));
    world.steps();
  }
  EXPECT_EQ(take(*sequencers[0]).size(), 10u);
  EXPECT_EQ(take(*sequencers[2]).size(), 10u);
  const auto before = world[0].counters();
  world.steps();
  const auto after = world[0].counters();
  EXPECT_EQ(after.batches, before.batches);
  EXPECT_EQ(after.notices, before.notices);
  EXPECT_EQ(after.batches_read, before.batches_read);
}

TEST(Sequencer, ThatEndedOnOneWorkerGoesOnOnTheOthers) {
  World world(2);
  std::optional<Sequencer<Word>> a(std::in_place, world[0]);
  Sequencer<Word> b(world[1]);
  a->push("last words");
  a.reset();
  b.push("still here");
  world.steps();
  EXPECT_EQ(take(b), (std::vector<Word>{"last words", "still here"}));
  b.push("alone");
  world.steps();
  EXPECT_EQ(take(b), (std::vector<Word>{"alone"}));
  {
    const Sequencer<Word> ended = std::move(b);
  }
  EXPECT_TRUE(world.ends());
}

TEST(Sequencer, WorksOnThreadsThatSleep) {
  constexpr std::size_t kWorkers = 3;
  constexpr int kEach = 50;
  core::Config config;
  config.workers = kWorkers;
  auto outcome = execute(config, [&](Worker& worker) {
    Sequencer<Word> sequencer(worker);
    std::vector<Word> order;
    for (int i = 0; i < kEach; ++i) {
      sequencer.push(std::to_string(worker.index()) + ":" + std::to_string(i));
      worker.step();
    }
    while (order.size() < kWorkers * kEach) {
      worker.step_or_park();
      while (auto element = sequencer.next()) order.push_back(std::move(*element));
    }
    return order;
  });
  outcome.rethrow();
  for (std::size_t i = 1; i < kWorkers; ++i) EXPECT_EQ(outcome.value(i), outcome.value(0));
}

}  // namespace
}  // namespace leat::dataflow
