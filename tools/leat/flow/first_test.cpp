#include "flow/first.hpp"

#include <leat/base/hash.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <vector>

namespace leat::tool::flow {
namespace {

/// The first `count` of the hashes of 0, 1, ..., of which each worker has its share.
std::vector<std::uint64_t> first_of(std::size_t numbers, std::size_t count, std::size_t workers) {
  core::Config config;
  config.workers = workers;
  auto outcome = df::execute(config, [=](df::Worker& worker) {
    std::vector<std::uint64_t> found;
    worker.dataflow([&](Scope& scope) {
      auto mine = std::views::iota(std::uint64_t{0}, std::uint64_t{numbers}) |
                  std::views::filter([=, index = scope.index(), peers = scope.peers()](
                                         std::uint64_t i) { return i % peers == index; }) |
                  std::views::transform([](std::uint64_t i) { return mix64(i); });
      first(df::to_stream(scope, mine), "first", count, std::less<>()) |
          df::inspect([&](std::uint64_t record) { found.push_back(record); });
    });
    while (worker.step_or_park()) {
    }
    return found;
  });
  EXPECT_TRUE(outcome.ok());
  for (std::size_t worker = 1; worker < workers; ++worker) {
    EXPECT_TRUE(outcome.value(worker).empty()) << "worker " << worker;
  }
  return outcome.value(0);
}

TEST(First, IsTheSameForAnyNumberOfWorkers) {
  constexpr std::size_t kNumbers = 5000;
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < kNumbers; ++i) all.push_back(mix64(i));
  std::ranges::sort(all);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{10}, kNumbers}) {
    const std::vector<std::uint64_t> expected(all.begin(),
                                              all.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t workers = 1; workers < 4; ++workers) {
      EXPECT_EQ(first_of(kNumbers, count, workers), expected) << count << ", " << workers;
    }
  }
}

TEST(First, IsAllThatThereIsIfThatIsLess) {
  EXPECT_EQ(first_of(3, 10, 2).size(), 3U);
  EXPECT_TRUE(first_of(0, 10, 2).empty());
}

}  // namespace
}  // namespace leat::tool::flow
