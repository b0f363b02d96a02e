#include <leat/progress/port_queue.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace leat::progress {
namespace {

std::vector<PortIndex> taken(PortQueue& queue) {
  std::vector<PortIndex> ports;
  while (!queue.empty()) ports.push_back(queue.take());
  return ports;
}

TEST(PortQueue, TakesPortsInItsOrderHoweverTheyWereAdded) {
  PortQueue queue({2, 0, 3, 1});
  EXPECT_TRUE(queue.empty());
  for (const PortIndex port : {1U, 2U, 3U, 1U}) queue.add(port);
  EXPECT_EQ(taken(queue), (std::vector<PortIndex>{2, 3, 1}));
}

TEST(PortQueue, TakesWhatWasAddedBehindInTheNextPass) {
  PortQueue queue({0, 1, 2, 3});
  queue.add(1);
  queue.add(3);
  EXPECT_EQ(queue.take(), 1U);
  queue.add(0);
  queue.add(2);
  EXPECT_EQ(taken(queue), (std::vector<PortIndex>{2, 3, 0}));
  queue.add(3);
  queue.add(1);
  EXPECT_EQ(taken(queue), (std::vector<PortIndex>{1, 3}));  // each time from the beginning
}

TEST(PortQueue, FindsPortsFarApart) {
  std::vector<PortIndex> order(10'000);
  std::iota(order.rbegin(), order.rend(), 0U);
  PortQueue queue(order);
  for (const PortIndex port : {0U, 63U, 5'000U, 9'999U}) queue.add(port);
  EXPECT_EQ(queue.take(), 9'999U);
  EXPECT_EQ(queue.take(), 5'000U);
  queue.add(9'998U);
  EXPECT_EQ(taken(queue), (std::vector<PortIndex>{63, 0, 9'998}));
}

}  // namespace
}  // namespace leat::progress
