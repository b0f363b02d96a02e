// Several producers push nodes that prove themselves; the consumer checks each producer's order.
#include <leat/queue/mpsc.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace leat::stress {
namespace {

struct Node : queue::MpscNode {
  Payload payload;
};

constexpr std::uint64_t kProducers = 4;
constexpr std::uint64_t kNodesEach = 20'000;

class Traffic {
 public:
  Traffic() {
    for (auto& nodes : nodes_) nodes = std::make_unique<Node[]>(kNodesEach);
  }

  void produce(std::uint64_t producer, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      Node& node = nodes_[producer][i];
      node.payload = Payload::make(producer, i);
      queue_.push(&node);
    }
  }

  /// Takes what is there; false if there was nothing.
  bool consume() {
    const Node* node = queue_.pop();
    if (node == nullptr) return false;
    EXPECT_TRUE(node->payload.is_whole());
    EXPECT_EQ(node->payload.sequence, expected_[node->payload.writer]++);
    ++total_;
    return true;
  }

  [[nodiscard]] bool done() const { return total_ == kProducers * kNodesEach; }
  [[nodiscard]] bool empty() const { return queue_.was_empty(); }

 private:
  queue::Mpsc<Node> queue_;
  std::unique_ptr<Node[]> nodes_[kProducers];
  std::uint64_t expected_[kProducers] = {};
  std::uint64_t total_ = 0;
};

TEST(MpscStress, ScaffoldOnOneThread) {
  Traffic run;
  constexpr std::uint64_t kBurst = 7;
  for (std::uint64_t from = 0; from < kNodesEach; from += kBurst) {
    for (std::uint64_t producer = 0; producer < kProducers; ++producer) {
      run.produce(producer, from, std::min(from + kBurst, kNodesEach));
    }
    while (run.consume()) {
    }
  }
  EXPECT_TRUE(run.done());
  EXPECT_TRUE(run.empty());
}

TEST(MpscStress, EachProducersNodesComeWholeAndInOrder) {
  Traffic run;
  std::vector<std::thread> producers;
  for (std::uint64_t producer = 0; producer < kProducers; ++producer) {
    producers.emplace_back([&run, producer] { run.produce(producer, 0, kNodesEach); });
  }
  while (!run.done() && !HasFailure()) {
    if (!run.consume()) std::this_thread::yield();
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_TRUE(run.empty());
  EXPECT_FALSE(run.consume());
}

}  // namespace
}  // namespace leat::stress
