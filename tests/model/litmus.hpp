// What      What the litmus tests of this folder are written in: orders as values, a world of three
//           words, and the set of outcomes of a few threads over it.
#pragma once

#include <leat/base/model/explore.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/atomic.hpp>

namespace leat::litmus {

struct edge : Edge {};  // every synchronising pair here

enum class Order { relaxed, ordered, seq_cst };  // ordered: acquire for loads, release for stores
inline constexpr Order rlx = Order::relaxed;
inline constexpr Order acq = Order::ordered;
inline constexpr Order rel = Order::ordered;
inline constexpr Order sc = Order::seq_cst;

inline int get(const Atomic<int>& word, Order order) {
  switch (order) {
    case Order::relaxed:
      return word.load_relaxed();
    case Order::ordered:
      return word.load_acquire(edge{});
    case Order::seq_cst:
      return word.load_seq_cst(edge{});
  }
  return -1;
}

inline void put(Atomic<int>& word, int value, Order order) {
  switch (order) {
    case Order::relaxed:
      return word.store_relaxed(value);
    case Order::ordered:
      return word.store_release(value, edge{});
    case Order::seq_cst:
      return word.store_seq_cst(value, edge{});
  }
}

inline int add(Atomic<int>& word, int n, Order order) {
  switch (order) {
    case Order::relaxed:
      return word.fetch_add_relaxed(n);
    case Order::ordered:
      return word.fetch_add_acq_rel(n, edge{}, edge{});
    case Order::seq_cst:
      return word.fetch_add_seq_cst(n, edge{}, edge{});
  }
  return -1;
}

// Two words, zero at first, and what the threads saw.
struct World {
  Atomic<int> x{0};
  Atomic<int> y{0};
  Atomic<int> z{0};
  int r1 = 0;
  int r2 = 0;
  int r3 = 0;
  int r4 = 0;
};

using Body = std::function<void(World&)>;
using Outcomes = std::set<std::string>;

struct Found {
  Outcomes outcomes;
  std::uint64_t executions = 0;
};

inline Found outcomes(const std::vector<Body>& threads,
                      const std::function<std::string(World&)>& show, int promises = 0) {
  const model::Options options{.preemptions = model::kUnbounded, .promises = promises};
  const model::Result result = model::explore(options, [&](model::Run& run) {
    auto world = std::make_shared<World>();
    for (const Body& body : threads) run.thread([=] { body(*world); });
    run.join();
    run.outcome(show(*world));
  });
  EXPECT_TRUE(result.ok) << result.failure;
  EXPECT_TRUE(result.complete);
  Found found{{}, result.executions};
  for (const auto& [outcome, count] : result.outcomes) found.outcomes.insert(outcome);
  return found;
}

inline std::string digits(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += std::to_string(value);
  return text;
}

inline Outcomes without(Outcomes all, const Outcomes& gone) {
  for (const std::string& each : gone) all.erase(each);
  return all;
}

}  // namespace leat::litmus
