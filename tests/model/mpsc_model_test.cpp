// Mpsc: nodes come whole, each once, each producer's in order, and are the consumer's once popped.
#include <leat/base/plain.hpp>
#include <leat/base/spin_pause.hpp>
#include <leat/queue/mpsc.hpp>

#include "twins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace leat::queue {
namespace {

struct Node : MpscNode {
  Plain<int> producer{-1};
  Plain<int> number{-1};
};

template <int kProducers, int kNodesEach>
void produce_and_consume(model::Run& run) {
  struct State {
    Mpsc<Node> queue;
  };
  auto state = std::make_shared<State>();
  for (int producer = 0; producer < kProducers; ++producer) {
    run.thread([=] {
      for (int i = 0; i < kNodesEach; ++i) {
        auto node = std::make_unique<Node>();
        node->producer.set(producer);
        node->number.set(i);
        state->queue.push(node.release());
      }
    });
  }
  run.thread([=] {
    std::array<int, kProducers> expected{};
    for (int left = kProducers * kNodesEach; left > 0;) {
      const std::unique_ptr<Node> node(state->queue.pop());  // a late touch by a producer fails
      if (node == nullptr) {
        spin_pause();
        continue;
      }
      const int producer = node->producer.read();
      model::require(node->number.read() == expected[static_cast<std::size_t>(producer)]++,
                     "in the producer's order");
      --left;
    }
    model::require(state->queue.pop() == nullptr, "nothing is left");
    model::require(state->queue.was_empty(), "and the queue knows");
  });
  run.join();
}

TEST(MpscModel, OneProducersNodesComeWholeAndInOrder) {
  model::expect_holds(produce_and_consume<1, 3>, {.preemptions = 3});
}

TEST(MpscModel, TwoProducersNodesComeWholeAndInOrder) {
  model::expect_holds(produce_and_consume<2, 1>, {.preemptions = 3});
  model::expect_holds(produce_and_consume<2, 2>, {.preemptions = 1});
}

TEST(MpscModel, NeedsLinkAndHandoff) {
  model::expect_needs_edges(produce_and_consume<2, 1>, {"link/acquire", "link/release"},
                            model::kUnbuilt);
  model::expect_needs_edges(produce_and_consume<2, 1>, {"handoff/acquire", "handoff/release"},
                            model::kUnbuilt, {.preemptions = 3});
}

}  // namespace
}  // namespace leat::queue
